// Dataset bytes as a function of (seed, file, position): incompressible, no two 512-byte blocks alike, checkable
// without a copy.
//
// Thread: any (const). Owner: the caller. Units: bytes. Errors: none.
// Source: DESIGN section 7; cases C4, C5. The function's version is part of the manifest: kContentVersion. Each 4 KiB
// block has a key of 128 bits, made by mix64 of (seed, file, block); from it run 8 lanes of xorshift128+ (Vigna 2014),
// side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedbench::generators {

inline constexpr int kContentVersion = 1;

struct ContentParameters {
    std::uint64_t seed = 0;
    double compress_percent = 0; // part of every 4 KiB block that is zeros (its end, in steps of 64 bytes)
    double dedupe_percent = 0;   // part of the 4 KiB blocks that repeat one of 64 blocks, the same for all files
};

class Content {
  public:
    explicit Content(ContentParameters parameters); // percentages outside 0..100 count as 0 or 100
    // Payload bytes [offset, offset + out.size()) of file `file_index`. `file_index` of valid/ files continues after
    // train/.
    void fill(std::uint64_t file_index, std::uint64_t offset, std::span<std::byte> out) const;
    // Position in `data` of the first byte that differs from the content, or data.size() where all agree.
    std::size_t first_difference(std::uint64_t file_index, std::uint64_t offset, std::span<const std::byte> data) const;

  private:
    void fill_block(std::uint64_t file_index, std::uint64_t block_index, std::byte* out) const;
    ContentParameters parameters_;
    std::size_t random_bytes_;   // of a block; zeros follow
    std::uint64_t dedupe_limit_; // a block repeats where its hash is below
};

} // namespace feedbench::generators
