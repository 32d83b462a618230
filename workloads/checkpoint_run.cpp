#include "workloads/checkpoint_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cluster/stall_watch.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/probes/process_start.hpp"
#include "harness/types/units.hpp"

namespace feedbench::workloads {

using engine::Task;

namespace {
constexpr std::uint64_t kHeartbeatNs = 100 * kNsPerMs;
} // namespace

CheckpointRun::CheckpointRun(const RunRequest& request, const CheckpointPlan& plan, storage::Backend& backend,
                             engine::BufferPool& pool, CheckpointStore& store)
    : request_(request), workload_(*request.workload), plan_(plan), backend_(backend), store_(store),
      stream_(*request.reactor, backend, pool, plan.settings), cache_(request, backend),
      barrier_(*request.reactor, *request.communicator, 1, accelerator::kFirstStop),
      start_ns_(request.reactor->now_ns()),
      slices_(counters_, start_ns_, request.reactor->clock().is_virtual() ? nullptr : engine::process_cpu_ns) {}

Task<void> CheckpointRun::run() {
    const cluster::Doing doing(request_.communicator->life(), "writing and reading checkpoints");
    request_.reactor->set_heartbeat(kHeartbeatNs, [this] { heartbeat(); });
    request_.reactor->set_rescue([this] { return rescue(); });
    for (std::uint32_t i = 0; i < plan_.write_count && !stopped(); ++i) {
        if (i > 0) co_await pause();
        if (!stopped()) co_await write_one(i);
    }
    if (plan_.read_count > 0 && !stopped()) co_await agree_on_readable();
    for (std::uint32_t i = 0; i < plan_.read_count && !stopped(); ++i) {
        if (i > 0) co_await pause();
        if (!stopped()) co_await read_one(i, plan_.read_count);
    }
    // The last meeting, from which on nobody's stop can ask for another one.
    co_await barrier_.arrive_for_all(accelerator::kEnded);
    request_.reactor->set_heartbeat(0, nullptr);
    request_.reactor->set_rescue(nullptr);
}

dataset::CheckpointEntry CheckpointRun::new_entry(std::uint32_t number) const {
    dataset::CheckpointEntry entry;
    entry.folder = CheckpointPlan::folder_of(number);
    entry.model = workload_.model.name;
    entry.run_id = request_.run_id;
    entry.rank_count = plan_.placement.total;
    entry.file_count = plan_.file_count;
    entry.bytes = plan_.bytes;
    entry.content_seed = stream_seed(request_.run_seed, "checkpoint", number);
    entry.content_version = generators::kContentVersion;
    entry.fsync = workload_.checkpoint.fsync;
    for (const std::uint32_t host : plan_.host_of_rank)
        entry.hosts.push_back(request_.communicator->hosts()[host].name);
    return entry;
}

std::vector<CheckpointPart> CheckpointRun::parts_of(const dataset::CheckpointEntry& entry, bool is_write) const {
    std::vector<CheckpointPart> parts;
    for (std::uint32_t i = 0; i < plan_.placement.count; ++i) {
        const std::uint32_t rank = plan_.placement.first + i;
        parts.push_back(plan_.part(is_write ? rank : plan_.source_of_rank[rank], entry));
    }
    return parts;
}

CheckpointStore::ForEachFile CheckpointRun::files() const {
    return [this](const std::function<void(const std::string&)>& each) {
        for (std::uint32_t r = 0; r < plan_.placement.total; ++r)
            for (const config::CheckpointFile& file : plan_.sizes.files(r)) each(file.name);
    };
}

Task<void> CheckpointRun::write_one(std::uint32_t number) {
    dataset::CheckpointEntry entry = new_entry(number);
    std::uint64_t stop = accelerator::kGoOn;
    phase_ = "checkpoint write";
    shown_index_ = number;
    shown_count_ = plan_.write_count;
    if (is_first()) { // again before each: who else writes there?
        unfinished_ = entry.folder;
        if (auto ready = store_.prepare(entry.folder, plan_.bytes, files()); !ready) stop = fail(ready.error());
    }
    cache_.begin({}, true);
    co_await barrier_.arrive_for_all(stop);
    if (stopped()) co_return;
    Moved moved;
    const std::vector<CheckpointPart> parts = parts_of(entry, true);
    co_await move_parts(parts, true, moved);
    if (stopped()) co_return;
    if (is_first()) { // all ranks have committed their files
        entry.write_end_unix_ns = unix_now_ns();
        if (auto committed = store_.commit(entry); !committed)
            stop = fail(committed.error());
        else
            unfinished_.clear();
    }
    moved.visible_ns = request_.reactor->now_ns();
    co_await barrier_.arrive_for_all(stop);
    if (stopped()) co_return;
    gather(entry, true, number, moved);
    if (is_first() && workload_.checkpoint.keep_last > 0)
        if (auto kept = store_.keep_newest(workload_.checkpoint.keep_last); !kept) stop = fail(kept.error());
    co_await barrier_.arrive_for_all(stop != 0 ? stop : first_error_ ? accelerator::kFailed : accelerator::kGoOn);
}

// The newest that are committed, in the order in which they were written. All processes hear of them.
Task<void> CheckpointRun::agree_on_readable() {
    std::uint64_t stop = accelerator::kGoOn;
    std::string text;
    if (is_first()) {
        dataset::CheckpointIndex index = store_.index();
        if (!backend_.capabilities().has_content && index.committed.empty()) // what would lie there if it kept anything
            for (std::uint32_t i = 0; i < plan_.read_count; ++i) index.add(new_entry(i));
        auto chosen = choose_readable(plan_, workload_, std::move(index), backend_.display_path(""));
        if (chosen) {
            note_gap(chosen->committed.back());
            text = dataset::to_json(*chosen);
        } else
            stop = fail(chosen.error());
    }
    co_await barrier_.arrive_for_all(stop);
    if (stopped()) co_return;
    auto heard = dataset::parse_checkpoint_index(request_.communicator->broadcast(text), "rank 0");
    if (heard)
        readable_ = std::move(heard->committed);
    else
        stop = fail(heard.error());
    co_await barrier_.arrive_for_all(stop);
}

// In one run from the last write's end to the first read; else to the start of this process, which mpirun started
// together with all others.
void CheckpointRun::note_gap(const dataset::CheckpointEntry& newest) {
    if (newest.write_end_unix_ns == 0) return;
    double gap_s = seconds_signed(unix_now_ns() - newest.write_end_unix_ns);
    if (plan_.write_count == 0 && !request_.reactor->clock().is_virtual()) {
        const auto age_s = probes::process_age_s({});
        if (!age_s) return;
        gap_s -= *age_s;
    }
    gap_s_ = gap_s;
}

std::int64_t CheckpointRun::unix_now_ns() const {
    return request_.time_origin_unix_ns + static_cast<std::int64_t>(request_.reactor->now_ns());
}

Task<void> CheckpointRun::read_one(std::uint32_t number, std::uint32_t count) {
    const dataset::CheckpointEntry& entry = readable_[number];
    const std::vector<CheckpointPart> parts = parts_of(entry, false);
    phase_ = "checkpoint read";
    shown_index_ = number;
    shown_count_ = count;
    if (workload_.reader.drop_cache != "off") {
        co_await cache_.drop(parts, stopping_);
        co_await barrier_.arrive_for_all(); // what is asked about next may be another process's to drop
        if (stopped()) co_return;
    }
    cache_.begin(parts, false);
    co_await barrier_.arrive_for_all();
    if (stopped()) co_return;
    Moved moved;
    co_await move_parts(parts, false, moved);
    if (stopped()) co_return;
    moved.visible_ns = request_.reactor->now_ns();
    gather(entry, false, number, moved);
}

// All parts of this process side by side, and the meeting of all processes after it.
Task<void> CheckpointRun::move_parts(const std::vector<CheckpointPart>& parts, bool is_write, Moved& moved) {
    moved.parts.resize(parts.size());
    moved.cpu = probes::cpu_mark({});
    moved.start_ns = request_.reactor->now_ns();
    engine::TaskGroup group(*request_.reactor);
    for (std::size_t i = 0; i < parts.size(); ++i) group.spawn(move_part(parts[i], is_write, moved.parts[i]));
    co_await group.join();
    group.clear();
    if (!start_to_first_byte_s_ && !request_.reactor->clock().is_virtual())
        if (const auto age_s = probes::process_age_s({}); age_s && moved.parts.front().first_byte_ns > 0) {
            std::uint64_t first_ns = ~std::uint64_t{0};
            for (const PartReport& part : moved.parts)
                if (part.first_byte_ns > 0) first_ns = std::min(first_ns, part.first_byte_ns);
            start_to_first_byte_s_ = *age_s - seconds(request_.reactor->now_ns() - first_ns);
        }
    moved.tally = stream_.take_tally();
    counters_.bytes = bytes_before_ += moved.tally.bytes;
    counters_.reads = pieces_before_ += moved.tally.pieces;
    co_await barrier_.arrive_for_all(first_error_ ? accelerator::kFailed : accelerator::kGoOn);
}

Task<void> CheckpointRun::move_part(const CheckpointPart& part, bool is_write, PartReport& report) {
    Status status;
    if (is_write)
        status = co_await stream_.write(part, report, stopping_);
    else
        status = co_await stream_.read(part, report, stopping_);
    if (!status && status.error().kind != ErrorKind::interrupted) {
        Error error = status.error();
        error.accelerator = part.rank;
        fail(std::move(error));
    }
}

// From the end of a checkpoint to the start of the next one; a stop ends it.
Task<void> CheckpointRun::pause() {
    const std::uint64_t end_ns = request_.reactor->now_ns() + to_ns(workload_.checkpoint.time_between_checkpoints_s);
    while (!stopping_ && request_.reactor->now_ns() < end_ns)
        co_await request_.reactor->sleep_until(std::min(end_ns, request_.reactor->now_ns() + kHeartbeatNs));
}

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
    engine::Reactor& reactor = *request_.reactor;
    if (reactor.in_flight() == 0 || reactor.completion_count() == rescued_at_completion_) return false;
    rescued_at_completion_ = reactor.completion_count();
    if (barrier_.check_stop() == 0)
        fail({.kind = ErrorKind::stalled,
              .message =
                  "no event can ever come; outstanding:" + cluster::describe_outstanding(reactor, reactor.now_ns()),
              .operation = {},
              .path = {},
              .host = {}});
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
