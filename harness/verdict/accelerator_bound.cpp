// accelerator_bound: the accelerators had what they asked for; the storage could have given more.
//
// It is the only verdict that praises, so it asks for proof that the bytes came from the storage. A run in which
// accelerators waited mostly for each other, because their think times differ, is theirs as well.
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {

std::optional<Evidence> accelerator_bound(const RunResult& r) {
    const LostTime lost = lost_time(r);
    if (!lost.known() || !lost.au_percentage || lost.think_s <= 0) return std::nullopt;
    const bool uneven = lost.waited() && lost.share(lost.imbalance_s) >= kMainCause.value;
    if (lost.waited() && !uneven) return std::nullopt;
    for (const HostEpoch& one : host_epochs(r))
        if (from_cache(r, one)) return std::nullopt;
    if (std::string why; !source_known(r, why)) return std::nullopt;

    Evidence evidence;
    evidence.facts = {fact("au_mean_percentage", "%", *lost.au_percentage), fact("busy_share", "", lost.busy()),
                      fact("lost_share", "", lost.lost_s() / lost.inside_s)};
    if (uneven) {
        evidence.words =
            fmt::format("AU is {:.1f} %, but {} of the lost time accelerators waited for each other at the "
                        "step barrier because their think times differ; the storage did not hold them up.",
                        *lost.au_percentage, percent(lost.share(lost.imbalance_s)));
        evidence.facts.push_back(fact("imbalance_share_of_lost", "", lost.share(lost.imbalance_s)));
    } else
        evidence.words =
            fmt::format("AU is {:.1f} %: accelerators were busy {} of their time in the blocks, first steps "
                        "included, so the storage has headroom at this load.",
                        *lost.au_percentage, percent(lost.busy()));
    const auto delivered = metric(r, "delivered_MB_per_second");
    if (delivered) {
        evidence.words +=
            fmt::format(" It delivered {}, which was all that they asked for: how much more it could, a run "
                        "with more accelerators shows.",
                        rate(*delivered * 1e6));
        evidence.facts.push_back(fact("delivered_MB_per_second", "MB/s", *delivered));
    }
    return evidence;
}

} // namespace feedbench::verdict
