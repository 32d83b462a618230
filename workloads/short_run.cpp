#include "workloads/short_run.hpp"

#include "harness/types/units.hpp"
#include "workloads/training.hpp"

namespace feedbench::workloads {

Expected<RunResult> run_short(const RunRequest& base, const ShortRun& how) {
    Workload workload = *base.workload;
    workload.workflow.train = true;
    workload.workflow.evaluation = workload.workflow.checkpoint = false;
    workload.train.epochs = 1;
    workload.train.total_training_steps = -1;
    if (how.think_s) {
        workload.train.computation_time = {};
        workload.train.computation_time.mean_s = *how.think_s;
    }
    if (!how.storage.empty()) {
        workload.storage = {};
        workload.dataset.data_folder = how.storage;
    }
    RunRequest request = base;
    request.workload = &workload;
    if (how.accelerator_count > 0) request.accelerator_count = how.accelerator_count;
    request.steps_path.clear();
    request.observer = nullptr;
    request.ceiling_s = how.ceiling_s;
    request.limit.time_ns = std::max<std::uint64_t>(to_ns(how.seconds), 1);
    request.limit.settle_ns = to_ns(how.settle_s);
    request.limit.least_step_count = how.least_step_count;
    request.limit.grace_ns = to_ns(how.grace_s < 0 ? 3 * (how.settle_s + how.seconds) : how.grace_s);
    request.limit.repeat_epoch = true;
    auto result = run_training(request);
    if (!result || result->status == "complete") return result;
    if (!result->errors.empty()) return result->errors.front();
    return Error{.kind = ErrorKind::interrupted, .message = "interrupted", .operation = {}, .path = {}, .host = {}};
}

} // namespace feedbench::workloads
