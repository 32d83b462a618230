// Everything a checkpoint run needs before its first byte: who writes which files, how many checkpoints, how much room.
//
// Thread: main thread of every rank. Owner: run_checkpoint. Units: bytes. Errors: whatever cannot be is refused here,
// with the numbers, before storage is touched.
// Source: harness/config/checkpoint_sizes.hpp; DLIO's checkpoint section; DESIGN section 4 (accelerators per process
// are free: a process plays as many checkpoint ranks as it carries accelerators).
#pragma once

#include "harness/config/checkpoint_sizes.hpp"
#include "harness/dataset/checkpoint_index.hpp"
#include "workloads/checkpoint_stream.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

// A rank here is one of the checkpoint's: an accelerator of DESIGN section 1.
struct CheckpointPlan {
    Placement placement;                       // of the ranks over the processes
    std::vector<std::uint32_t> host_of_rank;   // index into Communicator::hosts()
    std::vector<std::uint32_t> source_of_rank; // whose files a rank reads
    config::CheckpointSizes sizes;
    std::uint64_t bytes = 0, file_count = 0; // of one checkpoint
    std::uint32_t write_count = 0, read_count = 0;
    CheckpointStream::Settings settings;
    engine::BufferPool::Layout buffers{};

    // Checkpoints that lie there at once, the one under way included.
    std::uint64_t checkpoints_at_once(const Workload& workload) const;
    // "global_epoch1_step0" for the first.
    static std::string folder_of(std::uint32_t checkpoint_index);
    CheckpointPart part(std::uint32_t rank, const dataset::CheckpointEntry& entry) const;
};

Expected<CheckpointPlan> make_checkpoint_plan(const RunRequest& request);
std::uint64_t memory_bound_bytes(const CheckpointPlan& plan);

// The newest checkpoints of `index` that are to be read, oldest first. An error where there are too few, or one that
// this workload cannot read: rank count, model, content. `place`: the folder, for messages.
Expected<dataset::CheckpointIndex> choose_readable(const CheckpointPlan& plan, const Workload& workload,
                                                   dataset::CheckpointIndex index, const std::string& place);

} // namespace feedbench::workloads
