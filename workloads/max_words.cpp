#include "workloads/max_words.hpp"

#include <fmt/format.h>

#include "harness/verdict/thresholds.hpp"

namespace feedbench::workloads {

namespace {

std::string au_text(const ScalingPoint& point) {
    return point.au_percentage ? fmt::format("AU {:.2f} %", *point.au_percentage)
                               : "no AU at all (fewer than two steps in the time)";
}

std::string counted(std::uint32_t count) { return fmt::format("{} accelerator{}", count, count == 1 ? "" : "s"); }

// What happened at the N that was too many.
std::string missed_words(const StopFacts& facts) {
    const ScalingPoint& missed = *facts.missed;
    std::string text =
        fmt::format("with {} {} at {:.1f} MB/s, below the bar of {:.6g} %", counted(missed.accelerator_count),
                    au_text(missed), missed.MB_per_second, facts.plan->bar_percentage);
    if (facts.missed_passed_probe) text += " in a run of full length (a short probe had passed)";
    return text;
}

// Whose limit it was that the bar was missed.
std::string whose(const StopFacts& facts) {
    const ScalingPoint& missed = *facts.missed;
    if (facts.virtual_time) return "storage: " + missed_words(facts) + "; in virtual time the client costs nothing";
    if (facts.null_storage) return "client: " + missed_words(facts) + "; null: itself costs nothing";
    const std::optional<double> ceiling = facts.ceiling_MB_per_second;
    const double share = ceiling && *ceiling > 0 ? missed.MB_per_second / *ceiling : 0;
    const std::string of_ceiling =
        ceiling ? fmt::format("{:.1f} % of the {:.1f} MB/s that the client reaches with a storage that costs nothing",
                              100 * share, *ceiling)
                : "the client's ceiling is not known (" + facts.ceiling_reason + ")";
    if (ceiling && share > verdict::kNearCeiling.value)
        return "client: " + missed_words(facts) + ", and that is " + of_ceiling +
               ": the storage may feed more, use more hosts or CPUs";
    if (missed.verdict == "client-bound")
        return "client: " + missed_words(facts) + ", and the verdict on that run is client-bound (" + of_ceiling +
               "): the storage may feed more, use more hosts or CPUs";
    if (missed.verdict == "cached" || missed.verdict == "implausible")
        return "not known: " + missed_words(facts) + ", but the verdict on that run is " + missed.verdict +
               ": the storage itself was not measured";
    if (!ceiling) return "not known: " + missed_words(facts) + "; " + of_ceiling;
    return "storage: " + missed_words(facts) + ", which is " + of_ceiling;
}

} // namespace

std::string stop_words(const StopFacts& facts) {
    const MaxPlan& plan = *facts.plan;
    const std::string so_far =
        (facts.found > 0 ? counted(facts.found) + " reached the bar"
                         : std::string("no number of accelerators reached the bar")) +
        (facts.missed ? fmt::format(", {} did not", facts.missed->accelerator_count) : ", nothing above was tried");
    if (!facts.broken.empty()) return fmt::format("not known: the search was {}; so far {}", facts.broken, so_far);
    switch (facts.stop) {
    case SearchStop::bar_missed:
    case SearchStop::minimum_missed:
        if (!facts.missed) break;
        return whose(facts) + (facts.stop == SearchStop::minimum_missed
                                   ? fmt::format(". That is the smallest number that divides evenly over this job's "
                                                 "hosts and ranks, so that N is 0")
                                   : "");
    case SearchStop::limit_reached:
        if (plan.limit_of == MaxPlan::LimitOf::data)
            return fmt::format("dataset: {} reached the bar, and more than that leave fewer than 2 steps "
                               "an epoch of {} samples in batches of {}: generate more",
                               counted(facts.found), plan.sample_count, plan.batch_size);
        return fmt::format("limit: {} reached the bar, and {} was the largest number allowed ({}); "
                           "nothing larger was tried",
                           counted(facts.found), plan.limit,
                           plan.limit_of == MaxPlan::LimitOf::asked ? "--limit" : "feedbench's own limit");
    case SearchStop::trials_spent:
        return fmt::format("not known: the figures contradict each other too much for the trials that are allowed ({} "
                           "probes, {} runs of full length); {}",
                           MaxSearch::kMostProbes, MaxSearch::kMostConfirmations, so_far);
    case SearchStop::none:
        break;
    }
    return "not known: " + so_far;
}

} // namespace feedbench::workloads
