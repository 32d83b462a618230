#include "workloads/training_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "generators/content.hpp"
#include "harness/cluster/error_exchange.hpp"
#include "harness/types/random.hpp"
#include "harness/types/units.hpp"

namespace feedbench::workloads {

using engine::IoKind;
using engine::IoOp;
using engine::Task;

TrainingCheckpoints::TrainingCheckpoints(const RunRequest& request, const Placement& placement,
                                         storage::Backend& backend, config::CheckpointSizes sizes)
    : request_(request), workload_(*request.workload), reactor_(*request.reactor), placement_(placement),
      backend_(backend), sizes_(std::move(sizes)), store_(backend, workload_.checkpoint.leftovers == "remove"),
      overlap_(reactor_), written_(reactor_), flights_(reactor_), store_turn_(reactor_, 1),
      next_epoch_(workload_.checkpoint.checkpoint_after_epoch) {
    bytes_ = sizes_.total().total();
    for (std::uint64_t rank = 0; rank < sizes_.rank_count(); ++rank) file_count_ += sizes_.files(rank).size();
}

Expected<std::unique_ptr<TrainingCheckpoints>>
TrainingCheckpoints::make(const RunRequest& request, const Placement& placement, storage::Backend& backend) {
    auto sizes = config::CheckpointSizes::of(*request.workload, placement.total);
    if (!sizes) return sizes.error(); // the same on every rank
    std::unique_ptr<TrainingCheckpoints> made(new TrainingCheckpoints(request, placement, backend, *sizes));
    const bool is_virtual = request.reactor->clock().is_virtual();
    CheckpointStream::Settings settings = CheckpointStream::settings_of(*request.workload);
    settings.makes_content = !is_virtual;
    auto pool = engine::BufferPool::make(CheckpointStream::buffers_for(settings, placement.count, is_virtual));
    const Status status = pool ? made->open_store() : Status(pool.error());
    if (auto agreed = cluster::agree(*request.communicator, status); !agreed) return agreed.error();
    made->pool_ = std::move(*pool);
    made->stream_ = std::make_unique<CheckpointStream>(*request.reactor, backend, *made->pool_, settings);
    return made;
}

Status TrainingCheckpoints::open_store() {
    if (!is_first()) return {};
    if (auto opened = store_.open(true); !opened) return opened;
    return store_.check_space(1, bytes_, {});
}

void TrainingCheckpoints::attach(cluster::StepBarrier& barrier, accelerator::Shared& shared) {
    barrier_ = &barrier;
    shared_ = &shared;
    shared.overlap = &overlap_;
}

std::uint64_t TrainingCheckpoints::steps_until(std::uint64_t step) const {
    const std::int64_t between = workload_.checkpoint.steps_between_checkpoints;
    if (between <= 0) return ~std::uint64_t{0};
    const auto every = static_cast<std::uint64_t>(between);
    return every - step % every;
}

bool TrainingCheckpoints::is_due(std::uint32_t epoch_index, std::uint64_t step, std::uint64_t steps_before,
                                 bool epoch_is_over) const {
    if (workload_.checkpoint.steps_between_checkpoints > 0) return steps_until(steps_before) == step - steps_before;
    return epoch_is_over && next_epoch_ == epoch_index + 1;
}

void TrainingCheckpoints::epoch_ended(std::uint32_t epoch_index) {
    if (workload_.checkpoint.steps_between_checkpoints <= 0 && next_epoch_ == epoch_index + 1)
        next_epoch_ += static_cast<std::int64_t>(workload_.checkpoint.epochs_between_checkpoints);
}

CheckpointStore::ForEachFile TrainingCheckpoints::all_files() const {
    return [this](const std::function<void(const std::string&)>& each) {
        for (std::uint64_t rank = 0; rank < sizes_.rank_count(); ++rank)
            for (const config::CheckpointFile& file : sizes_.files(rank)) each(file.name);
    };
}

void TrainingCheckpoints::describe(Flight& flight) const {
    dataset::CheckpointEntry& entry = flight.entry;
    entry.folder = config::checkpoint_folder_name(flight.epoch_index + 1, flight.step_index);
    entry.model = workload_.model.name;
    entry.run_id = request_.run_id;
    entry.rank_count = sizes_.rank_count();
    entry.file_count = file_count_;
    entry.bytes = bytes_;
    // The same on every rank, and another one for each checkpoint, also of the same name in another run.
    entry.content_seed = stream_seed(request_.run_seed, "checkpoint", taken_.size());
    entry.content_version = generators::kContentVersion;
    entry.fsync = workload_.checkpoint.fsync;
    for (std::uint32_t i = 0; i < placement_.count; ++i) {
        const std::uint32_t rank = placement_.first + i;
        flight.parts.push_back({rank, entry.folder, sizes_.files(rank), entry.content_seed});
    }
    flight.reports.resize(flight.parts.size());
}

Task<bool> TrainingCheckpoints::take(std::uint32_t epoch_index, std::uint64_t step_index) {
    const std::uint64_t due_ns = reactor_.now_ns();
    const bool beside = workload_.checkpoint.asynchronous;
    const bool waits = overlap_.is_anywhere(); // two at once would be more than a real job keeps
    if (waits) co_await wait_for_flight();
    if (barrier_->agreed_stop() != 0) co_return true;
    if (flights_.running() == 0) flights_.clear();
    taken_.push_back(std::make_unique<Flight>());
    Flight& flight = *taken_.back();
    flight.epoch_index = epoch_index;
    flight.step_index = step_index;
    describe(flight);
    flight.waited_for_another = waits;
    co_await prepare(flight);
    flight.start_ns = reactor_.now_ns();
    if (beside) {
        flight.wait_ns = flight.start_ns - due_ns;
        overlap_.begin();
        written_.reset();
        flights_.spawn(fly(flight));
    } else {
        co_await write_parts(flight);
        co_await meet(flight);
        if (is_first()) co_await commit(flight);
        co_await meet(flight);
        flight.wait_ns = reactor_.now_ns() - due_ns;
    }
    standstill_ns_ += flight.wait_ns * placement_.count;
    co_return waits || !beside;
}

// What is about to be replaced is no checkpoint any more, before the first of its files changes.
Task<void> TrainingCheckpoints::prepare(Flight& flight) {
    if (is_first()) {
        if (!store_turn_.try_acquire()) co_await store_turn_.acquire(); // the one before is being listed
        if (auto status = store_.prepare(flight.entry.folder, bytes_, all_files()); !status)
            fail(flight, status.error());
        store_turn_.release();
    }
    co_await meet(flight);
    if (flight.failed || barrier_->agreed_stop() != 0) co_return;
    if (auto made = backend_.make_directories(flight.entry.folder); !made) fail(flight, made.error());
}

Task<void> TrainingCheckpoints::meet(const Flight& flight) {
    const std::uint64_t word = flight.failed ? accelerator::kFailed : accelerator::kGoOn;
    co_await barrier_->arrive_for_all(word);
}

Task<void> TrainingCheckpoints::write_parts(Flight& flight) {
    engine::TaskGroup group(reactor_);
    for (std::size_t i = 0; i < flight.parts.size() && barrier_->agreed_stop() == 0; ++i)
        if (!flight.failed && !flight.parts[i].files.empty()) group.spawn(write_part(flight, i));
    co_await group.join();
    group.clear();
    if (auto settled = backend_.settle(); !settled) fail(flight, settled.error()); // committed without a flush
}

Task<void> TrainingCheckpoints::write_part(Flight& flight, std::size_t index) {
    Status status = co_await stream_->write(flight.parts[index], flight.reports[index], shared_->stopping);
    const std::size_t files = workload_.checkpoint.fsync ? flight.parts[index].files.size() : 0;
    if (status && flight.reports[index].fsync_done != files) // asked for, and not issued: not what it is said to be
        status = internal_error(fmt::format("checkpoint {}: fsync was asked for {} files of rank {} and issued for {}",
                                            flight.entry.folder, files, flight.parts[index].rank,
                                            flight.reports[index].fsync_done));
    if (!status) fail(flight, status.error());
}

Task<void> TrainingCheckpoints::fly(Flight& flight) {
    co_await write_parts(flight);
    overlap_.ended_here();
    written_.set();
    co_await overlap_.wait_for_end();
    if (is_first()) co_await commit(flight);
}

Task<void> TrainingCheckpoints::wait_for_flight() {
    co_await written_.wait();
    co_await barrier_->arrive_for_all();
    overlap_.ended_everywhere();
}

Task<void> TrainingCheckpoints::finish() {
    if (overlap_.is_anywhere()) co_await wait_for_flight();
    co_await flights_.join();
    flights_.clear();
}

void TrainingCheckpoints::fail(Flight& flight, Error error) {
    flight.failed = true;
    const bool was_stopping = std::exchange(shared_->stopping, true);
    // What a stop cut short is its consequence, not its cause: the stop has been raised by whoever wants it.
    if (error.kind == ErrorKind::interrupted || (was_stopping && error.errno_value == ECANCELED)) return;
    if (!shared_->first_error) shared_->first_error = std::move(error);
    barrier_->raise_stop(accelerator::kFailed);
}

// Every rank has written its part, or the run stops: then somebody has not.
Task<void> TrainingCheckpoints::commit(Flight& flight) {
    if (flight.failed || barrier_->agreed_stop() != 0) co_return;
    if (!store_turn_.try_acquire()) co_await store_turn_.acquire();
    flight.entry.hosts = hosts();
    flight.entry.write_end_unix_ns = request_.time_origin_unix_ns + static_cast<std::int64_t>(reactor_.now_ns());
    const std::string list = store_.list_with(flight.entry);
    Status status;
    if (backend_.capabilities().has_content) status = co_await write_list(list);
    list_is_right_ = status.has_value();
    if (status) {
        store_.listed(flight.entry);
        flight.visible_ns = reactor_.now_ns();
        flight.committed = true;
        if (const std::uint64_t most = workload_.checkpoint.keep_last; most > 0) status = store_.keep_newest(most);
    }
    if (!status) fail(flight, status.error());
    store_turn_.release();
}

// By operations, not by a call that blocks: accelerators think meanwhile.
Task<Status> TrainingCheckpoints::write_list(const std::string& text) {
    auto pool = engine::BufferPool::make(
        {.buffer_bytes = round_up(std::uint64_t{text.size()}, 4096), .buffer_count = 1, .huge_pages = false});
    if (!pool) co_return pool.error();
    engine::BufferLease lease = (*pool)->try_lease();
    std::memset(lease.data(), 0, lease.size());
    std::memcpy(lease.data(), text.data(), text.size());
    std::unique_ptr<engine::File> file;
    Status status;
    static constexpr std::array kSteps{IoKind::create, IoKind::write, IoKind::flush, IoKind::commit, IoKind::close};
    for (const IoKind kind : kSteps) {
        if (!status && (kind != IoKind::close || !file)) continue; // without a commit, closing makes it vanish
        IoOp op;
        op.kind = kind;
        op.file = file.get();
        op.path = dataset::kCheckpointIndexName;
        op.size_hint = text.size();
        op.data = lease.data();
        if (kind == IoKind::write) op.bytes = round_up(text.size(), std::max<std::uint64_t>(1, file->alignment_bytes));
        co_await reactor_.perform(backend_, op);
        if (kind == IoKind::create && op.result >= 0) file = std::move(op.opened);
        const std::string path(dataset::kCheckpointIndexName);
        if (status && op.result < 0) status = storage::operation_error(backend_, op, path);
        if (status && kind == IoKind::write && static_cast<std::uint64_t>(op.result) < op.bytes)
            status = storage_error("write", backend_.display_path(path), 0, "only a part of it was written", 0);
    }
    co_return status;
}

void TrainingCheckpoints::forget() {
    first_measured_ = taken_.size();
    standstill_ns_ = 0;
    overlap_.forget_steps();
}

} // namespace feedbench::workloads
