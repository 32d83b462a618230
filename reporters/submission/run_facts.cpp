// Facts of a run of feedbench: planned, or measured. Those of other tools' folders: reference_facts.cpp.
#include "reporters/submission/run_facts.hpp"

#include <algorithm>

#include "harness/types/units.hpp"
#include "reporters/ingest/epoch_stats.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::submission {
namespace {

const std::string* value_of(const std::vector<ConfigValue>& values, std::string_view key) {
    for (const ConfigValue& value : values)
        if (value.key == key) return &value.value;
    return nullptr;
}

std::optional<double> number_of(const std::vector<ConfigValue>& values, std::string_view key) {
    const std::string* text = value_of(values, key);
    return text != nullptr ? ingest::number(nlohmann::json(*text)) : std::nullopt;
}

std::optional<bool> flag_of(const std::vector<ConfigValue>& values, std::string_view key) {
    const std::string* text = value_of(values, key);
    if (text == nullptr) return {};
    return *text == "true" || *text == "True";
}

void take_config(const std::vector<ConfigValue>& values, PublishedProfiles& profiles, RunFacts& facts) {
    auto changes = profiles.changes(values, facts.model, facts.accelerator);
    if (changes)
        facts.changes = std::move(*changes);
    else
        facts.changes_reason = changes.error().message;
    facts.trains = flag_of(values, "workflow.train");
    facts.generates = flag_of(values, "workflow.generate_data");
    facts.checkpoints = flag_of(values, "workflow.checkpoint");
    facts.checkpoint_fsync = flag_of(values, "checkpoint.fsync");
    facts.model_scale = number_of(values, "model.scale");
    if (const std::string* mode = value_of(values, "checkpoint.mode")) facts.checkpoint_mode = *mode;
    const auto count = [&](const char* key) -> std::optional<std::int64_t> {
        const auto value = number_of(values, key);
        return value ? std::optional(std::max<std::int64_t>(0, static_cast<std::int64_t>(*value))) : std::nullopt;
    };
    facts.checkpoint_writes = count("checkpoint.num_checkpoints_write");
    facts.checkpoint_reads = count("checkpoint.num_checkpoints_read");
}

} // namespace

RunFacts facts_of(const PlannedRun& plan, PublishedProfiles& profiles) {
    const Workload& w = *plan.workload;
    RunFacts facts;
    facts.path = w.name;
    facts.tool = Tool::feedbench;
    facts.kind = w.checkpoint_only() ? kCheckpoint : kTraining;
    facts.workload = w.name;
    facts.model = folder_model(w.model.name);
    facts.accelerator = ingest::accelerator_name(w.accelerator);
    facts.accelerator_count = plan.accelerator_count;
    facts.rank_count = plan.rank_count;
    facts.host_count = static_cast<std::uint32_t>(plan.memory_of_hosts.size());
    facts.ranks_of_hosts = plan.ranks_of_hosts;
    double memory_bytes = 0;
    bool all = !plan.memory_of_hosts.empty();
    for (const std::uint64_t bytes : plan.memory_of_hosts) {
        memory_bytes += static_cast<double>(bytes);
        all = all && bytes > 0;
    }
    if (all) facts.host_memory_GiB = to_GiB(memory_bytes);
    if (facts.kind == kTraining) {
        facts.file_count = w.dataset.num_files_train;
        facts.samples_per_file = w.dataset.num_samples_per_file;
        facts.record_length_bytes = w.dataset.record_length_bytes;
        facts.batch_size = w.reader.batch_size;
    }
    take_config(w.values, profiles, facts);
    facts.results_on_storage = plan.results_on_storage;
    if (plan.virtual_time) facts.invalid_reasons.push_back("a simulation in virtual time, not a measurement");
    return facts;
}

RunFacts facts_of(const RunResult& r, const std::string& path, PublishedProfiles& profiles) {
    RunFacts facts;
    facts.path = path;
    facts.tool = Tool::feedbench;
    facts.kind = r.kind == "training" ? kTraining : kCheckpoint;
    facts.workload = r.workload;
    facts.model = folder_model(r.model);
    facts.accelerator = r.accelerator_model.empty() ? "" : ingest::accelerator_name(r.accelerator_model);
    facts.edition = r.edition;
    // A run that failed early knows none of its hosts: 0 is no count.
    if (r.accelerator_count > 0) facts.accelerator_count = r.accelerator_count;
    if (r.rank_count > 0) facts.rank_count = r.rank_count;
    if (!r.hosts.empty()) facts.host_count = static_cast<std::uint32_t>(r.hosts.size());
    double memory_bytes = 0;
    bool all = !r.hosts.empty();
    for (const HostFacts& host : r.hosts) {
        facts.accelerators_of_hosts.push_back(host.accelerator_count);
        facts.ranks_of_hosts.push_back(host.rank_count);
        memory_bytes += static_cast<double>(host.memory_bytes);
        all = all && host.memory_bytes > 0;
    }
    if (all) facts.host_memory_GiB = to_GiB(memory_bytes);
    facts.start_s = ingest::seconds_of_time(r.start_time);
    facts.end_s = ingest::seconds_of_time(r.end_time);
    if (facts.kind == kTraining) {
        facts.file_count = r.num_files_train;
        facts.samples_per_file = r.num_samples_per_file;
        facts.record_length_bytes = r.record_length_bytes;
        facts.batch_size = r.batch_size;
        if (const Metric* au = reporters::row(r.metrics, "au_mean_percentage")) facts.au_percentage = au->value;
        if (const Metric* rate = reporters::row(r.metrics, "samples_per_second_mean"))
            facts.samples_per_second = rate->value;
    }
    take_config(r.config, profiles, facts);
    if (facts.kind == kCheckpoint) {
        facts.checkpoint_writes = facts.checkpoint_reads = 0;
        for (const CheckpointResult& one : r.checkpoints)
            ++*(one.kind == "read" ? facts.checkpoint_reads : facts.checkpoint_writes);
        facts.checkpoint_gap_s = r.checkpoint_gap_s;
    }
    facts.run_seed = r.run_seed;
    facts.results_on_storage = false;
    for (const feedbench::Finding& finding : r.findings)
        if (finding.rule == "results_on_storage_under_test") facts.results_on_storage = true;
    facts.has_ended = r.status == "complete";
    if (!facts.has_ended) facts.invalid_reasons.push_back("the run is " + r.status);
    if (r.virtual_time) facts.invalid_reasons.push_back("a simulation in virtual time, not a measurement");
    if (facts.has_ended && !r.valid)
        for (const std::string& reason : r.invalid_reasons) facts.invalid_reasons.push_back(reason);
    return facts;
}

} // namespace feedbench::submission
