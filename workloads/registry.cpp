#include <array>

#include "workloads/checkpoint.hpp"
#include "workloads/training.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

namespace {
constexpr std::array kKinds{
    WorkloadKind{"training",
                 "epochs of steps over a dataset; evaluation and checkpoints inside training where the file asks",
                 accepts_training, plan_training, run_training},
    WorkloadKind{"checkpoint", "checkpoints of a model written and read back, without training", accepts_checkpoint,
                 plan_checkpoint, run_checkpoint},
};
} // namespace

std::span<const WorkloadKind> workload_kinds() { return kKinds; }

Expected<const WorkloadKind*> find_kind(const Workload& workload) {
    for (const WorkloadKind& kind : kKinds)
        if (kind.accepts(workload)) return &kind;
    return config_error(
        "this workload asks for nothing that can be run: workflow.train and workflow.checkpoint are false",
        workload.source);
}

} // namespace feedbench::workloads
