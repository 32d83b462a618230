#include "reporters/ingest/feedbench_run.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "reporters/ingest/checkpoint_run.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::ingest {
namespace {

std::optional<double> value_of(const std::vector<Metric>& rows, std::string_view key) {
    const Metric* metric = reporters::row(rows, key);
    return metric != nullptr ? metric->value : std::nullopt;
}

std::optional<double> above_zero(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

void take_epochs(const RunResult& result, IngestedRun& run) {
    for (const EpochResult& epoch : result.epochs) {
        if (epoch.evaluation) continue;
        IngestedEpoch one;
        one.au_percentage = value_of(epoch.metrics, "au_percentage");
        one.samples_per_second = value_of(epoch.metrics, "samples_per_second");
        one.wall_s = above_zero(epoch.end_s - epoch.start_s);
        double block_s = 0;
        for (const BlockResult& block : epoch.blocks) block_s += block.end_s - block.start_s;
        one.block_s = above_zero(block_s);
        run.epochs.push_back(one);
    }
}

// A workload with other parameters than the published one of its model is another workload.
void name_workload(const RunResult& result, IngestedRun& run) {
    run.workload = model_name(result.model.empty() ? result.workload : result.model);
    run.accelerator_model = result.accelerator_model.empty() ? "" : accelerator_name(result.accelerator_model);
    const PublishedWorkload* published = find_published(run.workload, run.accelerator_model);
    const auto same = [](double a, double b) { return a > b * 0.999 && a < b * 1.001; };
    if (published != nullptr && same(result.batch_size, published->batch_size) &&
        same(result.think_time_mean_s, published->think_time_s) &&
        same(result.record_length_bytes, published->record_length_bytes))
        return;
    if (!result.workload.empty()) run.workload = result.workload;
    run.variant = fmt::format("batch {}, think {:.10g} s, record {:.10g} bytes", result.batch_size,
                              result.think_time_mean_s, result.record_length_bytes);
}

// Memory of all hosts; one that is not known leaves the sum unknown.
std::optional<double> memory_GiB_of(const std::vector<HostFacts>& hosts) {
    double bytes = 0;
    for (const HostFacts& host : hosts) {
        if (host.memory_bytes == 0) return {};
        bytes += static_cast<double>(host.memory_bytes);
    }
    return bytes > 0 ? std::optional(to_GiB(bytes)) : std::nullopt;
}

Expected<IngestedRun> from_checkpoints(const RunResult& result, const std::string& path, IngestedRun run) {
    run.kind = Kind::checkpoint;
    run.checkpoint = figures_of_checkpoints(result.checkpoints);
    if (!run.checkpoint->size_GiB) return format_error(path, "no checkpoint in it was written or read whole");
    // A process may play several ranks of the job.
    for (const CheckpointResult& one : result.checkpoints)
        run.accelerator_count = std::max(run.accelerator_count, static_cast<std::uint32_t>(one.ranks.size()));
    run.declared.push_back({"workload", result.model.empty() ? result.workload : result.model, "result.json"});
    identify_checkpoint("", {}, run);
    return run;
}

} // namespace

Expected<IngestedRun> from_run_result(const RunResult& result, const std::string& path) {
    if (result.status != "complete")
        return format_error(path, fmt::format("the run is {}{}", result.status,
                                              result.errors.empty() ? "" : ": " + result.errors.front().message));
    if (result.kind != "training" && result.kind != "checkpoint")
        return format_error(
            path, fmt::format("a result of kind '{}': only training and checkpoint results are compared", result.kind));
    IngestedRun run;
    run.path = path;
    run.tool = Tool::feedbench;
    run.edition = result.edition;
    run.accelerator_count = result.accelerator_count;
    run.host_count = static_cast<std::uint32_t>(result.hosts.size());
    run.start_time = result.start_time;
    run.end_time = result.end_time;
    run.host_memory_GiB = memory_GiB_of(result.hosts);
    run.verdict = result.verdict;
    run.invalid_reasons = result.invalid_reasons;
    if (result.virtual_time) run.notes.push_back("a simulation in virtual time, not a measurement");
    if (result.kind == "checkpoint") return from_checkpoints(result, path, std::move(run));
    name_workload(result, run);
    take_epochs(result, run);
    run.au_percentage = value_of(result.metrics, "au_mean_percentage");
    run.samples_per_second = value_of(result.metrics, "samples_per_second_mean");
    if (!run.samples_per_second) return format_error(path, "there is no samples_per_second_mean in its metrics");
    run.nominal_MB_per_second = value_of(result.metrics, "nominal_MB_per_second");
    run.nominal_MiB_per_second = value_of(result.metrics, "nominal_MiB_per_second");
    run.whole_epoch_utilization_percentage = value_of(result.metrics, "effective_utilization_percentage");
    if (result.au_required > 0) run.au_bar_percentage = 100 * result.au_required;
    run.think_time_s = above_zero(result.think_time_mean_s);
    run.record_length_bytes = above_zero(result.record_length_bytes);
    run.batch_size = above_zero(result.batch_size);
    run.sample_count = above_zero(static_cast<double>(result.num_files_train) * result.num_samples_per_file);
    if (run.sample_count && run.record_length_bytes)
        run.dataset_GiB = to_GiB(*run.sample_count * *run.record_length_bytes);
    if (run.think_time_s && run.batch_size && run.accelerator_count > 0)
        run.effective_utilization_percentage =
            100 * *run.samples_per_second * *run.think_time_s / *run.batch_size / run.accelerator_count;
    return run;
}

} // namespace feedbench::ingest
