// What libfuse leaves out of its answer to the kernel's first request.
//
// libfuse 3.14.0 (Debian 12) knows FUSE_CAP_PARALLEL_DIROPS and never passes it on; the kernel then has one look-up in
// a directory wait for the other.
//
// Thread: any. Owner: none. Units: none. Errors: EINVAL where libfuse takes no functions of ours. Source:
// libfuse 3.14.0, lib/fuse_lowlevel.c, do_init; Linux, include/uapi/linux/fuse.h.
#pragma once

#include "storage/feedfs/mount/reply.hpp"

namespace feedbench::feedfs::mount {

// Before the session's loop.
Status complete_init_answer(fuse_session* session);
// In the session's init operation: these FUSE_* flags are wanted, too.
void add_to_init_answer(std::uint32_t flags);

} // namespace feedbench::feedfs::mount
