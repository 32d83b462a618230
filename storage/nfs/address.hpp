// Where an NFS server is and what was asked of it: "host[:port]/export/path?key=value&...".
//
// Thread: any. Owner: plain values. Units: bytes, ns. Errors: config_error naming the part of the URI that is wrong.
// Source: RFC 2224 (nfs: URLs); the arguments are libnfs's own (README, "URL-FORMAT"), and options of this backend.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/types/error.hpp"

namespace feedbench::storage::nfs {

struct Address {
    std::string host;                             // a name or an address; of "[::1]" what stands between the brackets
    std::uint16_t port = 0;                       // "host:port"; 0 = not said
    std::string path;                             // "/export/path": absolute, decoded, no '/' at its end; "/" itself
    std::map<std::string, std::string> arguments; // decoded
};

// `text`: what follows "nfs://".
Expected<Address> parse_address(std::string_view text);

// What a session with a server needs to know.
struct Settings {
    Address address;
    int version = 3;
    std::uint16_t nfs_port = 0, mount_port = 0; // 0: the server's portmapper is asked (v4: 2049)
    int user = -1, group = -1;                  // -1: those of this process
    unsigned connection_count = 4;
    std::uint64_t read_bytes = 0, write_bytes = 0; // the most of one request; 0: what the server prefers, up to 1 MiB
    std::uint64_t timeout_ns = 0;                  // the longest silence of the server

    std::string server_text() const; // "nfs://host:port", for messages and counters
};

} // namespace feedbench::storage::nfs
