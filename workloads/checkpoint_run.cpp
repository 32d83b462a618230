#include "workloads/checkpoint_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/config/load_yaml.hpp"
#include "harness/probes/process_start.hpp"
#include "harness/types/units.hpp"
#include "workloads/message.hpp"

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
      slices_(counters_, start_ns_, request.reactor->clock().is_virtual() ? nullptr : engine::process_cpu_ns),
      last_progress_ns_(start_ns_) {}

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
    co_await barrier_.arrive_for_all(stop);
    if (stopped()) co_return;
    // Each process for itself: a folder that the first one made may not be seen elsewhere at once, or not be shared.
    if (auto made = backend_.make_directories(entry.folder); !made) stop = fail(made.error());
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
    if (workload_.checkpoint.keep_last > 0)
        if (auto kept = keep_newest(workload_.checkpoint.keep_last); !kept) stop = fail(kept.error());
    co_await barrier_.arrive_for_all(stop != 0 ? stop : first_error_ ? accelerator::kFailed : accelerator::kGoOn);
}

Status CheckpointRun::keep_newest(std::uint64_t count) {
    std::vector<std::string> folders;
    Status status;
    if (is_first()) {
        auto unlisted = store_.unlist_all_but(count);
        if (unlisted)
            folders = std::move(*unlisted);
        else
            status = unlisted.error();
    }
    folders = unpack_strings(request_.communicator->broadcast(pack_strings(folders)));
    for (const std::string& folder : folders) {
        if (!backend_.capabilities().has_content) continue;
        for (std::uint32_t i = 0; i < plan_.placement.count; ++i)
            for (const config::CheckpointFile& file : plan_.sizes.files(plan_.placement.first + i))
                (void)backend_.remove(folder + "/" + file.name).has_value(); // of another model: not there
        if (!is_first()) (void)backend_.remove(folder).has_value();          // where it is this host's own
    }
    request_.communicator->barrier();
    if (!is_first()) return status;
    for (const std::string& folder : folders)
        if (auto cleared = store_.clear(folder); !cleared && status) status = cleared.error();
    return status;
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
    if (is_write) // what was committed without a flush: before the checkpoint is said to be there
        if (auto settled = backend_.settle(); !settled) fail(settled.error());
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
    if (status && is_write) status = check_fsyncs(part, report);
    if (!status && status.error().kind != ErrorKind::interrupted) {
        Error error = status.error();
        error.accelerator = part.rank;
        fail(std::move(error));
    }
}

// Asked for by the workload, done as the storage answered: one a file, or the checkpoint is not what it is said to be,
// and does not commit.
Status CheckpointRun::check_fsyncs(const CheckpointPart& part, const PartReport& report) const {
    const std::uint64_t wanted = workload_.checkpoint.fsync ? part.files.size() : 0;
    if (report.fsync_done == wanted) return {};
    return internal_error(fmt::format("checkpoint {}, rank {}: fsync was asked for {} files and issued for {}",
                                      part.folder, part.rank, wanted, report.fsync_done));
}

// From the end of a checkpoint to the start of the next one; a stop ends it.
Task<void> CheckpointRun::pause() {
    const std::uint64_t end_ns = request_.reactor->now_ns() + to_ns(workload_.checkpoint.time_between_checkpoints_s);
    while (!stopping_ && request_.reactor->now_ns() < end_ns)
        co_await request_.reactor->sleep_until(std::min(end_ns, request_.reactor->now_ns() + kHeartbeatNs));
}

} // namespace feedbench::workloads
