// A training run of a few seconds inside a job, any number of times: the client's ceiling, and the probes of `max`.
//
// Thread: main thread of every rank, all ranks (collective); the reactor and communicator of `base` are used again and
// again. Owner: none; nothing is kept between two runs. Units: in the names. Errors: the same on every rank; a run that
// was interrupted, or that failed, is an error, after which this job runs nothing more (its stop was told to all
// ranks). Source: DESIGN section 8 (client ceiling), issue of `max` (settle time, short probes).
#pragma once

#include <optional>

#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

struct ShortRun {
    std::uint32_t accelerator_count = 0; // 0: as the base run
    std::string storage{};               // URI in place of the workload's data folder; empty: that one
    double seconds = 1;                  // of measurement
    double settle_s = 0;                 // before it; steps that begin in it are not measured
    std::uint64_t least_step_count = 2;  // measured, even if it takes longer: AU leaves out the first
    // A step that is still under way so long after its time is cut short and not measured (then there may be no AU,
    // with the reason, but MB/s of HostFacts::bytes_delivered). < 0: three times (settle_s + seconds).
    double grace_s = -1;
    std::optional<double> think_s{}; // constant think time in place of the workload's
    double ceiling_s = 0;            // the client's ceiling is measured before it for so long; 0: it is not
};

// One epoch, repeated without a seam as long as the time lasts: no evaluation, checkpoints, step limit, steps.h5 or
// observer. The result, on rank 0, is that of a run of this length (epochs[0] from the end of settling on; a
// `time_limit` note in findings); elsewhere only its status.
Expected<RunResult> run_short(const RunRequest& base, const ShortRun& how);

} // namespace feedbench::workloads
