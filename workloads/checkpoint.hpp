// The workload kind "checkpoint": checkpoints of a model written and read back without training, as a job of that size
// would write them; any number of ranks in any number of processes, in real or in virtual time.
//
// Thread: main (reactor) thread of every process. Owner: the cli. Units: as RunResult. Errors: as WorkloadKind says.
// Source: DLIO's checkpoint section, rules of editions 2.0 and 3.0; docs/checkpointing.md.
#pragma once

#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

bool accepts_checkpoint(const Workload& workload);
Expected<std::vector<PlanRow>> plan_checkpoint(const RunRequest& request);
Expected<RunResult> run_checkpoint(const RunRequest& request);

} // namespace feedbench::workloads
