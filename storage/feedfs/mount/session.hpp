// A mount from its beginning to its end.
//
// Thread: main thread; requests are served by threads of libfuse's loop. Owner: the command. Units: bytes, seconds.
// Errors: what cannot be mounted is an Error before anything is mounted: no /dev/fuse, no such folder, a volume of
// another version. Source: libfuse 3.14, fuse_lowlevel.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::feedfs::mount {

struct SessionOptions {
    std::string volume;
    std::string directory;
    bool read_only = false;
    bool sync_closes = false;
    bool verify = true;
    bool allow_other = true; // other users than the one who mounts
    double entry_timeout_s = 1, attribute_timeout_s = 1;
    unsigned threads = 16;                     // most requests served at a time, beside the loops
    unsigned loops = 1;                        // of a mount that is read only: request_loop.hpp
    std::uint64_t read_ahead_bytes = 8u << 20; // of the kernel, for files read in order
    std::vector<std::string> kernel_options;   // "nosuid", "noexec", ...: given to mount(2) as they are
    std::function<void(const std::string&)> log;
    std::function<std::int64_t()> now_ns; // wall clock
    std::function<void()> mounted;        // called once the mount is there
};

// Options as mount(8) writes them: "ro,noexec,timeout=60". Unknown ones are a usage error that lists what there is.
Status parse_mount_options(const std::string& text, SessionOptions& options);
std::string mount_options_help();

// Serves until it is unmounted or told to stop (SIGINT, SIGTERM, SIGHUP). What was closed is published when it returns.
Status run_session(const SessionOptions& options);

} // namespace feedbench::feedfs::mount
