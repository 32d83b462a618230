// How fast memory is read: a short measurement, so that no run claims more than its host can carry.
//
// Thread: the caller's and as many more as asked for. Owner: buffers are its own and are given back. Units: bytes,
// bytes/s, ns. Errors: nullopt where the memory cannot be had. Source: DESIGN section 8 (plausibility).
#pragma once

#include <cstdint>
#include <optional>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

struct MemoryReading {
    unsigned thread_count = 1;
    std::uint64_t buffer_bytes = 32ULL << 20; // of a thread; all of them should outgrow the last-level cache
    std::uint64_t duration_ns = 40'000'000;   // of reading; the buffers are touched before
};
// The best pass of each thread, added up: what else runs on the host meanwhile must not make the limit too low.
std::optional<double> memory_read_bytes_per_second(const MemoryReading& reading);

// Of the largest cache that CPU 0 has.
std::optional<std::uint64_t> last_level_cache_bytes(const Machine& machine);

} // namespace feedbench::probes
