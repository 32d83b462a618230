// From one finished (or stopped) training run on every rank to one RunResult on rank 0.
//
// Thread: main thread of every rank, after the run (collective calls). Owner: run_training. Units: as RunResult.
// Errors: a step file that cannot be written is a finding, not the loss of the result.
// Source: DESIGN sections 8 and 9; case T9 (host arrays hold each host's own values).
#pragma once

#include "harness/probes/cpu.hpp"
#include "workloads/ceiling.hpp"
#include "workloads/training_run.hpp"

namespace feedbench::workloads {

struct RunOutcome {
    probes::CpuMark cpu_start;
    std::optional<Error> error; // this rank's, then the job's
    accelerator::StopReason stop = accelerator::kGoOn;
    metrics::TrainingMeasurements measurements; // rank 0
    std::vector<Finding> findings;              // rank 0: of all ranks
    bool samples_lost = false;
    std::optional<metrics::CheckpointCost> checkpoint_cost; // rank 0, where checkpoints are written
    Ceiling ceiling;
    std::vector<StorageResult> storages; // rank 0
};

// Collects hosts, histograms, findings and the step records of all ranks at rank 0.
void gather_run(const RunRequest& request, const TrainingPlan& plan, TrainingRun& run, RunOutcome& outcome);
RunResult make_result(const RunRequest& request, const TrainingPlan& plan, storage::Backend& backend,
                      RunOutcome outcome);

} // namespace feedbench::workloads
