// client_memory: the accelerators waited because the client moved bytes as fast as its memory can.
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {

std::optional<Evidence> client_memory(const RunResult& r) {
    if (r.virtual_time || !lost_time(r).waited()) return std::nullopt;
    std::optional<Evidence> worst;
    double worst_share = kNearMemory.value;
    for (const HostEpoch& one : host_epochs(r)) {
        // "none": nothing moved the bytes (null:, model:), so memory was not what they passed through.
        if (one.epoch->evaluation || one.by("none") || one.by("") || one.host == nullptr ||
            !one.host->memory_bytes_per_second)
            continue;
        const double moved = one.bytes_per_second(), memory = *one.host->memory_bytes_per_second;
        if (memory <= 0 || moved / memory < worst_share) continue;
        worst_share = moved / memory;
        worst = Evidence{
            fmt::format("Memory of the client: {}: {} were delivered, {} of the {} at which its CPUs read memory, and "
                        "each byte crosses it at least twice. Use more hosts{}.",
                        one.where(), rate(moved), percent(moved / memory), rate(memory),
                        r.odirect ? "" : ", or reader.odirect=True, which spares a copy"),
            {fact("delivered_MB_per_second", "MB/s", moved / 1e6), fact("memory_MB_per_second", "MB/s", memory / 1e6),
             fact("share_of_memory_bandwidth", "", moved / memory)}};
    }
    return worst;
}

} // namespace feedbench::verdict
