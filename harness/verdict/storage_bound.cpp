// storage_bound: the accelerators waited for reads that the storage had not answered, and the client had room.
#include <algorithm>
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {
namespace {

std::string room_of_client(const RunResult& r, std::vector<Metric>& facts) {
    if (r.virtual_time) return " The client costs nothing in virtual time.";
    std::string words;
    if (const auto near = metric(r, "achieved_over_ceiling")) {
        words += fmt::format(" The client had room: the run reached {} of its ceiling", percent(*near));
        if (const auto ceiling = metric(r, "ceiling_MB_per_second")) words += " of " + rate(*ceiling * 1e6);
        words += ".";
        facts.push_back(fact("achieved_over_ceiling", "", *near));
    } else
        words += " The client's ceiling was not measured" +
                 (r.ceiling_reason.empty() ? "" : " (" + r.ceiling_reason + ")") +
                 ": that it had room is known from its share of the lost time alone.";
    double busiest = 0;
    for (const HostEpoch& one : host_epochs(r))
        if (!one.epoch->evaluation) busiest = std::max(busiest, one.cpu_share().value_or(0));
    if (busiest > 0) {
        words += fmt::format(" CPUs busy: {} at most.", percent(std::min(1.0, busiest)));
        facts.push_back(fact("cpu_share", "", busiest));
    }
    return words;
}

} // namespace

std::optional<Evidence> storage_bound(const RunResult& r) {
    const LostTime lost = lost_time(r);
    const double share = lost.share(lost.storage_s);
    if (!lost.waited() || share < kMainCause.value) return std::nullopt;
    Evidence evidence;
    evidence.words =
        fmt::format("Accelerators lost {} of their time in the blocks, {} of that to reads in flight at the "
                    "storage, waits at the step barrier for such an accelerator included.",
                    percent(lost.lost_s() / lost.inside_s), percent(share));
    evidence.facts = {fact("lost_share", "", lost.lost_s() / lost.inside_s), fact("storage_share_of_lost", "", share)};
    const auto delivered = metric(r, "delivered_MB_per_second"), needed = metric(r, "needed_MB_per_second");
    if (delivered && needed) {
        evidence.words += fmt::format(" It delivered {}; to keep them busy it would take {}.", rate(*delivered * 1e6),
                                      rate(*needed * 1e6));
        evidence.facts.push_back(fact("delivered_MB_per_second", "MB/s", *delivered));
        evidence.facts.push_back(fact("needed_MB_per_second", "MB/s", *needed));
    }
    if (lost.au_percentage && *lost.au_percentage >= kBusyAu.value)
        evidence.words += fmt::format(" AU is {:.1f} % only because the rules leave out the first step of a block, in "
                                      "which the queues were filled: in all, accelerators were busy {} of the time.",
                                      *lost.au_percentage, percent(lost.busy()));
    evidence.words += room_of_client(r, evidence.facts);
    if (std::string why; !source_known(r, why)) evidence.words += " Whether a cache helped is not known: " + why + ".";
    return evidence;
}

} // namespace feedbench::verdict
