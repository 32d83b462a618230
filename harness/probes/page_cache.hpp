// How much of a file, or of the host's memory, is page cache.
//
// Thread: any; may block on metadata. Owner: none. Units: bytes, pages. Errors: nullopt with a reason where it cannot
// be asked. Source: cachestat(2), Linux 6.5; else mincore(2) over a mapping that is never touched, so that asking reads
// nothing in; DESIGN section 8 (cache evidence), case C9. Since Linux 5.2 mincore tells the truth only to who may write
// the file or owns it; to others it says "resident" always.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

std::vector<Fact> page_cache_facts(const Machine& machine);

struct Residency {
    std::uint64_t page_count = 0, resident_count = 0; // of the pages that were asked about
    std::string method;                               // "cachestat" or "mincore"
    std::string null_reason;                          // why nothing was asked (page_count is then 0)
    double fraction() const {
        return page_count == 0 ? 0.0 : static_cast<double>(resident_count) / static_cast<double>(page_count);
    }
};

enum class ResidencyMethod : std::uint8_t { best, mincore };
// Asks about at most `window_count` windows of 1 MiB, spread evenly over the file, so that the cost has a bound.
Residency file_residency(const std::string& path, std::uint32_t window_count = 16,
                         ResidencyMethod method = ResidencyMethod::best);
// "Cached" of meminfo: page cache of the whole host, tmpfs included.
std::optional<std::uint64_t> cached_bytes(const Machine& machine);

} // namespace feedbench::probes
