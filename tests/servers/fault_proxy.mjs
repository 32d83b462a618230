// Goes between an S3 client and its server and breaks what it is told to: resets, short bodies, 503 storms, slow bodies, wrong ETags.
//
//   node fault_proxy.mjs UPSTREAM PORT-FILE      listens at 127.0.0.1, writes "PORT CONTROL-PORT" to PORT-FILE
//   curl -X PUT --data RULES http://127.0.0.1:CONTROL   new rules, counters at 0
//   curl http://127.0.0.1:CONTROL                what came so far: {"get": 12, "faults": 3, "most_lists_at_once": 1, ...}
//
// RULES: a JSON array; of those that fit a request, the first whose turn it is counts.
//   on:     get | put | head | list | delete | post | any     get and head of objects, put of objects and parts
//   key:    regular expression over the path and query, undecoded
//   every:  of the requests that fit, every so many-th (1: all)    after: the first so many are spared
//   times:  it breaks no more than so many
//   at_once: only while more than so many requests that fit are under way
//   do:     reset       the connection is reset before an answer
//           cut         half of the body comes, then the connection is reset; the announced length stays
//           short       half of the body comes with the announced length of the half (a proxy that is content with it)
//           status      answers `status` (503) with the S3 code `code` (SlowDown); the server does not hear of it
//           slow        the body comes in `pieces` (8) with `ms` (100) between them
//           hang        no answer for `ms`, then a reset
//           etag        the answer's ETag is that of other bytes
//           flip        one bit of the body is another
//           region      answers as a server of region `region` does to a signature for another one
//           clock       answers as a server whose clock is `seconds` ahead does to a request of now
// Bodies are held whole: this is for objects of a test's size (64 MiB at most).
import http from 'node:http'
import fs from 'node:fs'

const [upstream, portFile] = process.argv.slice(2)
const target = new URL(upstream)
const agent = new http.Agent({ keepAlive: true, maxSockets: 128 })
const kMostBytes = 64 << 20
let rules = [], counts = {}

function fresh(given) {
  rules = given.map(rule => ({ every: 1, after: 0, times: Infinity, status: 503, code: 'SlowDown', pieces: 8, ms: 100, on: 'any',
    ...rule, pattern: new RegExp(rule.key ?? ''), seen: 0, done: 0, now: 0 }))
  counts = { faults: 0, connections: 0, most_lists_at_once: 0, lists_now: 0 }
}
fresh([])

const xml = (code, extra = '') => `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code>` +
  `<Message>said by the fault proxy</Message>${extra}<RequestId>F0</RequestId></Error>`

function kindOf(request) {
  if (request.method !== 'GET') return request.method.toLowerCase()
  return /[?&](list-type|prefix|delimiter|location|uploads)\b/.test(request.url) ? 'list' : 'get'
}

// The rule whose turn it is, counting for every rule that fits.
function chosen(kind, request, leave) {
  let taken = null
  for (const rule of rules) {
    if ((rule.on !== 'any' && rule.on !== kind) || !rule.pattern.test(request.url)) continue
    rule.seen++; rule.now++
    leave.push(() => rule.now--)
    const turn = rule.seen > rule.after && (rule.seen - rule.after) % rule.every === 0 && rule.done < rule.times &&
      (rule.at_once === undefined || rule.now > rule.at_once)
    if (turn && !taken) { taken = rule; rule.done++ }
  }
  return taken
}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

