// client_network: the accelerators waited because the client's interface carried what it can.
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {

std::optional<Evidence> client_network(const RunResult& r) {
    if (r.virtual_time || !lost_time(r).waited()) return std::nullopt;
    std::optional<Evidence> worst;
    double worst_share = kNearLineRate.value;
    for (const HostEpoch& one : host_epochs(r)) {
        if (one.epoch->evaluation || !one.by("network") || one.host == nullptr || !one.host->nic_bytes_per_second ||
            !one.part->cache.source_bytes || one.wall_s() <= 0)
            continue;
        const double carried = *one.part->cache.source_bytes / one.wall_s(), line = *one.host->nic_bytes_per_second;
        if (carried / line < worst_share) continue;
        worst_share = carried / line;
        worst = Evidence{
            fmt::format("Network of the client: {}: {} came over {}, {} of its line rate of {}. The storage may have "
                        "more to give: use more hosts or a faster interface.",
                        one.where(), rate(carried), one.part->cache.source, percent(carried / line), rate(line)),
            {fact("source_MB_per_second", "MB/s", carried / 1e6), fact("line_rate_MB_per_second", "MB/s", line / 1e6),
             fact("share_of_line_rate", "", carried / line)}};
    }
    return worst;
}

} // namespace feedbench::verdict
