#include "workloads/checkpoint_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/types/units.hpp"

namespace feedbench::workloads {

using engine::IoKind;
using engine::IoOp;
using engine::Task;

namespace {

constexpr std::uint64_t kPoolBytesMost = 64 * kMiB;
constexpr unsigned kFileBits = 24; // files of a rank; above them its number

Error stopped(const std::string& path, const char* operation) {
    return {.kind = ErrorKind::interrupted, .message = "interrupted", .operation = operation, .path = path, .host = {}};
}

} // namespace

// A file under way, and the part that it belongs to.
struct CheckpointStream::Open {
    Open(engine::Reactor& reactor, const CheckpointPart& of, PartReport& to, const bool& end, IoKind direction)
        : part(of), report(to), stop(end), kind(direction), group(reactor), content({of.content_seed, 0, 0}) {}
    void begin(std::size_t file_index, const storage::Backend& backend) {
        const config::CheckpointFile& one = part.files[file_index];
        path = part.folder + "/" + one.name;
        display_path = backend.display_path(path);
        file_bytes = one.bytes;
        content_index = (std::uint64_t{part.rank} << kFileBits) + file_index;
        next = 0;
    }
    bool is_over() const { return error || next >= file_bytes; }

    const CheckpointPart& part;
    PartReport& report;
    const bool& stop;
    const IoKind kind; // of its pieces
    engine::TaskGroup group;
    generators::Content content;
    std::unique_ptr<engine::File> file;
    std::string path, display_path;
    std::uint64_t file_bytes = 0, content_index = 0, next = 0; // next: where the next piece begins
    std::optional<Error> error;
};

CheckpointStream::Settings CheckpointStream::settings_of(const Workload& workload) {
    Settings settings;
    settings.piece_bytes = workload.checkpoint.transfer_size;
    settings.queue_depth = workload.checkpoint.queue_depth;
    settings.fsync = workload.checkpoint.fsync;
    settings.verifies = workload.reader.verify == Verify::checksum || workload.reader.verify == Verify::content;
    return settings;
}

engine::BufferPool::Layout CheckpointStream::buffers_for(const Settings& settings, std::uint32_t part_count,
                                                         bool is_virtual) {
    const std::uint64_t wanted = std::uint64_t{settings.queue_depth} * part_count;
    engine::BufferPool::Layout layout{};
    layout.buffer_bytes = round_up(settings.piece_bytes, 4096);
    layout.overlapping = is_virtual; // nothing lands anywhere
    const std::uint64_t most =
        is_virtual ? ~std::uint32_t{0} : std::max<std::uint64_t>(kPoolBytesMost / layout.buffer_bytes, 2);
    layout.buffer_count = static_cast<std::uint32_t>(std::min(wanted, most));
    return layout;
}

Task<Status> CheckpointStream::write(const CheckpointPart& part, PartReport& report, const bool& stop) {
    Open open(reactor_, part, report, stop, IoKind::write);
    report.rank = part.rank;
    report.start_ns = report.data_ns = report.synced_ns = reactor_.now_ns();
    Status status;
    for (std::size_t i = 0; i < part.files.size() && status; ++i) {
        open.begin(i, backend_);
        status = co_await write_file(open, report);
    }
    report.end_ns = reactor_.now_ns();
    co_return status;
}

Task<Status> CheckpointStream::write_file(Open& open, PartReport& report) {
    {
        IoOp op;
        op.kind = IoKind::create;
        op.path = open.path;
        op.size_hint = open.file_bytes;
        op.client = open.part.rank;
        co_await reactor_.perform(backend_, op);
        if (op.result < 0) co_return storage::operation_error(backend_, op, open.path);
        open.file = std::move(op.opened);
    }
    co_await move_all(open);
    Status status = open.error ? Status(*open.error) : Status{};
    report.data_ns = report.synced_ns = reactor_.now_ns();
    if (status && settings_.fsync) {
        ++report.fsync_asked;
        status = co_await finish(open, IoKind::flush);
        report.synced_ns = reactor_.now_ns();
        if (status) ++report.fsync_done; // what a completed flush operation says, not what was asked for
        report.fsync_ns += report.synced_ns - report.data_ns;
        tally_.fsync_latency.add(report.synced_ns - report.data_ns);
    }
    const std::uint64_t commit_start_ns = reactor_.now_ns();
    if (status) status = co_await finish(open, IoKind::commit);
    auto closed = co_await finish(open, IoKind::close); // without a commit, closing makes it vanish
    open.file.reset();
    report.commit_ns += reactor_.now_ns() - commit_start_ns;
    if (status && closed) {
        report.bytes += open.file_bytes;
        ++report.file_count;
    }
    co_return status ? std::move(closed) : std::move(status);
}

Task<Status> CheckpointStream::read(const CheckpointPart& part, PartReport& report, const bool& stop) {
    Open open(reactor_, part, report, stop, IoKind::read);
    report.rank = part.rank;
    report.start_ns = report.data_ns = report.synced_ns = reactor_.now_ns();
    Status status;
    for (std::size_t i = 0; i < part.files.size() && status; ++i) {
        open.begin(i, backend_);
        status = co_await read_file(open, report);
    }
    report.end_ns = report.synced_ns = reactor_.now_ns();
    co_return status;
}

Task<Status> CheckpointStream::read_file(Open& open, PartReport& report) {
    {
        IoOp op;
        op.kind = IoKind::open;
        op.path = open.path;
        op.size_hint = open.file_bytes;
        op.client = open.part.rank;
        co_await reactor_.perform(backend_, op);
        if (op.result < 0) {
            if (op.result == -ENOENT)
                op.message = "the checkpoint " + open.part.folder + " was committed with this file, and it is missing";
            co_return storage::operation_error(backend_, op, open.path);
        }
        open.file = std::move(op.opened);
    }
    Status status;
    if (open.file->size_bytes != open.file_bytes)
        status = format_error(open.display_path, fmt::format("the file has {} bytes, the checkpoint {} has it with {}",
                                                             open.file->size_bytes, open.part.folder, open.file_bytes));
    else {
        co_await move_all(open);
        if (open.error) status = *open.error;
    }
    report.data_ns = reactor_.now_ns();
    auto closed = co_await finish(open, IoKind::close);
    open.file.reset();
    if (status && closed) {
        report.bytes += open.file_bytes;
        ++report.file_count;
    }
    co_return status ? std::move(closed) : std::move(status);
}

// Comes back once nothing of the file is in flight.
Task<void> CheckpointStream::move_all(Open& open) {
    const std::uint64_t start_ns = reactor_.now_ns(), content_start_ns = content_ns_;
    const std::uint64_t pieces = (open.file_bytes + settings_.piece_bytes - 1) / settings_.piece_bytes;
    const std::uint64_t movers = std::min<std::uint64_t>(settings_.queue_depth, pieces);
    for (std::uint64_t i = 0; i < movers; ++i) open.group.spawn(move_pieces(open));
    co_await open.group.join();
    open.group.clear();
    open.report.transfer_ns += reactor_.now_ns() - start_ns;
    open.report.content_ns += content_ns_ - content_start_ns;
}

// One of several that share the file: takes the next piece, makes it, writes it; or reads it and compares.
Task<void> CheckpointStream::move_pieces(Open& open) {
    const bool writes = open.kind == IoKind::write;
    const std::uint64_t unit = std::max<std::uint64_t>(open.file->alignment_bytes, 1);
    const std::uint64_t piece_bytes = std::max(round_down(settings_.piece_bytes, unit), unit);
    while (!open.is_over()) {
        if (!buffers_.try_acquire()) co_await buffers_.acquire();
        if (open.stop && !open.error) open.error = stopped(open.display_path, writes ? "write" : "read");
        if (open.is_over()) {
            buffers_.release();
            break;
        }
        engine::BufferLease lease = pool_.try_lease();
        IoOp op;
        op.kind = open.kind;
        op.file = open.file.get();
        op.path = open.path;
        op.offset = open.next;
        op.data = lease.data();
        op.client = open.part.rank;
        op.buffer_index = settings_.is_registered ? lease.index() : -1;
        const std::uint64_t bytes = std::min(piece_bytes, open.file_bytes - op.offset);
        op.bytes = round_up(bytes, unit); // only the last piece of a direct file is padded; commit cuts it off
        open.next += bytes;
        if (writes && settings_.makes_content) {
            const std::uint64_t start_ns = reactor_.now_ns();
            open.content.fill(open.content_index, op.offset, {lease.data(), bytes});
            if (op.bytes > bytes) std::memset(lease.data() + bytes, 0, op.bytes - bytes);
            content_ns_ += reactor_.now_ns() - start_ns;
        }
        ++tally_.in_flight;
        co_await reactor_.perform(backend_, op);
        --tally_.in_flight;
        check_piece(open, op, bytes, lease);
        lease.release();
        buffers_.release();
        // What was answered at once has not let anybody else run: timers, other parts, accelerators.
        if (op.complete_ns == 0) co_await reactor_.yield();
    }
}

void CheckpointStream::check_piece(Open& open, const IoOp& op, std::uint64_t bytes, const engine::BufferLease& lease) {
    const std::uint64_t now_ns = reactor_.now_ns();
    if (open.report.first_byte_ns == 0) open.report.first_byte_ns = now_ns;
    if (open.error) return;
    const std::uint64_t expected = op.kind == IoKind::write ? op.bytes : bytes;
    if (op.result < 0) {
        open.error = storage::operation_error(backend_, op, open.path);
        return;
    }
    if (static_cast<std::uint64_t>(op.result) < expected) {
        open.error = storage_error(
            op.kind == IoKind::write ? "write" : "read", open.display_path, 0,
            fmt::format("{} of {} bytes were {}", op.result, expected, op.kind == IoKind::write ? "written" : "there"),
            static_cast<std::int64_t>(op.offset));
        return;
    }
    tally_.bytes += bytes;
    ++tally_.pieces;
    tally_.piece_latency.add(op.complete_ns > op.submit_ns ? op.complete_ns - op.submit_ns : 0);
    if (op.kind == IoKind::write || !settings_.verifies || !backend_.capabilities().has_content) return;
    const std::size_t same = open.content.first_difference(open.content_index, op.offset, {lease.data(), bytes});
    content_ns_ += reactor_.now_ns() - now_ns;
    if (same == bytes) return;
    open.error = format_error(open.display_path,
                              "the content differs from what the checkpoint " + open.part.folder + " was written with",
                              static_cast<std::int64_t>(op.offset + same));
}

Task<Status> CheckpointStream::finish(Open& open, IoKind kind) {
    IoOp op;
    op.kind = kind;
    op.file = open.file.get();
    op.path = open.path;
    op.size_hint = open.file_bytes;
    op.client = open.part.rank;
    co_await reactor_.perform(backend_, op);
    if (op.result < 0) co_return storage::operation_error(backend_, op, open.path);
    co_return Status{};
}

} // namespace feedbench::workloads
