// What looks on while checkpoints are moved: slices, signals, other processes' stops, stalls of virtual time, progress.
#include <algorithm>

#include "harness/types/units.hpp"
#include "workloads/checkpoint_run.hpp"

namespace feedbench::workloads {

std::vector<Slice> CheckpointRun::last_slices() {
    slices_.finish(request_.reactor->now_ns());
    return slices_.take();
}

std::uint64_t CheckpointRun::fail(Error error) {
    // What ends because of another failure is not the reason of it.
    if (!first_error_ && error.errno_value != ECANCELED) first_error_ = error;
    if (!first_error_) first_error_ = std::move(error);
    stopping_ = true;
    barrier_.raise_stop(accelerator::kFailed);
    return accelerator::kFailed;
}

void CheckpointRun::stop_moving() {
    stopping_ = is_cancelled_ = true;
    backend_.cancel_pending();
}

void CheckpointRun::heartbeat() {
    const std::uint64_t now = request_.reactor->now_ns();
    counters_.bytes = bytes_before_ + stream_.tally().bytes;
    counters_.reads = pieces_before_ + stream_.tally().pieces;
    counters_.in_flight = stream_.tally().in_flight;
    slices_.advance(now);
    if (request_.signal && *request_.signal != 0) barrier_.raise_stop(accelerator::kInterrupted);
    if (barrier_.check_stop() != 0 && !is_cancelled_) stop_moving();
    show_progress(now);
}

// Virtual time: what stalls is a deadlock that is seen at once; it is reported, cancelled and drained.
bool CheckpointRun::rescue() {
    if (!deadlock_.can_cancel()) return false;
    if (barrier_.check_stop() == 0) fail(deadlock_.error());
    stop_moving();
    return true;
}

void CheckpointRun::show_progress(std::uint64_t now) {
    if (!request_.observer || now - last_progress_ns_ < 500 * kNsPerMs) return;
    const double share = static_cast<double>(plan_.placement.total) / plan_.placement.count;
    const std::uint64_t total = plan_.bytes * (plan_.write_count + plan_.read_count);
    const auto done = [&](std::uint64_t mine) {
        return std::min(total, static_cast<std::uint64_t>(static_cast<double>(mine) * share));
    };
    Progress progress;
    progress.phase = phase_;
    progress.epoch_index = shown_index_;
    progress.epoch_count = shown_count_;
    progress.unit = "bytes";
    progress.done = done(counters_.bytes);
    progress.total = total;
    progress.elapsed_s = seconds(now - start_ns_);
    if (progress.done > 0)
        progress.eta_s =
            progress.elapsed_s * static_cast<double>(total - progress.done) / static_cast<double>(progress.done);
    progress.MB_per_second_now =
        to_MB(static_cast<double>(progress.done - std::min(progress.done, done(last_bytes_)))) /
        seconds(now - last_progress_ns_);
    last_progress_ns_ = now;
    last_bytes_ = counters_.bytes;
    request_.observer->on_progress(progress);
}

} // namespace feedbench::workloads