async function bodyOf(stream) {
  const parts = []
  let bytes = 0
  for await (const part of stream) {
    bytes += part.length
    if (bytes > kMostBytes) throw new Error('a body is larger than the fault proxy holds')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function forward(request, body) {
  return new Promise((resolve, reject) => {
    const headers = [] // names and values in turn, as they came: they are signed
    for (let i = 0; i < request.rawHeaders.length; i += 2)
      if (!/^(connection|expect|transfer-encoding|content-length)$/i.test(request.rawHeaders[i]))
        headers.push(request.rawHeaders[i], request.rawHeaders[i + 1])
    if (body.length > 0 || /^(PUT|POST)$/.test(request.method)) headers.push('Content-Length', String(body.length))
    const onward = http.request({ host: target.hostname, port: target.port, method: request.method, path: request.url,
      headers, agent }, answer => bodyOf(answer).then(bytes => resolve({ answer, bytes }), reject))
    onward.on('error', reject)
    onward.end(body)
  })
}

async function handle(request, response, leave) {
  const kind = kindOf(request)
  counts[kind] = (counts[kind] ?? 0) + 1
  if (kind === 'list') {
    counts.most_lists_at_once = Math.max(counts.most_lists_at_once, ++counts.lists_now)
    leave.push(() => counts.lists_now--)
  }
  const rule = chosen(kind, request, leave)
  if (rule && rule.do !== 'region' && rule.do !== 'clock') counts.faults++
  const body = await bodyOf(request)
  const say = (status, text) => {
    response.writeHead(status, { 'Content-Type': 'application/xml', 'Content-Length': Buffer.byteLength(text) })
    response.end(request.method === 'HEAD' ? undefined : text)
  }
  switch (rule?.do) {
    case 'reset': return request.socket.resetAndDestroy()
    case 'hang': await pause(rule.ms); return request.socket.resetAndDestroy()
    case 'status': return say(rule.status, xml(rule.code, rule.extra))
    case 'region':
      if (!(request.headers.authorization ?? '').includes(`/${rule.region}/s3/`)) {
        counts.faults++
        return say(400, xml('AuthorizationHeaderMalformed', `<Region>${rule.region}</Region>`))
      }
      break
    case 'clock': {
      const asked = request.headers['x-amz-date'] ?? '', now = new Date(Date.now() + rule.seconds * 1000)
      const then = Date.parse(asked.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
      if (!(Math.abs(now - then) <= 900000)) {
        counts.faults++
        response.setHeader('Date', now.toUTCString())
        return say(403, xml('RequestTimeTooSkewed', `<RequestTime>${asked}</RequestTime>` +
          `<ServerTime>${now.toISOString().slice(0, 19)}Z</ServerTime><MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>`))
      }
    }
  }
  const { answer, bytes } = await forward(request, body)
  const headers = { ...answer.headers }
  delete headers.connection; delete headers['keep-alive']; delete headers['transfer-encoding']
  // Of a HEAD the server's own length stays.
  if (request.method !== 'HEAD' && answer.statusCode !== 204) headers['content-length'] = bytes.length
  if (rule?.do === 'etag') headers.etag = '"0123456789abcdef0123456789abcdef"'
  const half = bytes.subarray(0, bytes.length >> 1)
  if (rule?.do === 'short') headers['content-length'] = half.length
  response.writeHead(answer.statusCode, headers)
  if (request.method === 'HEAD') return response.end()
  if (rule?.do === 'cut') {
    response.write(half, () => setTimeout(() => request.socket.resetAndDestroy(), 20))
    return
  }
  if (rule?.do === 'slow') {
    const piece = Math.max(1, Math.ceil(bytes.length / rule.pieces))
    for (let at = 0; at < bytes.length; at += piece) {
      response.write(bytes.subarray(at, at + piece))
      await pause(rule.ms)
    }
    return response.end()
  }
  if (rule?.do === 'flip' && bytes.length > 0) bytes[bytes.length >> 1] ^= 1
  response.end(rule?.do === 'short' ? half : bytes)
}

const proxy = http.createServer({ keepAlive: true, noDelay: true }, (request, response) => {
  const leave = []
  response.on('close', () => leave.forEach(undo => undo()))
  handle(request, response, leave).catch(error => {
    console.error(`${request.method} ${request.url}: ${error.message}`)
    request.socket.destroy() // the server behind is gone, or the client is
  })
})
proxy.on('connection', () => counts.connections++)
proxy.keepAliveTimeout = 60000

const control = http.createServer((request, response) => {
  const answer = (status, value) => { response.writeHead(status); response.end(JSON.stringify(value) + '\n') }
  if (request.method === 'GET') return answer(200, counts)
  bodyOf(request).then(text => { fresh(JSON.parse(text)); answer(200, { rules: rules.length }) },
    error => answer(400, { error: error.message })).catch(error => answer(400, { error: error.message }))
})

proxy.listen(0, '127.0.0.1', () => control.listen(0, '127.0.0.1', () => {
  fs.writeFileSync(portFile + '.tmp', `${proxy.address().port} ${control.address().port}\n`)
  fs.renameSync(portFile + '.tmp', portFile)
}))
