// Copies one segment between tiers, and looks whether it arrived.
//
// Thread: any. Owner: none. Units: bytes. Errors: those of the targets; EIO where what is read back is not what was
// written. Records are not checked here: readers do that, and one damaged record does not keep a segment from moving.
#pragma once

#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

class BlockMemory;

struct SegmentCopy {
    std::string name;
    std::uint64_t bytes = 0; // of the whole file
    Target* from = nullptr;
    Target* to = nullptr;
};
// Durable at `to` and read back when it answers without an error. After one, what lies there is nobody's, and is
// replaced by the next copy; it is not removed, for somebody else may have completed the same copy meanwhile.
Status copy_segment(const SegmentCopy& copy, BlockMemory& memory);

} // namespace feedbench::feedfs
