#include <array>

#include "workloads/training.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

namespace {
constexpr std::array kKinds{
    WorkloadKind{"training",
                 "epochs of steps over a dataset; evaluation and checkpoints inside training where the file asks",
                 accepts_training, plan_training, run_training},
};
} // namespace

std::span<const WorkloadKind> workload_kinds() { return kKinds; }

Expected<const WorkloadKind*> find_kind(const Workload& workload) {
    for (const WorkloadKind& kind : kKinds)
        if (kind.accepts(workload)) return &kind;
    if (workload.checkpoint_only())
        return config_error(
            "this workload only writes and reads checkpoints; this version prints its plan (feedbench show) but "
            "does not run it",
            workload.source);
    return config_error("this workload asks for nothing that can be run: workflow.train is false", workload.source);
}

} // namespace feedbench::workloads
