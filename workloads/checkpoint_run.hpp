// One process's part of a checkpoint run: checkpoints written one after another, then read back, and what is gathered
// of each at rank 0.
//
// Thread: reactor thread. Owner: run_checkpoint. Units: ns of this process's clock until they are gathered, bytes.
// Errors: a failure on any rank is agreed at once, and every process leaves by the same door; what was being written
// did not commit. Source: DESIGN sections 8, 10; STYLE section 3 (cancel, drain, destroy).
#pragma once

#include "harness/accelerator/accelerator.hpp"
#include "harness/cluster/stall_watch.hpp"
#include "harness/probes/cpu.hpp"
#include "workloads/checkpoint_cache.hpp"
#include "workloads/checkpoint_setup.hpp"
#include "workloads/checkpoint_store.hpp"
#include "workloads/live.hpp"

namespace feedbench::workloads {

class CheckpointRun {
  public:
    CheckpointRun(const RunRequest& request, const CheckpointPlan& plan, storage::Backend& backend,
                  engine::BufferPool& pool, CheckpointStore& store);

    // The whole run; comes back on every process with the same stop reason.
    engine::Task<void> run();

    accelerator::StopReason stop_reason() const { return static_cast<accelerator::StopReason>(barrier_.agreed_stop()); }
    const std::optional<Error>& first_error() const { return first_error_; }
    std::uint64_t bytes_moved() const { return counters_.bytes; }
    std::vector<Slice> last_slices();
    // Rank 0. Of whole checkpoints.
    std::vector<CheckpointResult>& results() { return results_; }
    std::vector<Finding>& findings() { return findings_; }
    const Histogram& piece_latency(bool is_write) const { return is_write ? written_ : read_; }
    const Histogram& fsync_latency() const { return synced_; }
    std::optional<double> gap_s() const { return gap_s_; }
    // From the start of the process to its first byte; nothing: there was none, or the machine does not say.
    std::optional<double> start_to_first_byte_s() const { return start_to_first_byte_s_; }
    // A checkpoint that did not commit; empty: all did. To be abandoned once no process writes any more.
    const std::string& unfinished() const { return unfinished_; }
    // Removes all checkpoints but the newest; collective. Each process removes what its own ranks wrote: the folder may
    // not be shared, and many remove faster than one. Rank 0 hears of what fails.
    Status keep_newest(std::uint64_t count);
    // Names of a checkpoint's files, for the store.
    CheckpointStore::ForEachFile files() const;

  private:
    struct Moved { // one checkpoint, this process's part
        std::vector<PartReport> parts;
        CheckpointTally tally;
        std::uint64_t start_ns = 0, visible_ns = 0;
        probes::CpuMark cpu;
    };

    engine::Task<void> write_one(std::uint32_t number);
    engine::Task<void> read_one(std::uint32_t number, std::uint32_t count);
    engine::Task<void> agree_on_readable();
    engine::Task<void> move_parts(const std::vector<CheckpointPart>& parts, bool is_write, Moved& moved);
    engine::Task<void> move_part(const CheckpointPart& part, bool is_write, PartReport& report);
    Status check_fsyncs(const CheckpointPart& part, const PartReport& report) const;
    engine::Task<void> pause();
    std::vector<CheckpointPart> parts_of(const dataset::CheckpointEntry& entry, bool is_write) const;
    dataset::CheckpointEntry new_entry(std::uint32_t number) const;
    std::int64_t unix_now_ns() const;
    void note_gap(const dataset::CheckpointEntry& newest);
    // checkpoint_gather.cpp
    void gather(const dataset::CheckpointEntry& entry, bool is_write, std::uint32_t number, Moved& moved);
    void warn(const CheckpointResult& result, std::uint32_t number);

    void heartbeat();
    bool rescue();
    void stop_moving();
    void show_progress(std::uint64_t now_ns);
    std::uint64_t fail(Error error);
    bool stopped() const { return barrier_.agreed_stop() != 0; }
    bool is_first() const { return request_.communicator->rank() == 0; }

    const RunRequest& request_;
    const Workload& workload_;
    const CheckpointPlan& plan_;
    storage::Backend& backend_;
    CheckpointStore& store_; // of rank 0
    CheckpointStream stream_;
    CheckpointCache cache_;
    cluster::StepBarrier barrier_;
    loader::LoaderCounters counters_; // for the slices
    std::uint64_t start_ns_;
    SliceRecorder slices_;
    std::optional<Error> first_error_;
    bool stopping_ = false, is_cancelled_ = false;
    std::vector<dataset::CheckpointEntry> readable_; // the same on every process
    std::vector<CheckpointResult> results_;
    std::vector<Finding> findings_;
    Histogram written_, read_, synced_;
    std::optional<double> gap_s_, start_to_first_byte_s_;
    std::string unfinished_;
    // What people are shown.
    std::string_view phase_ = "checkpoint write";
    std::uint32_t shown_index_ = 0, shown_count_ = 0;
    std::uint64_t bytes_before_ = 0, pieces_before_ = 0; // of whole checkpoints, of this process
    std::uint64_t last_progress_ns_ = 0, last_bytes_ = 0;
    cluster::DeadlockWatch deadlock_{*request_.reactor};
};

} // namespace feedbench::workloads
