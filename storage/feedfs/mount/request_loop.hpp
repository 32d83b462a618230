// Request loops of a mount that is read only: few threads that take the kernel's requests, answer what needs no waiting
// at once, and have reads of small files in flight in an io_uring; what may take long goes to workers.
//
// With a thread for each request in libfuse's way each small file costs several changes between threads; here a loop
// under load never sleeps.
//
// Thread: the one that calls runs the first loop. Owner: the session. Units: none. Errors: what the connection to the
// kernel broke with, or why the kernel refuses a ring (nothing was served then).
#pragma once

#include "storage/feedfs/mount/reply.hpp"

namespace feedbench::feedfs::mount {

struct LoopOptions {
    unsigned loops = 1, workers = 16;
};

// Whether what the loops do at once can be: no look-up that asks another host, no read that fetches from one.
bool can_be_served_by_loops(FileSystem& files);
// Until the mount is gone or the session told to exit (then with a signal to the calling thread).
Status serve_by_loops(fuse_session* session, Door& door, LoopOptions options);

} // namespace feedbench::feedfs::mount
