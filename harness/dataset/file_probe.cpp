#include "harness/dataset/file_probe.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "harness/types/units.hpp"

namespace feedbench::dataset {

namespace {

engine::Task<void> perform_on(engine::Reactor& reactor, storage::Backend& backend, engine::IoOp& op) {
    co_await reactor.perform(backend, op);
}

// Performs op to its end; an error only where it could not even be waited for.
Status perform(const Storage& storage, engine::IoOp& op) {
    if (storage.reactor) return storage.reactor->run(perform_on(*storage.reactor, storage.backend, op));
    if (storage.backend.submit(op) == engine::Submit::done) return {};
    return internal_error("a backend that answers later needs a reactor to wait on");
}

struct FreeBuffer {
    void operator()(std::byte* buffer) const { std::free(buffer); }
};

} // namespace

Expected<FileProbe> FileProbe::open(Storage storage, std::string path) {
    engine::IoOp op;
    op.kind = engine::IoKind::open;
    op.path = path;
    if (Status status = perform(storage, op); !status) return status.error();
    if (op.result < 0) return storage::operation_error(storage.backend, op, path);
    return FileProbe(storage, std::move(path), std::move(op.opened));
}

Status FileProbe::read(std::uint64_t offset, std::span<std::byte> out) {
    if (out.empty()) return {};
    if (offset > file_->size_bytes || out.size() > file_->size_bytes - offset)
        return format_error(
            storage_.backend.display_path(path_),
            fmt::format("the file ends at {} bytes, but {} more are wanted here", file_->size_bytes, out.size()),
            static_cast<std::int64_t>(offset));
    const std::uint64_t unit = file_->alignment_bytes;
    const std::uint64_t begin = round_down(offset, unit), end = round_up(offset + out.size(), unit);
    std::unique_ptr<std::byte, FreeBuffer> aligned;
    if (unit > 1) {
        aligned.reset(static_cast<std::byte*>(std::aligned_alloc(unit, end - begin)));
        if (!aligned) return storage_error("read", storage_.backend.display_path(path_), ENOMEM);
    }
    std::byte* const data = aligned ? aligned.get() : out.data();
    const std::uint64_t wanted = offset + out.size() - begin;
    for (std::uint64_t done = 0; done < wanted;) {
        engine::IoOp op;
        op.kind = engine::IoKind::read;
        op.file = file_.get();
        op.path = path_;
        op.offset = begin + done;
        op.data = data + done;
        op.bytes = end - begin - done;
        if (Status status = perform(storage_, op); !status) return status.error();
        if (op.result <= 0) return storage::operation_error(storage_.backend, op, path_);
        done += static_cast<std::uint64_t>(op.result);
        // A short direct read that is not the file's end leaves an offset that cannot be asked for: begin the block
        // again.
        if (done < wanted) done = round_down(done, unit);
        if (done < wanted && static_cast<std::uint64_t>(op.result) < unit)
            return storage_error("read", storage_.backend.display_path(path_), EIO,
                                 "the storage gave fewer bytes than the file has",
                                 static_cast<std::int64_t>(op.offset));
    }
    if (aligned) std::memcpy(out.data(), aligned.get() + (offset - begin), out.size());
    return {};
}

Expected<std::shared_ptr<const formats::IndexBytes>> FileProbe::read_index(const formats::Format& format) const {
    formats::IndexBytes index;
    for (const formats::SideFile& side : format.side_files()) {
        if (side.index_bytes_per_sample == 0) continue;
        Expected<FileProbe> file = open(storage_, formats::side_path(side, path_));
        if (!file) return file.error();
        if (file->size_bytes() > formats::kMaxIndexBytes)
            return format_error(storage_.backend.display_path(file->path_),
                                fmt::format("an index of {} bytes; at most {} can be kept in memory",
                                            file->size_bytes(), formats::kMaxIndexBytes));
        std::vector<std::byte>& bytes = index.emplace_back(file->size_bytes());
        if (Status status = file->read(0, bytes); !status) return status.error();
    }
    return std::make_shared<const formats::IndexBytes>(std::move(index));
}

Expected<FileShape> FileProbe::inspect(const formats::Format& format, const FileShape& expected) {
    formats::ReadRequest request;
    request.path = storage_.backend.display_path(path_);
    request.file_bytes = file_->size_bytes;
    request.shape = expected;
    request.has_content = storage_.backend.capabilities().has_content;
    request.local_path = storage_.backend.local_path(path_);
    if (format.index_bytes_per_sample() != 0 && request.has_content) {
        auto index = read_index(format);
        if (!index) return index.error();
        request.index = std::move(*index);
    }
    return format.inspect(request,
                          [this](std::uint64_t offset, std::span<std::byte> out) { return read(offset, out); });
}

} // namespace feedbench::dataset
