// NFSv3 calls with the arguments filled in: what RFC 1813 calls LOOKUP, CREATE, READ, ... Internal to storage/nfs.
//
// Thread: reactor thread. Owner: none: libnfs encodes the arguments before each returns. Units: bytes. Errors: negative
// where libnfs could not encode; the server's status: error_of().
#pragma once

#include <string>

#include "storage/nfs/libnfs.hpp"
#include "storage/nfs/mount.hpp"

namespace feedbench::storage::nfs {

struct Sender {
    rpc_context* rpc;
    rpc_cb answer;
    void* slot;

    int lookup(const Handle& folder, const std::string& name) const;
    int attributes(const Handle& file) const;
    int create(const Handle& folder, const std::string& name) const; // empties one that is there
    int read(const Handle& file, std::uint64_t offset, std::uint32_t bytes) const;
    int write(const Handle& file, std::uint64_t offset, std::byte* data, std::uint32_t bytes) const; // unstable
    int commit(const Handle& file) const;
    int truncate(const Handle& file, std::uint64_t size) const;
    int rename(const Handle& folder, const std::string& from, const std::string& to) const;
    int remove(const Handle& folder, const std::string& name) const;
};

// errno of a server's status, 0 for NFS3_OK.
int error_of(nfsstat3 status);

} // namespace feedbench::storage::nfs
