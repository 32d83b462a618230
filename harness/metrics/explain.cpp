#include "harness/metrics/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "harness/metrics/aggregate.hpp"

namespace feedbench::metrics {
namespace {

std::string number(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}
std::string rate(double MB_per_second) { return number(MB_per_second, MB_per_second < 100 ? 1 : 0) + " MB/s"; }

double value(const RunResult& r, std::string_view key) {
    const Metric* row = find_metric(r.metrics, key);
    return row != nullptr && row->value ? *row->value : -1;
}

std::string where_the_time_went(const Attribution& a) {
    const auto share = [&](double part) { return number(a.total_s > 0 ? 100 * part / a.total_s : 0, 1) + " %"; };
    return "Of all accelerator time " + share(a.think_s) + " was think, " + share(a.storage_wait_s) +
           " waiting on storage, " + share(a.client_wait_s) + " lost in the client, " + share(a.barrier_wait_s) +
           " waiting at the step barrier for another accelerator, and " + share(a.outside_s) +
           " outside the measured blocks.";
}

// The verdict decides where there is one. Else, of a partial result: barrier wait is somebody else's stall, so it
// follows whichever of storage and client is the larger.
std::string what_to_change(const RunResult& r, double achieved, double wanted) {
    const Attribution& a = r.attribution;
    if (r.verdict == "implausible" || r.verdict == "cached")
        return "The run is " + r.verdict + ": nothing follows from these figures for the storage.";
    if (r.verdict == "client-bound" || (r.verdict.empty() && a.client_wait_s > a.storage_wait_s && a.client_wait_s > 0))
        return "The client host was the bottleneck, not the storage: use fewer accelerators per host or more hosts, "
               "free its CPUs, "
               "and repeat before judging the storage.";
    if (r.verdict == "inconclusive")
        return "No one cause explains the loss: free the client's CPUs or run longer, and repeat.";
    if (r.verdict == "storage-bound" || (r.verdict.empty() && a.storage_wait_s > 0)) {
        std::string text = "The storage did not deliver fast enough for this load: it needs about " +
                           (achieved > 0 && wanted > achieved ? number(wanted / achieved, 2) + " times the rate"
                                                              : std::string("a higher rate")) +
                           "; otherwise run fewer accelerators";
        text += r.data_loader == "native"
                    ? " or raise reader.queue_depth."
                    : ", or raise reader.read_threads if the storage answers better to more reads side by side.";
        return text;
    }
    if (a.barrier_wait_s > 0)
        return "Accelerators waited for each other at the step barrier: think times differ from accelerator to "
               "accelerator, or one host is slower.";
    return "Little time was spent waiting inside the blocks; the window is too short for a judgement. Use more files "
           "or epochs.";
}

} // namespace

std::string explain(const RunResult& r) {
    const double required = 100 * r.au_required;
    if (r.au_required <= 0) return {};
    const Metric* au = find_metric(r.metrics, "au_mean_percentage");
    if (au == nullptr) return {};
    if (!au->value && au->reason == "no_steps") return "No training step was finished, so there is no AU.";
    if (!au->value)
        return "AU could not be computed (" + au->reason +
               "): the first step of every block is excluded by the rules, so an epoch needs at least two steps. Use "
               "more files, or a "
               "smaller batch or fewer accelerators.";
    if (*au->value >= required) return {};

    std::string text = "AU is " + number(*au->value, 2) + " %, below the required " + number(required, 2) + " %.";
    const double needed_full = value(r, "needed_MB_per_second"), achieved = value(r, "delivered_MB_per_second");
    // AU is think / wall, so a bar of 90 % asks for 90 % of the rate at which nobody would ever wait.
    const double wanted = needed_full > 0 ? needed_full * r.au_required : -1;
    if (needed_full > 0 && achieved > 0) {
        text += " " + std::to_string(r.accelerator_count) +
                (r.accelerator_count == 1 ? " accelerator that thinks " : " accelerators that think ") +
                number(r.think_time_mean_s * 1e3, 2) + " ms a batch of " + std::to_string(r.batch_size) +
                " would take " + rate(needed_full) + " without waiting, and " + rate(wanted) + " at the bar; " +
                rate(achieved) + " were delivered.";
    }
    text += " " + where_the_time_went(r.attribution);
    text += " " + what_to_change(r, achieved, wanted);
    const double effective = value(r, "effective_utilization_percentage");
    if (effective >= 0)
        text += " Over the whole epochs, nothing excluded, utilization was " + number(effective, 2) + " %.";
    return text;
}

} // namespace feedbench::metrics
