// Finds a server's ports and the export that holds a path: what mount.nfs does, without mounting anything.
//
// Thread: reactor thread; blocks, at most for Settings::timeout_ns. Owner: plain values. Units: bytes, ns.
// Errors: storage_error in one sentence: no such host, refused, silent, no such export, not permitted, wants Kerberos.
// Source: RFC 1813 appendix I (MOUNT protocol), RFC 1833 (portmapper).
#pragma once

#include <array>
#include <string>

#include "harness/engine/clock.hpp"
#include "storage/nfs/address.hpp"

struct nfs_fh3;

namespace feedbench::storage::nfs {

// What a server calls a file or a folder.
struct Handle {
    std::array<char, 128> bytes{}; // version 3: at most 64, version 4: at most 128
    std::uint32_t size = 0;
    void assign(const nfs_fh3& handle);
    nfs_fh3 view() const; // points into this one
};

struct Mounted { // version 4: only the host, the port and `exported`, which is then the URI's whole path
    std::string numeric_host;
    std::uint16_t nfs_port = 0, mount_port = 0;
    std::string exported; // the deepest folder of the path that the server lets be mounted
    std::string below;    // the rest of the path, without '/' at its ends: it may not be there yet
    Handle root;          // of `exported`
};

// NFSv3: the path's own folder is asked for, then the one that holds it, and so on up to "/".
Expected<Mounted> mount_export(const Settings& settings, const engine::Clock& clock);

// NFSv4 has no mount protocol: this only looks whether somebody answers.
Expected<Mounted> find_service(const Settings& settings, const engine::Clock& clock);

} // namespace feedbench::storage::nfs
