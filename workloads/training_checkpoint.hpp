// Checkpoints inside training: when one is due, that every rank writes its part, and that training waits for it or goes
// on beside it.
//
// Thread: reactor thread; make and gather are collective. Owner: run_training; backend and pool outlive it.
// Units: bytes, ns of this rank's clock until they are gathered. Errors: a failed part stops the run as a failed read
// does; what did not commit is not listed (dataset/checkpoint_index.hpp), and its files are gone after clean_up.
// Source: DLIO's checkpoint section: after an epoch (checkpoint_after_epoch, then every epochs_between_checkpoints) or
// every steps_between_checkpoints steps of an epoch. A rank of the checkpoint is an accelerator of the run: how many of
// them a process plays changes no file. checkpoint.asynchronous: docs/checkpointing.md.
#pragma once

#include <memory>
#include <vector>

#include "harness/accelerator/accelerator.hpp"
#include "harness/config/checkpoint_sizes.hpp"
#include "harness/metrics/checkpoint_cost.hpp"
#include "workloads/checkpoint_store.hpp"
#include "workloads/checkpoint_stream.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

class TrainingCheckpoints {
  public:
    // Before the run, collective: opens the store, asks for room for one checkpoint, makes the pool.
    static Expected<std::unique_ptr<TrainingCheckpoints>> make(const RunRequest& request, const Placement& placement,
                                                               storage::Backend& backend);
    TrainingCheckpoints(const TrainingCheckpoints&) = delete;
    TrainingCheckpoints& operator=(const TrainingCheckpoints&) = delete;

    // The run that they belong to; both outlive every call but gather and clean_up.
    void attach(cluster::StepBarrier& barrier, accelerator::Shared& shared);

    // When: all ranks come to the same answers.
    std::uint64_t steps_until(std::uint64_t step) const; // from this step of an epoch on; the largest number: never
    bool is_due(std::uint32_t epoch_index, std::uint64_t step, std::uint64_t steps_before, bool epoch_is_over) const;
    void epoch_ended(std::uint32_t epoch_index);

    // All ranks, between two steps. Answers whether training stood still: then a new block begins.
    engine::Task<bool> take(std::uint32_t epoch_index, std::uint64_t step_index);
    // All ranks, after the last step: what is still being written is finished, or given up where the run stops.
    engine::Task<void> finish();
    void cancel() { backend_.cancel_pending(); }
    // What was so far is not measured.
    void forget();

    // After the run; rank 0 gets the checkpoints that committed, in order, and what all of them cost.
    struct Gathered {
        std::vector<CheckpointResult> checkpoints;
        metrics::CheckpointCost cost;
    };
    Gathered gather(std::int64_t clock_offset_ns, std::uint64_t run_start_ns);
    // After the gather, rank 0: files of checkpoints that did not commit go (checkpoint.leftovers), and where nobody
    // wants them those that did (checkpoint.keep_files).
    void clean_up();

  private:
    struct Flight {
        std::uint32_t epoch_index = 0;
        std::uint64_t step_index = 0;
        dataset::CheckpointEntry entry;
        std::vector<CheckpointPart> parts; // of this rank's accelerators
        std::vector<PartReport> reports;
        std::uint64_t start_ns = 0, visible_ns = 0; // visible: rank 0
        std::uint64_t wait_ns = 0;                  // training stood still for it
        bool waited_for_another = false;
        bool failed = false, committed = false; // committed: rank 0
    };

    TrainingCheckpoints(const RunRequest& request, const Placement& placement, storage::Backend& backend,
                        config::CheckpointSizes sizes);
    bool is_first() const { return request_.communicator->rank() == 0; }
    Status open_store();
    void describe(Flight& flight) const;
    CheckpointStore::ForEachFile all_files() const;
    std::vector<std::string> hosts() const; // for the list
    engine::Task<void> prepare(Flight& flight);
    engine::Task<void> write_parts(Flight& flight);
    engine::Task<void> write_part(Flight& flight, std::size_t index);
    engine::Task<void> fly(Flight& flight); // asynchronous: beside the training
    engine::Task<void> wait_for_flight();
    engine::Task<void> meet(const Flight& flight);
    engine::Task<void> commit(Flight& flight);                // rank 0
    engine::Task<Status> write_list(const std::string& text); // of committed checkpoints
    void fail(Flight& flight, Error error);

    const RunRequest& request_;
    const Workload& workload_;
    engine::Reactor& reactor_;
    const Placement placement_;
    storage::Backend& backend_;
    config::CheckpointSizes sizes_;
    std::uint64_t bytes_ = 0, file_count_ = 0; // of one checkpoint
    CheckpointStore store_;                    // rank 0
    std::unique_ptr<engine::BufferPool> pool_;
    std::unique_ptr<CheckpointStream> stream_;
    cluster::StepBarrier* barrier_ = nullptr;
    accelerator::Shared* shared_ = nullptr;
    accelerator::Overlap overlap_;
    engine::Event written_; // this rank's parts of the flight under way
    engine::TaskGroup flights_;
    engine::Semaphore store_turn_; // rank 0: the list is written by one at a time
    std::vector<std::unique_ptr<Flight>> taken_;
    std::size_t first_measured_ = 0; // of them
    std::int64_t next_epoch_ = 0;
    bool list_is_right_ = true;       // rank 0: an attempt to write it failed; what is there now?
    std::uint64_t standstill_ns_ = 0; // of this rank's accelerators together
};

} // namespace feedbench::workloads
