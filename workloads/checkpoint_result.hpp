// From one finished (or stopped) checkpoint run on every process to one RunResult on rank 0.
//
// Thread: main thread of every process, after the run (gather_checkpoint_run is collective). Owner: run_checkpoint.
// Units: as RunResult. Errors: none. Source: DESIGN sections 8 and 9.
#pragma once

#include "workloads/ceiling.hpp"
#include "workloads/checkpoint_run.hpp"

namespace feedbench::workloads {

struct CheckpointOutcome {
    probes::CpuMark cpu_start;
    std::optional<Error> error; // this process's, then the job's
    accelerator::StopReason stop = accelerator::kGoOn;
    Ceiling ceiling;
    // Rank 0:
    std::vector<HostFacts> hosts;
    std::vector<StorageResult> storages;
    std::vector<Slice> slices;
    std::vector<CheckpointResult> checkpoints;
    std::vector<Finding> findings;
    Histogram written, read, synced;
    std::optional<double> gap_s, start_to_first_byte_s;
};

void gather_checkpoint_run(const RunRequest& request, const CheckpointPlan& plan, CheckpointRun& run,
                           CheckpointOutcome& outcome);
RunResult make_checkpoint_result(const RunRequest& request, const CheckpointPlan& plan, const storage::Backend& backend,
                                 CheckpointOutcome outcome);

} // namespace feedbench::workloads
