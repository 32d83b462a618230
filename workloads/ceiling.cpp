#include "workloads/ceiling.hpp"

#include <fmt/format.h>

#include "harness/dataset/manifest.hpp"
#include "harness/metrics/aggregate.hpp"
#include "harness/types/units.hpp"
#include "workloads/ceiling_storage.hpp"
#include "workloads/short_run.hpp"

namespace feedbench::workloads {

namespace {

constexpr double kGraceS = 0.5;
constexpr std::uint64_t kStepsForAu = 3;

std::string why_not(const RunRequest& request, const MeasuredStorage& storage, double seconds) {
    if (seconds <= 0) return "not asked for (--ceiling-seconds 0)";
    if (request.reactor->clock().is_virtual()) return "in virtual time the client costs nothing";
    if (storage.name == "null") return "the data is on null: itself, so that the run is its own ceiling";
    return {};
}

// Bytes and time of the whole run, not of its whole steps: a large step may be longer than the run.
std::vector<HostCeiling> of_hosts(const RunResult& run, double bytes_per_step) {
    std::vector<HostCeiling> hosts;
    const EpochResult& epoch = run.epochs.front();
    const double duration_s = epoch.end_s - epoch.start_s;
    double bytes = 0;
    for (const HostFacts& host : run.hosts) bytes += static_cast<double>(host.bytes_delivered);
    constexpr std::uint64_t kEnoughSteps = 10;
    const double steps = epoch.step_count >= kEnoughSteps ? static_cast<double>(epoch.step_count)
                                                          : (bytes_per_step > 0 ? bytes / bytes_per_step : 0);
    for (const HostFacts& host : run.hosts) {
        HostCeiling one;
        one.host = host.name;
        one.duration_s = duration_s;
        if (duration_s > 0) {
            one.MB_per_second = to_MB(static_cast<double>(host.bytes_delivered)) / duration_s;
            one.steps_per_second = steps / duration_s;
        }
        if (host.bytes_delivered > 0)
            one.cpu_s_per_GB = host.process_cpu_s / (static_cast<double>(host.bytes_delivered) / 1e9);
        hosts.push_back(one);
    }
    return hosts;
}

double bytes_per_step(const RunRequest& request) {
    const Workload& workload = *request.workload;
    const DatasetSection& made = request.made ? request.made->dataset : workload.dataset;
    return made.record_length_bytes * workload.reader.batch_size * request.accelerator_count;
}

} // namespace

Expected<Ceiling> measure_ceiling(const RunRequest& request, const MeasuredStorage& storage, double seconds) {
    Ceiling ceiling;
    if (ceiling.reason = why_not(request, storage, seconds); !ceiling.reason.empty()) return ceiling;

    if (request.observer)
        request.observer->on_message(fmt::format("measuring the client's ceiling for about {:.3g} s", seconds));
    Workload workload = *request.workload;
    workload.reader.odirect = false; // null: has no alignment; what O_DIRECT spares is the copy
    workload.reader.drop_cache = "off";
    RunRequest base = request;
    base.workload = &workload;
    // Sizes of adopted files are known to the files alone, and null: has none: there, all samples have their mean size.
    std::optional<dataset::Manifest> of_mean_size;
    if (request.made && request.made->is_adopted()) {
        of_mean_size = *request.made;
        of_mean_size->generator = dataset::Manifest().generator;
        base.made = &*of_mean_size;
    }
    const bool copies = storage.page_cached;
    base.wrap_storage = [&request, copies](std::unique_ptr<storage::Backend> null) {
        return ceiling_storage(std::move(null), request, copies);
    };
    ShortRun how{.storage = "null:", .seconds = seconds / 2, .least_step_count = 0, .grace_s = kGraceS, .think_s = 0.0};
    auto fast = run_short(base, how);
    if (!fast) return fast.error();
    const TimeDistribution& think = workload.train.computation_time;
    std::optional<RunResult> thinking;
    how.grace_s = seconds; // AU leaves out the first step, and the steps of many accelerators are long
    how.least_step_count = kStepsForAu;
    if (!think.is_zero() && static_cast<double>(kStepsForAu) * think.mean_s <= how.seconds + how.grace_s) {
        how.think_s.reset();
        auto run = run_short(base, how);
        if (!run) return run.error();
        thinking = std::move(*run);
    }
    if (request.communicator->rank() != 0) return ceiling;
    ceiling.hosts = of_hosts(*fast, bytes_per_step(request));
    if (thinking)
        if (const Metric* au = metrics::find_metric(thinking->metrics, "au_mean_percentage"))
            for (HostCeiling& host : ceiling.hosts) host.au_percentage = au->value;
    if (request.observer)
        request.observer->on_message(fmt::format("the client's ceiling: {:.1f} MB/s, {:.4g} steps/s, {:.3f} CPU s/GB",
                                                 ceiling.MB_per_second(), ceiling.hosts.front().steps_per_second,
                                                 ceiling.hosts.front().cpu_s_per_GB));
    return ceiling;
}

void add_ceiling(RunResult& result, Ceiling ceiling) {
    const double at_most = ceiling.MB_per_second();
    Metric row{"ceiling_MB_per_second", "MB/s", std::nullopt, "ceiling_not_measured", "client_ceiling"};
    Metric achieved{"achieved_over_ceiling", "", std::nullopt, "ceiling_not_measured", "achieved_over_ceiling"};
    if (at_most > 0) {
        row.value = at_most;
        row.reason.clear();
        const Metric* delivered = metrics::find_metric(result.metrics, "delivered_MB_per_second");
        if (delivered && delivered->value) {
            achieved.value = *delivered->value / at_most;
            achieved.reason.clear();
        } else
            achieved.reason = delivered ? delivered->reason : "metric_window_empty";
    }
    result.metrics.push_back(row);
    result.metrics.push_back(achieved);
    result.ceilings = std::move(ceiling.hosts);
    result.ceiling_reason = std::move(ceiling.reason);
}

} // namespace feedbench::workloads
