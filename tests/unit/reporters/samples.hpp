// Sample results, made by the real aggregation from synthetic steps: a run that passes, one that fails, one that was
// interrupted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checkpoint_sample.hpp"
#include "harness/metrics/aggregate.hpp"
#include "storage_sample.hpp"
#include "tests/unit/metrics/step_log.hpp"

namespace feedbench::reporters::test {

inline RunResult described(std::uint32_t accelerator_count, std::uint32_t host_count) {
    RunResult r;
    r.feedbench_version = "0.1.0";
    r.status = "complete";
    r.valid = true;
    r.workload = "unet3d_h100";
    r.model = "unet3d";
    r.accelerator_model = "h100";
    r.framework = "pytorch";
    r.format = "npz";
    r.data_loader = "pytorch";
    r.backend = "posix";
    r.data_folder = "/data/unet3d";
    r.odirect = true;
    r.io_engine = "io_uring";
    r.command_line = "feedbench run unet3d_h100 --accelerators \"4\"";
    r.start_time = "2026-12-31T23:59:50.250000+01:00";
    r.end_time = "2027-01-01T00:00:30.750000+01:00";
    r.run_id = "20261231_235950";
    r.results_folder = "feedbench-results/training/unet3d/run/20261231_235950";
    r.accelerator_count = accelerator_count;
    r.rank_count = host_count;
    r.batch_size = 7;
    r.batch_size_eval = 1;
    r.num_files_train = 168;
    r.num_samples_per_file = 1;
    r.record_length_bytes = 146600628;
    r.think_time_mean_s = 0.323;
    r.au_required = 0.9;
    r.run_seed = 18446744073709551615u;
    r.config = {{"reader.batch_size", "7", "unet3d_h100.yaml:31", ""},
                {"framework", "pytorch", "default", "accepted without effect: \"internal\", to the framework"}};
    return r;
}

inline metrics::TrainingMeasurements measured(std::uint32_t accelerator_count, std::uint32_t host_count) {
    metrics::TrainingMeasurements m;
    m.accelerator_count = accelerator_count;
    m.batch_size = 7;
    m.batch_size_eval = 1;
    m.record_length_bytes = 146600628;
    m.run_start_ns = 5'000'000'000;
    for (std::uint32_t h = 0; h < host_count; ++h) {
        HostFacts host;
        host.name = "client-" + std::to_string(h + 1);
        host.rank_count = 1;
        host.accelerator_count = accelerator_count / host_count;
        host.cpu_count = 64;
        host.cpu_allowed = 31.5;
        host.memory_bytes = std::uint64_t{503} << 30;
        host.cpu_model = "Some CPU, 64 cores";
        host.kernel = "6.1.0";
        host.process_cpu_s = 3.5;
        host.host_cpu_s = 5;
        host.bytes_delivered = 12'000'000'000;
        host.peak_rss_bytes = 300'000'000;
        host.nic_bytes_per_second = 12.5e9;
        if (h == 0) host.memory_bytes_per_second = 180e9;
        m.hosts.push_back(host);
        for (std::uint32_t a = 0; a < host.accelerator_count; ++a) m.host_of_accelerator.push_back(h);
    }
    return m;
}

// What each host counted in one epoch in which all its accelerators took these steps.
inline void add_counts(metrics::TrainingMeasurements& m, std::uint32_t epoch,
                       const std::vector<metrics::test::Step>& steps) {
    for (std::uint32_t h = 0; h < m.hosts.size(); ++h) {
        metrics::EpochCounts counts;
        for (const metrics::test::Step& s : steps) {
            counts.batch_wait.add(metrics::test::ns(s.wait_s), m.hosts[h].accelerator_count);
            counts.think_error.add(40'000 + 1000 * h, m.hosts[h].accelerator_count);
        }
        for (std::uint64_t i = 1; i <= 8; ++i) counts.sample_read_latency.add(i * 30'000'000);
        counts.in_flight_ns = 7'500'000'000;
        counts.client_queue_ns = 125'000'000;
        counts.decode_ns = 500'000'000;
        counts.verify_ns = 1'000'000'000;
        counts.buffer_wait_ns = 250'000'000;
        counts.process_cpu_s = 1.75;
        counts.host_cpu_s = 2.5;
        m.counts.push_back({epoch, false, h, counts.serialise()});
    }
}

// `wait_s` of every step but the first of each epoch, which takes 2 s.
inline void add_epochs(metrics::TrainingMeasurements& m, std::uint32_t epoch_count, double wait_s) {
    using namespace metrics::test;
    const std::uint64_t bytes = 7 * std::uint64_t{146600628};
    double start_s = 5.5;
    for (std::uint32_t e = 0; e < epoch_count; ++e) {
        std::vector<Step> steps(12,
                                {.wait_s = wait_s, .think_s = 0.323, .barrier_s = 0.001, .bytes = bytes, .samples = 7});
        steps[0].wait_s = 2;
        double end_s = start_s;
        for (std::uint32_t a = 0; a < m.accelerator_count; ++a) {
            const auto block = metrics::test::block({a, static_cast<std::uint16_t>(e), 0}, start_s + 0.01 * a, steps);
            end_s = std::max(end_s, static_cast<double>(block.barrier_end_ns_last) / 1e9);
            m.blocks.push_back(block);
        }
        add_counts(m, e, steps);
        metrics::EpochMeasurement epoch;
        epoch.epoch_index = e;
        epoch.start_ns = ns(start_s - 0.25);
        epoch.end_ns = ns(end_s + 0.125);
        epoch.samples_proved = true;
        m.epochs.push_back(epoch);
        start_s = end_s + 0.5;
    }
    for (std::uint64_t i = 0; i < 14; ++i) {
        Slice slice;
        slice.start_ns = i * 1'000'000'000;
        slice.bytes = 3'000'000'000 + i * 10'000'000;
        slice.samples = 20 + i;
        slice.reads = 11000;
        slice.steps = 3;
        slice.stalled_accelerators = i == 3 ? 2 : 0;
        slice.in_flight_reads = 16;
        slice.process_cpu_ns = 250'000'000;
        m.slices.push_back(slice);
    }
}

// One epoch's evidence on every host: the second epoch of the second host came half from its cache.
inline void add_cache_evidence(metrics::TrainingMeasurements& m) {
    for (const metrics::EpochMeasurement& epoch : m.epochs) {
        for (std::uint32_t h = 0; h < m.hosts.size(); ++h) {
            metrics::HostCache one;
            one.epoch_index = epoch.epoch_index;
            one.evaluation = epoch.evaluation;
            one.host_index = h;
            CacheEvidence& e = one.evidence;
            e.bytes_delivered = 24'000'000'000;
            e.source_kind = "block";
            e.source = "nvme0n1 (xfs on /data)";
            if (h == 0)
                e.source_bytes = 24'100'000'000.0;
            else
                e.source_reason = "device statistics cannot be read";
            e.process_read_bytes = epoch.epoch_index == 1 && h == 1 ? 12e9 : 24e9;
            e.sampled_page_count = 4096;
            e.resident_page_count = epoch.epoch_index == 1 && h == 1 ? 2048 : 3;
            e.residency_method = "cachestat";
            e.drop_outcome = h == 0 ? "dropped" : "not permitted";
            e.drop_s = 0.75;
            m.cache_evidence.push_back(one);
        }
    }
}

// What rooms other than metrics put into a result.
inline void add_judgement(RunResult& r) {
    r.ceilings = {{"client-1", 9000, 4.25, 0.05, 3, 99.5}, {"client-2", 8500, 4, 0.0625, 3, std::nullopt}};
    r.scaling = {{2, 99.5, 1500, 0.001, 5, "storage-bound", true, false}, {4, 96.25, 2900, 0.012, 30, "", true, true}};
    r.scaling_stop = "--limit 4 was reached";
    r.findings.push_back({"storage_bound",
                          "storage-bound",
                          "the storage was waited for",
                          {{"ceiling_fraction", "", 0.31, "", "achieved_over_ceiling"},
                           {"source_fraction", "", std::nullopt, "not_counted", "source_over_delivered"}}});
    r.verdict = "storage-bound";
}

inline RunResult passing() {
    using namespace metrics::test;
    RunResult r = described(4, 2);
    r.storages = storages();
    metrics::TrainingMeasurements m = measured(4, 2);
    add_epochs(m, 2, 0.01);
    metrics::EpochMeasurement evaluation;
    evaluation.epoch_index = 1;
    evaluation.evaluation = true;
    evaluation.start_ns = ns(30);
    evaluation.end_ns = ns(33);
    evaluation.samples_proved = true;
    m.epochs.push_back(evaluation);
    for (std::uint32_t a = 0; a < 4; ++a)
        m.blocks.push_back(metrics::test::block(
            {a, 1, kEvaluationBlock}, 30, std::vector<Step>(5, {.wait_s = 0.1, .think_s = 0.3, .bytes = 146600628})));
    CheckpointResult c;
    c.epoch_index = 1;
    c.step_index = 12;
    c.folder = "/ckpt/unet3d";
    c.bytes = std::uint64_t{2} << 30;
    c.file_count = 1;
    c.start_s = 21;
    c.duration_s = 4;
    c.fsync = true;
    c.fsync_s = 1.5;
    c.mode = "sync";
    c.first_byte_s = 0.01;
    c.data_s = 2.4;
    c.synced_s = 3.9;
    c.visible_s = 4;
    c.fsync_asked_count = c.fsync_done_count = 1;
    c.committed = true;
    c.training_wait_s = 16;
    c.metrics = {{"rank_duration_s_max", "s", 3.95, "", "largest"}};
    c.ranks = {{0, "client-1", c.bytes, 1, 3.95, 0.01, 2.39, 1.5, 0.05, 0.25}};
    c.hosts = {{"client-1", c.bytes, 0.6, 1.1, {}}, {"client-2", 0, 0, 0.1, {}}};
    c.hosts[0].cache.source_kind = "block";
    c.hosts[0].cache.source = "vda (ext4 on /ckpt)";
    c.hosts[0].cache.source_bytes = 2147500000.0;
    c.histograms = {{"piece_latency", 2048, 400000, 9000000, 9e5, 8e5, 2e6, 4e6, 8e6, {{400000, 2000}, {8000000, 48}}}};
    m.checkpoints = {c};
    r.checkpoint_gap_s = 12.5;
    r.epoch_count = 2;
    r.num_files_eval = 20;
    add_cache_evidence(m);
    aggregate(m, r);
    return r;
}

inline RunResult failing() {
    RunResult r = described(1, 1);
    metrics::TrainingMeasurements m = measured(1, 1);
    add_epochs(m, 1, 0.4);
    m.epochs[0].dropped_sample_count = 3;
    m.epochs[0].samples_proved = false;
    r.epoch_count = 1;
    r.odirect = false;
    r.results_folder.clear();
    r.findings = {
        {"dataset_fits_memory", "warning", "the dataset (24.6 GB) is smaller than the memory of the host (540.1 GB)"}};
    r.ceiling_reason = "client-2 was not measured";
    add_judgement(r);
    aggregate(m, r);
    return r;
}

inline RunResult interrupted() {
    RunResult r = described(4, 1);
    r.status = "interrupted";
    r.valid = false;
    r.invalid_reasons = {"interrupted", "no epoch was finished"};
    r.end_time.clear();
    Error e = storage_error("read", "/data/unet3d/train/img_007_of_168.npz", 5, "bytes 0 to 262144", 262144);
    e.host = "client-1";
    e.rank = 2;
    r.errors = {e};
    aggregate(measured(4, 1), r);
    return r;
}

inline RunResult checkpoints() {
    RunResult r = described(2, 1);
    r.hosts = measured(2, 1).hosts;
    return checkpoint_run(std::move(r));
}

inline std::vector<std::pair<std::string, RunResult>> samples() {
    return {
        {"passing", passing()}, {"failing", failing()}, {"interrupted", interrupted()}, {"checkpoints", checkpoints()}};
}

} // namespace feedbench::reporters::test
