// client_cpu: the accelerators waited for the client itself.
//
// Three witnesses, any is enough. Attribution: most of the lost time passed while no read was in flight, or after it
// had been answered, or because thinking ended late. CPUs: none was idle, and a good part of the lost time is the
// client's; then the rest cannot be told from the storage's either. Ceiling: the run came as near to what the client
// can do at a storage that costs nothing as two runs come to each other.
#include <algorithm>
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {
namespace {

// The training epoch and host whose CPUs were busiest.
std::optional<HostEpoch> busiest(const std::vector<HostEpoch>& all) {
    std::optional<HostEpoch> most;
    for (const HostEpoch& one : all)
        if (!one.epoch->evaluation && one.cpu_share() && (!most || *one.cpu_share() > *most->cpu_share())) most = one;
    return most;
}

// The host that lost most to its own client; nothing to say where there is only one.
std::string slowest_host(const std::vector<HostEpoch>& all) {
    const HostEpoch* most = nullptr;
    bool several = false;
    for (const HostEpoch& one : all) {
        if (one.epoch->evaluation) continue;
        several = several || one.part->host != all.front().part->host;
        if (most == nullptr || one.part->attribution.client_wait_s > most->part->attribution.client_wait_s) most = &one;
    }
    return several ? " Most of it in " + most->where() + "." : "";
}

// AU of the slowest host at a storage that costs nothing.
std::optional<double> ceiling_au(const RunResult& r) {
    std::optional<double> least;
    for (const HostCeiling& one : r.ceilings)
        if (one.au_percentage && (!least || *one.au_percentage < *least)) least = one.au_percentage;
    return least;
}
// How much of the time that the run lost beside each second of thinking is lost at the ceiling already.
// Example: AU 60 % in the run, 75 % at the ceiling: 1 / 0.75 - 1 = 0.333 s of 1 / 0.6 - 1 = 0.667 s, 0.5.
double lost_at_ceiling(const LostTime& lost, std::optional<double> ceiling) {
    if (!ceiling || !lost.au_percentage || *lost.au_percentage <= 0 || *lost.au_percentage >= 100) return 0;
    if (*ceiling <= 0) return 1;
    return (100 / *ceiling - 1) / (100 / *lost.au_percentage - 1);
}

} // namespace

std::optional<Evidence> client_cpu(const RunResult& r) {
    const LostTime lost = lost_time(r);
    if (r.virtual_time || !lost.waited()) return std::nullopt;
    const std::vector<HostEpoch> all = host_epochs(r);
    const double share = lost.share(lost.client_s);
    const std::optional<HostEpoch> busy = busiest(all);
    const std::optional<double> near = metric(r, "achieved_over_ceiling");

    const bool by_time = share >= kMainCause.value;
    const bool by_cpu = busy && *busy->cpu_share() >= kCpuSaturated.value && share >= kCauseWhenSaturated.value;
    const std::optional<double> alone = ceiling_au(r);
    const double at_ceiling = lost_at_ceiling(lost, alone);
    const bool by_ceiling = (near && *near >= kNearCeiling.value) || at_ceiling >= kMainCause.value;
    if (!by_time && !by_cpu && !by_ceiling) return std::nullopt;

    Evidence evidence;
    evidence.words =
        fmt::format("CPU of the client: accelerators lost {} of their time in the blocks, {} of that to the "
                    "client (decoding, copies, work that was ready and did not run, thinking that ended "
                    "late, the step barrier itself).",
                    percent(lost.lost_s() / lost.inside_s), percent(share));
    evidence.facts = {fact("lost_share", "", lost.lost_s() / lost.inside_s), fact("client_share_of_lost", "", share)};
    if (by_time) evidence.words += slowest_host(all);
    if (busy) {
        evidence.words +=
            fmt::format(" CPUs busy: {} in {}.", percent(std::min(1.0, *busy->cpu_share())), busy->where());
        evidence.facts.push_back(fact("cpu_share", "", *busy->cpu_share()));
    }
    if (near) {
        evidence.words += fmt::format(" The run reached {} of the client's own ceiling.", percent(*near));
        evidence.facts.push_back(fact("achieved_over_ceiling", "", *near));
    }
    if (alone) {
        evidence.words += fmt::format(" At a storage that costs nothing its AU is {:.1f} %.", *alone);
        evidence.facts.push_back(fact("ceiling_au_percentage", "%", *alone));
        evidence.facts.push_back(fact("ceiling_share_of_lost", "", at_ceiling));
    }
    evidence.words +=
        " The storage was not what limited this run: free CPUs, use more hosts or fewer accelerators a host, "
        "and repeat before judging it.";
    return evidence;
}

} // namespace feedbench::verdict
