// Reads a part of a record's payload, verified. Internal to storage/feedfs.
//
// Thread: any. Owner: none. Units: bytes. Errors: EIO with segment and offset where a CRC does not hold or a record
// ends early; those of the target.
#pragma once

#include <span>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/record.hpp"
#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

struct ExtentPart {
    const Extent* extent = nullptr;
    const std::uint32_t* crcs = nullptr; // of the extent's blocks; nullptr: not verified
    std::uint64_t from = 0;              // in the payload
    std::span<std::byte> into;           // what is wanted, all of it within the payload
    // How much memory behind into.data() may be written: more than into.size() spares a copy of a last, partial block.
    std::uint64_t room_bytes = 0;
};
Status read_extent(const TargetFile& file, const ExtentPart& part, BlockMemory& memory);

// payload: of the extent's blocks from number `first_block` on; the first one begins at its front.
Status verify_blocks(const Extent& extent, const std::uint32_t* crcs, std::uint64_t first_block,
                     std::span<const std::byte> payload);

} // namespace feedbench::feedfs
