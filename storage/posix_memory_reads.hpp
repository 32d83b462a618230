// Reads from memory filesystems (tmpfs), done with pread in the reactor's turns. Internal to storage/posix*.cpp.
//
// tmpfs refuses to read without waiting (no FMODE_NOWAIT, seen up to Linux 6.18), so that the ring hands every read to
// a worker thread: 20 to 40 % more CPU for what is only a memory copy.
//
// Thread: reactor thread. Owner: the backend. Units: bytes. Errors: those of the operations.
#pragma once

#include "storage/posix_base.hpp"
#include "storage/reads_in_turns.hpp"

namespace feedbench::storage {

using PosixMemoryReads = ReadsInTurns<PosixBackend>;

} // namespace feedbench::storage
