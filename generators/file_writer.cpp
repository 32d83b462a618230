#include "generators/file_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/types/units.hpp"

namespace feedbench::generators {

using engine::IoKind;
using engine::IoOp;
using engine::Task;

struct FileWriter::Open {
    Open(engine::Reactor& reactor, std::uint32_t in_flight) : group(reactor), depth(reactor, in_flight) {}
    std::unique_ptr<engine::File> file;
    std::string path, display_path;
    engine::TaskGroup group;
    engine::Semaphore depth;
    std::optional<Error> error;
    std::uint64_t writes = 0;
};

namespace {
Error failed(const IoOp& op, const std::string& path, std::int64_t offset) {
    return storage_error(std::string(io_kind_name(op.kind)), path, static_cast<int>(-op.result), op.message, offset);
}
} // namespace

Task<Status> FileWriter::write(const FileToWrite& file, WriteTotals& totals, const bool* stop) {
    Open open(reactor_, writes_in_flight_);
    open.path = file.path;
    open.display_path = backend_.display_path(file.path);
    {
        IoOp op;
        op.kind = IoKind::create;
        op.path = open.path;
        op.size_hint = file.file_bytes;
        co_await reactor_.perform(backend_, op);
        if (op.result < 0) co_return failed(op, open.display_path, -1);
        open.file = std::move(op.opened);
    }
    auto status = co_await write_open_file(open, file, totals, stop);
    if (status && file.flush) {
        const std::uint64_t start = reactor_.now_ns();
        status = co_await finish(open, IoKind::flush, 0);
        totals.fsync_ns += reactor_.now_ns() - start;
    }
    if (status) status = co_await finish(open, IoKind::commit, file.file_bytes);
    // Without a commit, closing makes it vanish.
    auto closed = co_await finish(open, IoKind::close, 0);
    open.file.reset();
    if (status) totals.bytes += file.file_bytes;
    totals.writes += open.writes;
    co_return status ? std::move(closed) : std::move(status);
}

Task<Status> FileWriter::finish(Open& open, IoKind kind, std::uint64_t size) {
    IoOp op;
    op.kind = kind;
    op.file = open.file.get();
    op.path = open.path;
    op.size_hint = size;
    co_await reactor_.perform(backend_, op);
    if (op.result < 0) co_return failed(op, open.display_path, -1);
    co_return Status{};
}

Task<Status> FileWriter::write_open_file(Open& open, const FileToWrite& file, WriteTotals& totals, const bool* stop) {
    (void)totals;
    const std::uint64_t buffer_bytes = round_down(pool_.layout().buffer_bytes, open.file->alignment_bytes);
    if (file.patch_limit > buffer_bytes)
        co_return internal_error("a head of " + std::to_string(file.patch_limit) + " bytes does not fit one buffer");
    engine::BufferLease head; // held back until the patches are known
    std::uint64_t head_bytes = 0;
    for (std::uint64_t offset = 0; offset < file.file_bytes && !open.error;) {
        if (stop && *stop) {
            open.error = Error{.kind = ErrorKind::interrupted,
                               .message = "interrupted",
                               .operation = "write",
                               .path = open.display_path,
                               .host = {}};
            break;
        }
        if (!permits_.try_acquire()) co_await permits_.acquire();
        engine::BufferLease lease = pool_.try_lease();
        const std::size_t bytes = file.fill({lease.data(), std::min(buffer_bytes, file.file_bytes - offset)});
        if (bytes == 0) {
            lease.release();
            permits_.release();
            open.error = internal_error(open.display_path + ": the encoder ended after " + std::to_string(offset) +
                                        " of " + std::to_string(file.file_bytes) + " bytes");
            break;
        }
        if (offset == 0 && file.patch_limit > 0) {
            head = std::move(lease);
            head_bytes = bytes;
        } else {
            if (!open.depth.try_acquire()) co_await open.depth.acquire();
            open.group.spawn(write_buffer(open, std::move(lease), offset, bytes));
        }
        offset += bytes;
    }
    if (head) {
        if (!open.error) {
            for (const formats::Patch& patch : file.patches())
                std::memcpy(head.data() + patch.offset, patch.bytes.data(), patch.bytes.size());
            if (!open.depth.try_acquire()) co_await open.depth.acquire();
            open.group.spawn(write_buffer(open, std::move(head), 0, head_bytes));
        } else {
            head.release();
            permits_.release();
        }
    }
    co_await open.group.join();
    open.group.clear();
    if (open.error) co_return *open.error;
    co_return Status{};
}

Task<void> FileWriter::write_buffer(Open& open, engine::BufferLease lease, std::uint64_t offset, std::uint64_t bytes) {
    IoOp op;
    op.kind = IoKind::write;
    op.file = open.file.get();
    op.path = open.path;
    op.offset = offset;
    op.data = lease.data();
    op.bytes = round_up(bytes, open.file->alignment_bytes);
    op.buffer_index = lease.index();
    // Only the last write of a direct file is padded; commit cuts the file to its size.
    if (op.bytes > bytes) std::memset(lease.data() + bytes, 0, op.bytes - bytes);
    co_await reactor_.perform(backend_, op);
    ++open.writes;
    lease.release();
    permits_.release();
    open.depth.release();
    if (!open.error) {
        if (op.result < 0)
            open.error = failed(op, open.display_path, static_cast<std::int64_t>(offset));
        else if (static_cast<std::uint64_t>(op.result) != op.bytes)
            open.error =
                storage_error("write", open.display_path, 0,
                              "wrote " + std::to_string(op.result) + " of " + std::to_string(op.bytes) + " bytes",
                              static_cast<std::int64_t>(offset));
    }
}

} // namespace feedbench::generators
