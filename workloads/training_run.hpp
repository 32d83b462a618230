// One rank's part of a training run: epochs, blocks, evaluation, checkpoints, and what is gathered at rank 0.
//
// Thread: reactor thread. Owner: run_training. Units: ns of this rank's clock until they are gathered, bytes.
// Errors: a failure on any rank is agreed at the next step, and every rank leaves by the same door.
// Source: DESIGN sections 3, 5, 8, 10; STYLE section 3 (cancel, drain, destroy).
#pragma once

#include <memory>
#include <vector>

#include "generators/content.hpp"
#include "harness/accelerator/accelerator.hpp"
#include "harness/cluster/stall_watch.hpp"
#include "harness/metrics/aggregate.hpp"
#include "harness/probes/cpu.hpp"
#include "workloads/cache_watch.hpp"
#include "workloads/live.hpp"
#include "workloads/training_checkpoint.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::workloads {

// From the manifest or the workload; seed of the content.
struct DatasetFacts {
    generators::ContentParameters content;
};

class TrainingRun {
  public:
    TrainingRun(const RunRequest& request, const TrainingPlan& plan, storage::Backend& backend,
                TrainingCheckpoints* checkpoints, engine::BufferPool& pool, generators::ContentParameters content);

    // The whole run; comes back on every rank with the same stop reason.
    engine::Task<void> run();

    accelerator::StopReason stop_reason() const { return static_cast<accelerator::StopReason>(barrier_.agreed_stop()); }
    const std::optional<Error>& first_error() const { return shared_.first_error; }
    const loader::LoaderCounters& counters() const { return counters_; }
    accelerator::StepLog& log() { return log_; }
    // What has not been gathered yet: seconds after the last epoch, and the one that the run's end cut short.
    std::vector<Slice> last_slices();
    // Rank 0: what all ranks measured, on rank 0's clock.
    metrics::TrainingMeasurements& measurements() { return measurements_; }
    std::int64_t clock_offset_ns() const { return clock_offset_ns_; } // to add to this rank's times
    std::vector<Finding>& findings() { return findings_; }
    bool samples_lost() const { return samples_lost_; }
    // Where measuring began only after a time of settling.
    const std::optional<probes::CpuMark>& settled_cpu() const { return settled_cpu_; }

  private:
    // A set (train or valid) with its accelerators' loaders.
    struct Phase {
        const SetPlan* set = nullptr;
        loader::LoaderContext context;
        std::unique_ptr<loader::IndexCache> indexes;
        std::vector<std::unique_ptr<accelerator::Accelerator>> accelerators;
        const TimeDistribution* think = nullptr;
        bool evaluation = false;
    };
    struct EpochTally {
        std::uint64_t start_ns = 0, end_ns = 0, dropped = 0;
        std::uint64_t step_count = 0; // finished, measured or not
        accelerator::Consumed consumed, expected;
    };

    Phase make_phase(const SetPlan& set, bool evaluation);
    engine::Task<void> run_epoch(Phase& phase, std::uint32_t epoch_index);
    // Answers how many steps were finished; moves start_ns to where measuring began, if it began here.
    engine::Task<std::uint64_t> run_blocks(Phase& phase, std::uint32_t epoch_index, std::uint64_t step_count,
                                           std::uint64_t& start_ns);
    engine::Task<void> run_block(Phase& phase, accelerator::Block block);
    // Answers whether the block goes on: no checkpoint was due, or training did not wait for it.
    engine::Task<bool> take_checkpoint(std::uint32_t epoch_index, std::uint64_t step, std::uint64_t steps_before,
                                       bool epoch_is_over);
    // training_limit.cpp
    void start_limit();
    std::uint64_t begin_measuring();
    void note_limit(std::uint64_t stop);
    // training_cache.cpp
    engine::Task<void> begin_evidence(const Phase& phase, const EpochPlan& plan);
    void gather_evidence(const Phase& phase, std::uint32_t epoch_index);
    // training_gather.cpp
    void synchronise_clocks();
    std::string take_counts();
    void tell_observer();
    void gather_epoch(const Phase& phase, std::uint32_t epoch_index, const EpochTally& tally);

    void heartbeat();
    bool rescue();
    void stop_loaders(); // and thinking: every accelerator arrives at the barrier soon
    // training_progress.cpp
    void advance_slices(std::uint64_t now_ns);
    void show_progress(std::uint64_t now_ns);
    void fail(Error error);
    bool stopped() const { return barrier_.agreed_stop() != 0; }
    // What was taken in is what the finished steps say: nobody was cut short.
    bool is_whole() const { return barrier_.agreed_stop() <= accelerator::kTimeIsUp; }

    const RunRequest& request_;
    const Workload& workload_;
    const TrainingPlan& plan_;
    storage::Backend& backend_;
    TrainingCheckpoints* checkpoints_; // nullptr: this workload writes none
    engine::BufferPool& pool_;
    engine::Semaphore buffers_;
    generators::Content content_;
    loader::LoaderCounters counters_;
    cluster::StepBarrier barrier_;
    accelerator::StepLog log_;
    accelerator::Shared shared_;
    std::uint64_t start_ns_, ended_ns_ = 0; // of what is measured
    SliceRecorder slices_;
    probes::CpuMark epoch_cpu_; // when the epoch under way began
    CacheWatch cache_;
    std::vector<DropWarnings> drop_warnings_; // one a host; rank 0
    metrics::TrainingMeasurements measurements_;
    std::vector<Finding> findings_;
    std::int64_t clock_offset_ns_ = 0;
    Phase* current_ = nullptr;
    bool loaders_stopped_ = false, samples_lost_ = false;
    cluster::DeadlockWatch deadlock_{*request_.reactor};
    bool settling_ = false;
    std::uint64_t cut_ns_ = engine::kNever; // when a step that is still under way is cut short
    std::uint64_t steps_measured_ = 0;      // of an accelerator
    std::optional<probes::CpuMark> settled_cpu_;
    std::uint64_t steps_done_ = 0, steps_total_ = 0; // of ended epochs; for total_training_steps and the ETA
    std::uint64_t epoch_steps_done_ = 0, epoch_steps_total_ = 0; // of this epoch, before the current block; in all
    std::uint32_t epoch_shown_ = 0;
    std::string_view phase_shown_ = "epoch";
    std::uint64_t last_progress_ns_ = 0, last_bytes_ = 0;
};

} // namespace feedbench::workloads
