// A sample result of the kind checkpoint.
#pragma once

#include "harness/metrics/checkpoint_metrics.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::reporters::test {

// Two checkpoints of 100 GiB, in 5 s and in 20 s (case T8), and one read back.
// `r`: as a run of two accelerators on one host describes itself.
inline RunResult checkpoint_run(RunResult r) {
    r.kind = "checkpoint";
    r.workload = r.model = "llama3_8b";
    r.format = "pt";
    r.data_loader.clear();
    r.data_folder = "/ckpt";
    r.num_files_train = r.num_samples_per_file = r.batch_size = r.batch_size_eval = 0;
    r.record_length_bytes = r.think_time_mean_s = r.au_required = 0;
    r.accelerator_count = 2;
    double start_s = 1;
    for (const auto& [kind, duration_s] :
         {std::pair{"write", 5.0}, std::pair{"write", 20.0}, std::pair{"read", 10.0}}) {
        const bool write = kind == std::string("write");
        CheckpointResult c;
        c.kind = kind;
        c.epoch_index = write ? static_cast<std::uint32_t>(r.checkpoints.size()) : 0;
        c.folder = "global_epoch" + std::to_string(c.epoch_index + 1) + "_step0";
        c.bytes = std::uint64_t{100} << 30;
        c.file_count = 4;
        c.start_s = start_s;
        c.duration_s = duration_s;
        c.first_byte_s = 0.005;
        c.data_s = write ? 0.8 * duration_s : duration_s;
        c.synced_s = write ? 0.95 * duration_s : duration_s;
        c.visible_s = duration_s + 0.01;
        c.fsync = write;
        c.fsync_asked_count = c.fsync_done_count = write ? 4 : 0;
        c.fsync_s = write ? 0.15 * duration_s : 0;
        c.committed = true;
        c.content_verified = !write;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const double own_s = duration_s * (rank == 0 ? 0.9 : 1);
            c.ranks.push_back({rank, "client-1", c.bytes / 2, 2, own_s, 0.005, 0.8 * own_s, write ? 0.15 * own_s : 0,
                               write ? 0.02 * own_s : 0, 0.1 * own_s});
        }
        c.hosts = {{"client-1", c.bytes, 9.5, 11, {}}};
        c.hosts[0].cache.source_kind = "block";
        c.hosts[0].cache.source = "vda (ext4 on /ckpt)";
        c.hosts[0].cache.source_bytes = static_cast<double>(c.bytes) * 1.01;
        c.metrics = metrics::checkpoint_rows(c);
        start_s += duration_s + 5;
        r.checkpoints.push_back(c);
    }
    r.checkpoint_gap_s = 5;
    r.metrics = metrics::checkpoint_run_rows(r.checkpoints);
    r.metrics.push_back({"checkpoint_gap_s", "s", 5.0, "", "write_end_to_read_start"});
    r.metrics.push_back({"start_to_first_byte_s", "s", std::nullopt, "not_counted", "process_start_to_first_byte"});
    r.verdict = "storage-bound";
    r.findings = {{"checkpoint_storage", "storage-bound", "Ranks waited for the storage.", {}}};
    return r;
}

} // namespace feedbench::reporters::test
