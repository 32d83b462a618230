#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>

#include "storage/feedfs_files.hpp"

namespace feedbench::storage {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

void set_feedfs_error(IoOp& op, const Error& error) {
    op.result = -(error.errno_value != 0 ? error.errno_value : EIO);
    op.message = error.message.empty() && error.path.starts_with('/') ? error.path : error.message; // a target's file
}

namespace {
FeedfsWriteFile& written(IoOp& op) { return static_cast<FeedfsWriteFile&>(*op.file); }
} // namespace

// A write or flush of one file.
struct FeedfsWrites::OpJob final : engine::Job {
    FeedfsWrites* writes = nullptr;
    IoOp* op = nullptr;
    OpJob* next_unused = nullptr;
    void run() override { writes->perform(*op); }
    void finished() override {
        IoOp& done = *op;
        FeedfsWriteFile& file = written(done);
        next_unused = std::exchange(writes->unused_jobs_, this);
        file.is_busy = !file.queued.empty();
        if (file.is_busy) {
            writes->in_pool(*file.queued.front());
            file.queued.pop_front();
        }
        done.sink->completed(done);
    }
};

// One at a time: what is committed meanwhile is the next group.
struct FeedfsWrites::GroupJob final : engine::Job {
    explicit GroupJob(FeedfsWrites& owner) : writes(owner) {}
    void run() override {
        writes.run_group(items, results);
        const std::lock_guard lock(mutex);
        is_done = true;
        done.notify_all();
    }
    void finished() override { writes.group_finished(); }
    void wait() {
        std::unique_lock lock(mutex);
        done.wait(lock, [this] { return is_done; });
    }
    FeedfsWrites& writes;
    std::vector<Item> items;
    std::vector<Status> results;
    bool is_running = false; // from submit to finished()
    std::mutex mutex;
    std::condition_variable done;
    bool is_done = true;
};

FeedfsWrites::FeedfsWrites(feedfs::FileSystem& filesystem, engine::Reactor& reactor, FeedfsSettings settings)
    : filesystem_(filesystem), reactor_(reactor), settings_(settings), group_(std::make_unique<GroupJob>(*this)) {
    timer_.writes = this;
    timer_.fire = group_is_due;
    timer_.late_allowed_ns = kGroupNs;
}

FeedfsWrites::~FeedfsWrites() {
    if (auto untold = settle(); !untold) // whoever writes asks settle() at its end
        std::fprintf(stderr, "feedbench: error: %s\n", untold.error().describe().c_str());
    while (group_->is_running) { // the pool still has to hand it on
        group_->wait();
        (void)reactor_.thread_pool(settings_.threads).poll();
        engine::yield_processor();
    }
    reactor_.cancel_timer(timer_);
}

// Operations of one file wait here and not in the pool, whose threads are for as many files as it has.
Submit FeedfsWrites::in_turn(IoOp& op) {
    FeedfsWriteFile& file = written(op);
    if (file.is_busy)
        file.queued.push_back(&op);
    else
        in_pool(op);
    file.is_busy = true;
    return Submit::pending;
}

void FeedfsWrites::in_pool(IoOp& op) {
    if (!unused_jobs_) {
        op_jobs_.push_back(std::make_unique<OpJob>());
        unused_jobs_ = op_jobs_.back().get();
    }
    OpJob& job = *unused_jobs_;
    unused_jobs_ = std::exchange(job.next_unused, nullptr);
    job.writes = this;
    job.op = &op;
    reactor_.thread_pool(settings_.threads).submit(job);
}

bool FeedfsWrites::is_refused(IoOp& op) const {
    if (!late_error_) return false;
    set_feedfs_error(op, *late_error_);
    op.message = late_error_->path + ": " + late_error_->message;
    return true;
}

void FeedfsWrites::close(IoOp& op) {
    FeedfsWriteFile& file = written(op);
    file.writer.reset();
    if (file.committed) (void)is_refused(op); // who closes what is not committed has an error already
}

Submit FeedfsWrites::write(IoOp& op) {
    if (is_refused(op)) return Submit::done;
    FeedfsWriteFile& file = written(op);
    if ((op.offset | op.bytes) % file.alignment_bytes != 0) {
        op.result = -EINVAL;
        op.message = "offset and length of direct I/O must be multiples of " + std::to_string(file.alignment_bytes);
        return Submit::done;
    }
    file.size_bytes = std::max(file.size_bytes, op.offset + op.bytes);
    if (file.is_busy || op.bytes + op.offset > kSmallBytes / 4) return in_turn(op);
    perform(op); // a copy of a few KiB
    return Submit::done;
}

Submit FeedfsWrites::flush(IoOp& op) { return is_refused(op) ? Submit::done : in_turn(op); }

void FeedfsWrites::perform(IoOp& op) {
    FeedfsWriteFile& file = written(op);
    if (op.kind == IoKind::write) {
        auto status = file.writer->write(op.offset, {op.data, op.bytes});
        if (!status) return set_feedfs_error(op, status.error());
        op.result = static_cast<std::int64_t>(op.bytes);
        return;
    }
    // Nothing is visible before the commit, which brings data and name to stable storage together.
    file.flushed = true;
    op.result = 0;
    // The padding of a direct write is cut now, or the commit would have the last chunk written once more.
    const std::uint64_t size = file.writer->size();
    if (file.planned_bytes > 0 && size > file.planned_bytes && size - file.planned_bytes < file.alignment_bytes)
        if (auto status = file.writer->truncate(file.planned_bytes); !status)
            return set_feedfs_error(op, status.error());
    if (auto status = filesystem_.flush(*file.writer); !status) set_feedfs_error(op, status.error());
}

Submit FeedfsWrites::commit(IoOp& op) {
    FeedfsWriteFile& file = written(op);
    op.result = -EINVAL;
    if (file.committed) {
        op.message = "commit of a file that is not being created";
        return Submit::done;
    }
    if (op.size_hint > file.size_bytes) {
        op.message =
            "only " + std::to_string(file.size_bytes) + " of " + std::to_string(op.size_hint) + " bytes were written";
        return Submit::done;
    }
    if (is_refused(op)) return Submit::done;
    if (file.writer->size() != op.size_hint) // padding of direct writes
        if (auto status = file.writer->truncate(op.size_hint); !status) {
            set_feedfs_error(op, status.error());
            return Submit::done;
        }
    op.result = 0;
    file.size_bytes = op.size_hint;
    file.committed = true;
    const bool is_late = !file.flushed && op.size_hint <= kSmallBytes && late_bytes_ < kWaitingBytesMost;
    if (is_late && !is_directory(file)) {
        add_late(file);
        return Submit::done;
    }
    waiting_.push_back({.owned = {}, .path = {}, .writer = file.writer.get(), .op = &op, .durable = file.flushed});
    if (!group_->is_running) start_group();
    return Submit::pending;
}

bool FeedfsWrites::is_directory(const FeedfsWriteFile& file) const {
    const auto there = filesystem_.lookup(file.parent, file.name);
    return there && there->type == feedfs::InodeType::directory;
}

void FeedfsWrites::add_late(FeedfsWriteFile& file) {
    late_bytes_ += std::max<std::uint64_t>(file.size_bytes, 16 * 1024); // its memory
    late_names_.insert(file.path);
    feedfs::Writer* const writer = file.writer.get();
    waiting_.push_back({.owned = std::move(file.writer),
                        .path = std::move(file.path),
                        .writer = writer,
                        .op = nullptr,
                        .durable = false});
    if (group_->is_running) return;
    if (waiting_.size() >= kGroupFiles || late_bytes_ >= kGroupBytes)
        start_group();
    else if (timer_.heap_position == engine::Timer::kNotQueued) {
        timer_.deadline_ns = reactor_.now_ns() + kGroupNs;
        reactor_.set_timer(timer_);
    }
}

void FeedfsWrites::group_is_due(engine::Timer& timer) {
    FeedfsWrites& self = *static_cast<DueTimer&>(timer).writes;
    if (!self.group_->is_running && !self.waiting_.empty()) self.start_group();
}

void FeedfsWrites::start_group() {
    assert(!group_->is_running);
    group_->items.swap(waiting_);
    waiting_.clear();
    late_bytes_ = 0;
    group_->is_running = true;
    group_->is_done = false;
    reactor_.cancel_timer(timer_);
    reactor_.thread_pool(settings_.threads).submit(*group_);
}

void FeedfsWrites::run_group(std::vector<Item>& items, std::vector<Status>& results) {
    std::vector<feedfs::Writer*> writers;
    writers.reserve(items.size());
    bool durable = false;
    for (const Item& item : items) {
        writers.push_back(item.writer);
        durable = durable || item.durable;
    }
    results = filesystem_.publish(writers, durable ? feedfs::Publish::durable : feedfs::Publish::visible);
    for (Item& item : items) item.owned.reset(); // here, not on the reactor's thread
}

void FeedfsWrites::keep_error(const Item& item, const Status& status) {
    if (status) return;
    if (++late_failures_ > 1) return;
    late_error_ = storage_error("commit", item.path, status.error().errno_value,
                                "could not be published after its commit: " + status.error().describe());
}

void FeedfsWrites::group_finished() {
    std::vector<Item> items;
    std::vector<Status> results;
    items.swap(group_->items);
    results.swap(group_->results);
    group_->is_running = false;
    if (waiting_.empty()) late_names_.clear();
    const bool somebody_waits = std::ranges::any_of(waiting_, [](const Item& item) { return item.op != nullptr; });
    if (somebody_waits || waiting_.size() >= kGroupFiles || late_bytes_ >= kGroupBytes)
        start_group();
    else if (!waiting_.empty()) {
        timer_.deadline_ns = reactor_.now_ns() + kGroupNs;
        reactor_.set_timer(timer_);
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].op) {
            keep_error(items[i], results[i]);
            continue;
        }
        if (!results[i]) {
            set_feedfs_error(*items[i].op, results[i].error());
            items[i].op->message = results[i].error().describe(); // with the segment's place
            written(*items[i].op).committed = false;
        }
        items[i].op->sink->completed(*items[i].op);
    }
}

void FeedfsWrites::settle_name(const std::string& path) {
    if (late_names_.empty() || (!path.empty() && !late_names_.contains(path))) return;
    // A group in the pool holds some of them. Its answers are handed on by the loop, later.
    if (group_->is_running) group_->wait();
    std::vector<Item> late, others;
    for (Item& item : waiting_) (item.op ? others : late).push_back(std::move(item));
    waiting_ = std::move(others);
    late_bytes_ = 0;
    late_names_.clear();
    std::vector<Status> results;
    if (!late.empty()) run_group(late, results);
    for (std::size_t i = 0; i < results.size(); ++i) keep_error(late[i], results[i]);
}

Status FeedfsWrites::settle() {
    settle_name({});
    if (group_->is_running)
        for (std::size_t i = 0; i < group_->items.size(); ++i) {
            if (group_->items[i].op) continue;
            keep_error(group_->items[i], group_->results[i]);
            group_->results[i] = {};
        }
    if (!late_error_) return {};
    Error error = *std::exchange(late_error_, std::nullopt);
    if (const auto others = std::exchange(late_failures_, 0) - 1; others > 0)
        error.message += " (and " + std::to_string(others) + " more files)";
    return error;
}

} // namespace feedbench::storage
