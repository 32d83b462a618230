// Workload kind "training": the main job.
//
// Thread: main (reactor) thread of every rank. Owner: the cli. Units: in the names. Errors: as workload_kind.hpp says.
// Source: DESIGN sections 3 to 5 and 8.
#pragma once

#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

bool accepts_training(const Workload& workload);
Expected<std::vector<PlanRow>> plan_training(const RunRequest& request);
Expected<RunResult> run_training(const RunRequest& request);

} // namespace feedbench::workloads
