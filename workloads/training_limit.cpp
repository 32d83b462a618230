// A run that ends by the clock: when measuring begins, when the time is up, and what is said about it.
//
// Source: RunLimit in workload_kind.hpp. Every rank counts from its own start; they agree in the step's meeting, where
// the first of them that has reached the moment speaks for all.
#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "workloads/training_run.hpp"

namespace feedbench::workloads {

namespace {
std::uint64_t later(std::uint64_t time_ns, std::uint64_t by_ns) {
    return by_ns > engine::kNever - time_ns ? engine::kNever : time_ns + by_ns;
}
} // namespace

void TrainingRun::start_limit() {
    const RunLimit& limit = request_.limit;
    const std::uint64_t now = request_.reactor->now_ns();
    settling_ = limit.settle_ns > 0;
    shared_.limit.settled_ns = later(now, limit.settle_ns);
    if (limit.time_ns == 0) return;
    shared_.limit.least_step_count = limit.least_step_count;
    if (!settling_) shared_.limit.up_ns = later(now, limit.time_ns);
    cut_ns_ = later(later(shared_.limit.settled_ns, limit.time_ns), limit.grace_ns);
}

// All that was counted so far is forgotten: metrics are those of the settled part. Loaders and their queues go on.
std::uint64_t TrainingRun::begin_measuring() {
    settling_ = false;
    if (checkpoints_) checkpoints_->forget();
    loader::LoaderCounters fresh;
    fresh.in_flight = counters_.in_flight;
    fresh.stalled_accelerators = counters_.stalled_accelerators;
    fresh.is_detailed = counters_.is_detailed;
    counters_ = std::move(fresh);
    settled_cpu_ = epoch_cpu_ = probes::cpu_mark({});
    start_ns_ = request_.reactor->now_ns();
    measurements_.run_start_ns = start_ns_;
    slices_.restart(start_ns_);
    last_bytes_ = 0;
    if (request_.limit.time_ns > 0) shared_.limit.up_ns = later(start_ns_, request_.limit.time_ns);
    return start_ns_;
}

void TrainingRun::note_limit(std::uint64_t stop) {
    if (request_.communicator->rank() != 0 || (stop != accelerator::kTimeIsUp && stop != accelerator::kCutShort))
        return;
    std::string text = fmt::format("the run ended with its time limit of {:.6g} s, after {} measured steps",
                                   seconds(request_.limit.time_ns), steps_measured_);
    if (stop == accelerator::kCutShort)
        text += fmt::format("; a step that was still under way {:.6g} s later was cut short and is not measured",
                            seconds(request_.limit.grace_ns));
    findings_.push_back({"time_limit", "note", std::move(text), {}});
}

} // namespace feedbench::workloads
