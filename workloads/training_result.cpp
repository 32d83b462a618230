#include "workloads/training_result.hpp"

#include <fmt/format.h>

#include <ctime>

#include "harness/accelerator/steps_h5.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/metrics/explain.hpp"
#include "harness/types/units.hpp"
#include "harness/verdict/rule.hpp"
#include "workloads/message.hpp"
#include "workloads/result_head.hpp"
#include "workloads/steps_gather.hpp"
#include "workloads/storage_facts.hpp"

namespace feedbench::workloads {

namespace {

void merge_rank(RunOutcome& outcome, const std::vector<std::string>& parts, bool first_of_host) {
    merge_process_fields(parts, first_of_host, outcome.measurements.hosts, outcome.measurements.slices);
    for (std::size_t i = kProcessFields; i + 2 < parts.size(); i += 3)
        outcome.findings.push_back({parts[i], parts[i + 1], parts[i + 2]});
}

// What the samples that were read hold by the plan: a verdict rule holds the delivered bytes against it. Exact where
// nothing was left out; by the mean size else.
Metric planned_bytes(const TrainingPlan& plan, const Workload& workload, const RunResult& result) {
    const SetPlan& set = plan.train;
    Metric row{"planned_bytes", "bytes", {}, "", "samples_times_payload"};
    const std::uint64_t set_samples = set.used_file_count * set.samples_per_file;
    double samples = 0;
    bool whole = true;
    for (const EpochResult& epoch : result.epochs) {
        if (epoch.evaluation) continue;
        samples += static_cast<double>(epoch.sample_count);
        whole = whole && epoch.sample_count + epoch.dropped_sample_count == set_samples;
    }
    if (!set.files->sizes_known())
        row.reason = "sizes_as_found";
    else if (workload.dataset.compression != "none" || !plan.format->size_is_known({})) // jpeg compresses always
        row.reason = "compressed";
    else if (set.used_file_count != set.files->file_count() || !set.files->shape_is_cheap() || !whole)
        row.reason = "not_the_whole_set";
    else
        row.value = samples * static_cast<double>(set.files->total_read_bytes()) / static_cast<double>(set_samples);
    return row;
}

} // namespace

void gather_run(const RunRequest& request, const TrainingPlan& plan, TrainingRun& run, RunOutcome& outcome) {
    cluster::Communicator& communicator = *request.communicator;
    const cluster::Doing doing(communicator.life(), "gathering the results at rank 0");
    std::vector<std::string> mine = process_fields(request, {.cpu_start = outcome.cpu_start,
                                                             .accelerator_count = plan.placement.count,
                                                             .bytes_delivered = run.counters().bytes,
                                                             .slices = run.last_slices()});
    for (const Finding& finding : run.findings())
        mine.insert(mine.end(), {finding.rule, finding.verdict, finding.evidence});
    outcome.error = cluster::first_error_of_all(communicator, outcome.error);
    const std::vector<std::string> all = communicator.gather(pack_strings(mine));
    const Status steps = gather_steps(request, run.log(), run.clock_offset_ns());
    if (communicator.rank() != 0) return;

    outcome.measurements = std::move(run.measurements());
    outcome.samples_lost = run.samples_lost();
    for (const cluster::HostLayout& host : communicator.hosts())
        for (std::size_t i = 0; i < host.ranks.size(); ++i)
            merge_rank(outcome, unpack_strings(all[static_cast<std::size_t>(host.ranks[i])]), i == 0);
    if (!steps)
        outcome.findings.push_back({"steps_h5", "warning", "steps.h5 was not written: " + steps.error().describe()});
}

RunResult make_result(const RunRequest& request, const TrainingPlan& plan, storage::Backend& backend,
                      RunOutcome outcome) {
    const Workload& workload = *request.workload;
    metrics::TrainingMeasurements& m = outcome.measurements;
    RunResult result =
        begin_result(request, "training", {.error = outcome.error, .stop = outcome.stop}, plan.placement, backend);
    if (request.communicator->rank() != 0) return result;

    result.accelerator_model = workload.accelerator;
    result.format = workload.dataset.format;
    result.data_loader = workload.reader.data_loader;
    result.data_folder = config::data_location(workload);
    result.odirect = workload.reader.odirect;
    result.epoch_count = plan.epoch_count;
    result.batch_size = workload.reader.batch_size;
    result.batch_size_eval = workload.reader.batch_size_eval;
    result.edition = m.edition;
    result.num_files_train = plan.train.used_file_count;
    result.num_files_eval = plan.valid ? plan.valid->used_file_count : 0;
    result.num_samples_per_file = plan.train.samples_per_file;
    result.record_length_bytes = workload.dataset.record_length_bytes;
    result.think_time_mean_s = workload.train.computation_time.mean_s;
    result.au_required = workload.metric.au_is_set ? workload.metric.au : 0;
    result.findings = std::move(outcome.findings);
    result.storages = std::move(outcome.storages);
    add_retry_findings(result.storages, result.findings);

    m.accelerator_count = plan.placement.total;
    m.batch_size = workload.reader.batch_size;
    m.batch_size_eval = workload.reader.batch_size_eval;
    m.record_length_bytes = workload.dataset.record_length_bytes;
    metrics::aggregate(m, result);
    add_ceiling(result, std::move(outcome.ceiling));

    result.metrics.push_back(planned_bytes(plan, workload, result));
    if (outcome.checkpoint_cost && !result.checkpoints.empty()) {
        for (Metric& row : metrics::checkpoint_cost_rows(*outcome.checkpoint_cost)) result.metrics.push_back(row);
        result.findings.push_back(metrics::checkpoint_cost_finding(*outcome.checkpoint_cost));
    }
    if (workload.workflow.checkpoint && workload.model.scale != 1.0)
        result.findings.push_back({"model_scale",
                                   "warning",
                                   fmt::format("model.scale is {:g}: checkpoints are smaller than the model's, and "
                                               "nothing about them compares with another result",
                                               workload.model.scale),
                                   {}});

    if (result.status != "complete") result.invalid_reasons.push_back("run " + result.status);
    if (outcome.samples_lost && result.status != "complete") // of a complete run the verdict says it
        result.invalid_reasons.push_back(
            "the samples that were read are not those of the plan (count or checksum of ids)");
    const bool is_detailed = workload.metric.instrumentation != "none";
    if (!is_detailed)
        result.invalid_reasons.push_back("metric.instrumentation is none: nothing shows what this run measured");
    result.valid = result.invalid_reasons.empty();
    if (is_detailed) verdict::conclude(result);
    result.explanation = metrics::explain(result); // again, for its advice follows the verdict
    return result;
}

} // namespace feedbench::workloads
