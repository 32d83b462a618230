#include "reporters/gate/gate_run.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::gate {
namespace {

constexpr std::size_t kFewestParts = 4; // fewer say nothing about how a run varies within itself

std::string number(double value) { return fmt::format("{:.10g}", value); }

std::string configured(const RunResult& result, std::string_view key) {
    for (const ConfigValue& one : result.config)
        if (one.key == key) return one.value;
    return "";
}

std::string formula_of_au(const RunResult& result) {
    const Metric* au = reporters::row(result.metrics, "au_mean_percentage");
    return au == nullptr ? "" : au->formula;
}

// Of a run without checkpoints nothing, so that baselines from before these keys stay readable.
std::vector<Fact> checkpoint_identity(const RunResult& r) {
    if (r.checkpoints.empty())
        return {{"checkpoint_bytes", ""}, {"checkpoint_ranks", ""}, {"checkpoint_fsync", ""}, {"checkpoint_mode", ""}};
    const CheckpointResult& first = r.checkpoints.front();
    return {{"checkpoint_bytes", std::to_string(first.bytes)},
            {"checkpoint_ranks", std::to_string(first.ranks.size())},
            {"checkpoint_fsync", first.fsync ? "yes" : "no"},
            {"checkpoint_mode", first.mode}};
}

// What the storage is, never its parameters: they are what is under test.
std::vector<Fact> identity_of(const RunResult& r) {
    std::vector<Fact> facts{{"kind", r.kind},
                            {"workload", r.workload},
                            {"model", r.model},
                            {"accelerator_model", r.accelerator_model},
                            {"accelerator_count", std::to_string(r.accelerator_count)},
                            {"host_count", std::to_string(r.hosts.size())},
                            {"edition", r.edition},
                            {"formula", formula_of_au(r)},
                            {"backend", r.backend},
                            {"virtual_time", r.virtual_time ? "yes" : "no"},
                            {"format", r.format},
                            {"data_loader", r.data_loader},
                            {"num_files_train", std::to_string(r.num_files_train)},
                            {"num_samples_per_file", std::to_string(r.num_samples_per_file)},
                            {"record_length_bytes", number(r.record_length_bytes)},
                            {"record_length_bytes_stdev", configured(r, "dataset.record_length_bytes_stdev")},
                            {"batch_size", std::to_string(r.batch_size)},
                            {"think_time_s", number(r.think_time_mean_s)},
                            {"epoch_count", std::to_string(r.epoch_count)}};
    for (Fact& one : checkpoint_identity(r)) facts.push_back(std::move(one));
    return facts;
}

std::vector<Fact> surroundings_of(const RunResult& r) {
    std::vector<Fact> facts{{"feedbench_version", r.feedbench_version},
                            {"rank_count", std::to_string(r.rank_count)},
                            {"odirect", r.odirect ? "yes" : "no"},
                            {"io_engine", r.io_engine}};
    for (const std::string_view key : {"reader.read_threads", "reader.prefetch_size", "reader.transfer_size",
                                       "reader.queue_depth", "reader.verify", "reader.drop_cache"})
        if (std::string value = configured(r, key); !value.empty()) facts.push_back({std::string(key), value});
    if (!r.hosts.empty()) {
        facts.push_back({"host", r.hosts.front().name});
        facts.push_back({"cpu_model", r.hosts.front().cpu_model});
        facts.push_back({"cpu_count", std::to_string(r.hosts.front().cpu_count)});
        facts.push_back(
            {"memory_GiB", fmt::format("{:.0f}", to_GiB(static_cast<double>(r.hosts.front().memory_bytes)))});
        facts.push_back({"kernel", r.hosts.front().kernel});
    }
    return facts;
}

// A slice counts where it lies in one block as a whole: the gaps between blocks are no part of a rate.
bool in_a_block(const RunResult& result, const Slice& slice) {
    const double start_s = seconds(slice.start_ns), end_s = start_s + 1;
    for (const EpochResult& epoch : result.epochs)
        for (const BlockResult& block : epoch.blocks)
            if (!epoch.evaluation && start_s >= block.start_s && end_s <= block.end_s) return true;
    return false;
}

void add(GateRun& run, std::string key, std::string source, std::vector<Part> parts) {
    if (parts.size() >= kFewestParts) run.parts.push_back({std::move(key), std::move(source), std::move(parts)});
}

void take_slices(const RunResult& result, GateRun& run) {
    std::vector<Part> rate, cpu;
    for (const Slice& slice : result.slices) {
        if (!in_a_block(result, slice)) continue;
        const auto bytes = static_cast<double>(slice.bytes);
        rate.push_back({to_MB(bytes), 1});
        if (slice.process_cpu_ns > 0) cpu.push_back({seconds(slice.process_cpu_ns), bytes / 1e9});
    }
    add(run, "delivered_MB_per_second", "one-second slices", std::move(rate));
    add(run, "cpu_s_per_GB_process", "one-second slices", std::move(cpu));
}

void take_epochs(const RunResult& result, GateRun& run) {
    struct FromEpoch {
        const char* figure;
        const char* of_epoch;
    };
    constexpr std::array kRows{FromEpoch{"delivered_MB_per_second", "delivered_MB_per_second"},
                               FromEpoch{"au_mean_percentage", "au_percentage"},
                               FromEpoch{"samples_per_second_mean", "samples_per_second"},
                               FromEpoch{"effective_utilization_percentage", "effective_utilization_percentage"}};
    for (const FromEpoch& one : kRows) {
        if (parts_of(run, one.figure) != nullptr) continue;
        std::vector<Part> parts;
        for (const EpochResult& epoch : result.epochs) {
            const Metric* metric = reporters::row(epoch.metrics, one.of_epoch);
            if (!epoch.evaluation && metric != nullptr && metric->value) parts.push_back({*metric->value, 1});
        }
        add(run, one.figure, "epochs", std::move(parts));
    }
    std::vector<Part> waits;
    for (const EpochResult& epoch : result.epochs)
        for (const HistogramData& histogram : epoch.histograms)
            if (!epoch.evaluation && histogram.key == "batch_wait" && histogram.count > 0)
                waits.push_back({histogram.p99_ns / 1e9, 1});
    add(run, "batch_wait_s_p99", "epochs", std::move(waits));
}

void take_checkpoints(const RunResult& result, GateRun& run) {
    std::vector<Part> writes, reads;
    for (const CheckpointResult& one : result.checkpoints)
        if (one.duration_s > 0)
            (one.kind == "read" ? reads : writes).push_back({to_GiB(static_cast<double>(one.bytes)), one.duration_s});
    add(run, "checkpoint_read_GiB_per_second", "checkpoints", std::move(reads));
    const bool alone = result.kind == "checkpoint";
    add(run, alone ? "checkpoint_write_GiB_per_second" : "checkpoint_GiB_per_second", "checkpoints", std::move(writes));
}

// What simulating costs says nothing about what is simulated.
void forget_cpu(std::vector<Metric>& figures) {
    for (Metric& one : figures)
        if (one.formula == "cpu_over_bytes" && one.value) {
            one.value.reset();
            one.reason = "not measured in virtual time";
        }
}

} // namespace

