#include "workloads/checkpoint_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/metrics/aggregate.hpp"
#include "harness/metrics/checkpoint_metrics.hpp"
#include "harness/types/units.hpp"
#include "harness/verdict/rule.hpp"
#include "workloads/message.hpp"
#include "workloads/result_head.hpp"
#include "workloads/storage_facts.hpp"

namespace feedbench::workloads {

namespace {

void merge_process(CheckpointOutcome& outcome, const std::vector<std::string>& fields, bool first_of_host) {
    merge_process_fields(fields, first_of_host, outcome.hosts, outcome.slices);
    if (const std::string& first_byte_s = fields[kProcessFields]; !first_byte_s.empty())
        outcome.start_to_first_byte_s = std::max(outcome.start_to_first_byte_s.value_or(0), std::stod(first_byte_s));
}

Metric maybe(std::string key, std::string unit, std::optional<double> value, std::string reason, std::string formula) {
    return {std::move(key), std::move(unit), value, value ? std::string() : std::move(reason), std::move(formula)};
}

void add_rows(RunResult& result, const CheckpointOutcome& outcome) {
    result.metrics = metrics::checkpoint_run_rows(result.checkpoints);
    const auto add = [&](const Histogram& histogram, const std::string& key) {
        if (histogram.count() == 0) return;
        result.histograms.push_back(histogram.data(key));
        const std::vector<Metric> rows = metrics::latency_rows(result.histograms.back(), key);
        result.metrics.insert(result.metrics.end(), rows.begin(), rows.end());
    };
    add(outcome.written, "checkpoint_write_piece_latency");
    add(outcome.synced, "checkpoint_fsync_latency");
    add(outcome.read, "checkpoint_read_piece_latency");
    result.metrics.push_back(
        maybe("checkpoint_gap_s", "s", outcome.gap_s, "nothing_written_was_read", "write_end_to_read_start"));
    result.metrics.push_back(maybe("start_to_first_byte_s", "s", outcome.start_to_first_byte_s,
                                   result.virtual_time ? "virtual_time" : "not_counted",
                                   "process_start_to_first_byte"));
    double cpu_s = 0, bytes = 0;
    for (const HostFacts& host : result.hosts) {
        cpu_s += host.process_cpu_s;
        bytes += static_cast<double>(host.bytes_delivered);
    }
    result.metrics.push_back(maybe("cpu_s_per_GB_process", "s/GB",
                                   bytes > 0 && cpu_s > 0 ? std::optional<double>(cpu_s / (bytes / 1e9)) : std::nullopt,
                                   "not_counted", "cpu_over_bytes"));
}

void add_checkpoint_ceiling(RunResult& result, Ceiling ceiling) {
    const double at_most = ceiling.MB_per_second();
    const Metric* written = metrics::find_metric(result.metrics, "checkpoint_write_MB_per_second");
    std::optional<double> achieved;
    if (at_most > 0 && written && written->value) achieved = *written->value / at_most;
    result.metrics.push_back(maybe("ceiling_MB_per_second", "MB/s",
                                   at_most > 0 ? std::optional<double>(at_most) : std::nullopt, "ceiling_not_measured",
                                   "client_ceiling"));
    result.metrics.push_back(
        maybe("achieved_over_ceiling", "", achieved, "ceiling_not_measured", "achieved_over_ceiling"));
    result.ceilings = std::move(ceiling.hosts);
    result.ceiling_reason = std::move(ceiling.reason);
}

// What a reader must know before any figure.
void add_notes(const RunRequest& request, RunResult& result) {
    const Workload& workload = *request.workload;
    if (workload.model.scale != 1)
        result.findings.push_back({"model_scale", "note",
                                   fmt::format("The checkpoint is {:g} of the model's size (model.scale): not "
                                               "comparable with a whole one.",
                                               workload.model.scale)});
    if (workload.checkpoint.recovery_rank_shift && workload.checkpoint.num_checkpoints_read > 0 &&
        request.communicator->hosts().size() == 1)
        result.findings.push_back({"recovery_rank_shift", "warning",
                                   "checkpoint.recovery_rank_shift has no effect on one host: every rank reads what "
                                   "its own host wrote"});
}

} // namespace

void gather_checkpoint_run(const RunRequest& request, const CheckpointPlan& plan, CheckpointRun& run,
                           CheckpointOutcome& outcome) {
    cluster::Communicator& communicator = *request.communicator;
    const cluster::Doing doing(communicator.life(), "gathering the results at rank 0");
    std::vector<std::string> mine = process_fields(request, {.cpu_start = outcome.cpu_start,
                                                             .accelerator_count = plan.placement.count,
                                                             .bytes_delivered = run.bytes_moved(),
                                                             .slices = run.last_slices()});
    const auto first_byte_s = run.start_to_first_byte_s();
    mine.push_back(first_byte_s ? std::to_string(*first_byte_s) : std::string());
    outcome.error = cluster::first_error_of_all(communicator, outcome.error);
    const std::vector<std::string> all = communicator.gather(pack_strings(mine));
    if (communicator.rank() != 0) return;
    for (const cluster::HostLayout& host : communicator.hosts())
        for (std::size_t i = 0; i < host.ranks.size(); ++i)
            merge_process(outcome, unpack_strings(all[static_cast<std::size_t>(host.ranks[i])]), i == 0);
    outcome.checkpoints = std::move(run.results());
    outcome.findings = std::move(run.findings());
    outcome.written = run.piece_latency(true);
    outcome.read = run.piece_latency(false);
    outcome.synced = run.fsync_latency();
    outcome.gap_s = run.gap_s();
}

RunResult make_checkpoint_result(const RunRequest& request, const CheckpointPlan& plan, const storage::Backend& backend,
                                 CheckpointOutcome outcome) {
    const Workload& workload = *request.workload;
    RunResult result =
        begin_result(request, "checkpoint", {.error = outcome.error, .stop = outcome.stop}, plan.placement, backend);
    if (request.communicator->rank() != 0) return result;

    result.format = "pt";
    result.data_folder = config::checkpoint_location(workload);
    result.odirect = workload.checkpoint.odirect;
    result.findings = std::move(outcome.findings);
    result.storages = std::move(outcome.storages);
    add_retry_findings(result.storages, result.findings);
    result.hosts = std::move(outcome.hosts);
    result.slices = std::move(outcome.slices);
    result.checkpoints = std::move(outcome.checkpoints);
    result.checkpoint_gap_s = outcome.gap_s;
    add_rows(result, outcome);
    add_checkpoint_ceiling(result, std::move(outcome.ceiling));
    add_notes(request, result);
    if (result.status != "complete") result.invalid_reasons.push_back("run " + result.status);
    result.valid = result.invalid_reasons.empty();
    verdict::conclude(result);
    return result;
}

} // namespace feedbench::workloads
