// The inner loop of the content: one 4 KiB block from its key, as a definition to read and as a fast form of the same
// bytes.
//
// Thread: any. Owner: none. Units: bytes. Errors: none.
// Source: xorshift128+ (Vigna, "Further scramblings of Marsaglia's xorshift generators", 2014), shifts 23, 17, 26,
// eight lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace feedbench::generators {

inline constexpr std::size_t kContentBlockBytes = 4096, kContentLineBytes = 64;

struct BlockKey {
    std::uint64_t first,
        second; // independent of each other: 128 bits, so that no dataset is large enough for two equal keys
};

// Writes the block's first `bytes`, a multiple of 64. `out` may lie anywhere.
using RunLanes = void (*)(BlockKey key, std::byte* out, std::size_t bytes);
void run_lanes_portable(BlockKey key, std::byte* out, std::size_t bytes);
RunLanes fastest_run_lanes(); // for this machine

} // namespace feedbench::generators
