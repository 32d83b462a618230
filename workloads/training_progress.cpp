// What a run shows while it is under way: progress twice a second, and its seconds as they end.
//
// Live figures are those of rank 0 times the ranks' number by accelerators: to ask the others in the middle of a step
// would cost what is being measured. The result has the true sums.
#include <algorithm>
#include <cmath>

#include "harness/types/units.hpp"
#include "workloads/training_run.hpp"

namespace feedbench::workloads {
namespace {

double share_of_rank_0(const TrainingPlan& plan) {
    return static_cast<double>(plan.placement.total) / plan.placement.count;
}

Slice scaled(Slice slice, double share) {
    const auto times = [share](auto& value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(std::llround(static_cast<double>(value) * share));
    };
    times(slice.bytes);
    times(slice.samples);
    times(slice.reads);
    times(slice.steps);
    times(slice.stalled_accelerators);
    times(slice.in_flight_reads);
    times(slice.process_cpu_ns);
    return slice;
}

} // namespace

void TrainingRun::advance_slices(std::uint64_t now) {
    if (!counters_.is_detailed) return;
    const std::size_t closed = slices_.advance(now);
    if (!request_.observer) return;
    for (const Slice& slice : slices_.newest(closed))
        request_.observer->on_slice(scaled(slice, share_of_rank_0(plan_)));
}

void TrainingRun::show_progress(std::uint64_t now) {
    if (!request_.observer || !current_ || now - last_progress_ns_ < 500 * kNsPerMs) return;
    const double share = share_of_rank_0(plan_);
    Progress progress;
    progress.phase = phase_shown_;
    progress.epoch_index = epoch_shown_;
    progress.epoch_count = plan_.epoch_count;
    const std::uint64_t steps = log_.current(0).step_count;
    progress.done = epoch_steps_done_ + steps;
    progress.total = epoch_steps_total_;
    progress.elapsed_s = seconds(now - start_ns_);
    const std::uint64_t done = steps_done_ + (current_->evaluation ? 0 : progress.done);
    if (done > 0)
        progress.eta_s = progress.elapsed_s * static_cast<double>(steps_total_ - std::min(done, steps_total_)) /
                         static_cast<double>(done);
    progress.MB_per_second_now = to_MB(static_cast<double>(counters_.bytes - std::min(last_bytes_, counters_.bytes))) /
                                 seconds(now - last_progress_ns_) * share;
    progress.stalled_accelerators = static_cast<std::uint32_t>(counters_.stalled_accelerators * share);
    const auto& totals = log_.current(0);
    if (totals.step_count > 1 && totals.barrier_end_ns_last > totals.think_end_ns_first)
        progress.au_so_far_percentage = 100.0 * static_cast<double>(totals.think_ns - totals.think_ns_first) /
                                        static_cast<double>(totals.barrier_end_ns_last - totals.think_end_ns_first);
    last_progress_ns_ = now;
    last_bytes_ = counters_.bytes;
    request_.observer->on_progress(progress);
}

} // namespace feedbench::workloads
