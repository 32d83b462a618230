// Brings an LMDB's file into memory, so that look-ups find their pages there: each that does not waits for the disk,
// and with it whoever the thread serves that looks up.
//
// Thread: any; does not wait for the disk, but for room in its queue. Owner: none. Units: bytes. Errors: none; what
// cannot be read ahead is read by the look-ups.
#pragma once

#include <cstdint>
#include <string>

namespace feedbench::feedfs {

// Asks the kernel for all of the file if it has at most so many bytes: of a part nobody knows that it is the right one.
void read_metadata_ahead(const std::string& file, std::uint64_t most_bytes);

} // namespace feedbench::feedfs
