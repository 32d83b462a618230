// Starts s3rver with the port, bucket and key pair of the environment. The package knows one fixed key pair only: it is
// revoked through a module of its inside, hence the pinned version.
const path = require('node:path')

const S3rver = require('@20minutes/s3rver')
const Account = require(path.join(path.dirname(require.resolve('@20minutes/s3rver/package.json')), 'lib/models/account.js'))
Account.DUMMY_ACCOUNT.revokeAccessKey('S3RVER')
Account.DUMMY_ACCOUNT.createKeyPair(process.env.KEY, process.env.SECRET)

// It signs the path by SigV4's rule, but its canonical query with encodeURIComponent, which leaves !'()* as they are: a listing of the
// prefix "it's/", signed as AWS documents it ("URI-encode every byte except the unreserved characters"), would be refused.
const lenient = encodeURIComponent
globalThis.encodeURIComponent = text => lenient(text).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

// Its XML escapes names twice, once by itself and once by the library that writes it: "it&amp;#x27;s".
require(require.resolve('he', { paths: [require.resolve('@20minutes/s3rver/package.json')] })).escape = text => text

new S3rver({
  address: '127.0.0.1', port: Number(process.env.PORT), silent: true, directory: process.env.DATA, vhostBuckets: false,
  configureBuckets: process.env.BUCKETS.split(' ').map(name => ({ name })),
}).run().then(() => console.log('listening'))