GateRun gate_run(const RunResult& result, const std::string& path) {
    GateRun run;
    run.path = path;
    run.run_id = result.run_id;
    run.start_time = result.start_time;
    run.feedbench_version = result.feedbench_version;
    run.command_line = result.command_line;
    run.valid = result.valid && result.status == "complete";
    run.reasons = result.invalid_reasons;
    if (result.status != "complete") run.reasons.insert(run.reasons.begin(), "the run is " + result.status);
    if (!run.valid && run.reasons.empty()) run.reasons.push_back("it is marked as not valid");
    run.identity = identity_of(result);
    run.surroundings = surroundings_of(result);
    run.figures = result.metrics;
    if (result.virtual_time) forget_cpu(run.figures);
    take_slices(result, run);
    take_epochs(result, run);
    take_checkpoints(result, run);
    return run;
}

void take_finer_parts(GateRun& run, std::vector<Parts> finer) {
    for (Parts& one : finer) {
        if (one.parts.size() < kFewestParts) continue;
        const auto same =
            std::find_if(run.parts.begin(), run.parts.end(), [&](const Parts& p) { return p.key == one.key; });
        if (same == run.parts.end())
            run.parts.push_back(std::move(one));
        else
            *same = std::move(one);
    }
}

const std::vector<std::string>& identity_keys() {
    static const std::vector<std::string> kKeys = [] {
        std::vector<std::string> keys;
        for (const Fact& one : identity_of({})) keys.push_back(one.key);
        return keys;
    }();
    return kKeys;
}

std::string fact(const std::vector<Fact>& facts, std::string_view key) {
    for (const Fact& one : facts)
        if (one.key == key) return one.value;
    return "";
}

const Parts* parts_of(const GateRun& run, std::string_view key) {
    for (const Parts& one : run.parts)
        if (one.key == key) return &one;
    return nullptr;
}

} // namespace feedbench::gate
