#include "storage/feedfs/tier_copy.hpp"

#include <algorithm>
#include <cerrno>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/record.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint64_t kPieceBytes = 4 << 20;

// Hands all pieces of a file to `each`; the last is filled up with zeros to a whole block.
template <class Each>
Status read_all(const TargetFile& file, const std::string& path, std::uint64_t bytes, BlockMemory& memory, Each each) {
    BlockBuffer buffer = memory.take(std::min(kPieceBytes, (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes));
    for (std::uint64_t offset = 0; offset < bytes; offset += kPieceBytes) {
        const std::uint64_t length = std::min(kPieceBytes, bytes - offset);
        const std::uint64_t whole = (length + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
        const auto read = file.read(offset, {buffer.data(), whole});
        if (!read) return read.error();
        if (*read < length)
            return storage_error("read", path, EIO,
                                 "the segment ends after " + std::to_string(offset + *read) + " bytes, expected " +
                                     std::to_string(bytes),
                                 static_cast<std::int64_t>(offset + *read));
        std::fill(buffer.data() + length, buffer.data() + whole, std::byte{0});
        if (Status ok = each(offset, std::span<const std::byte>(buffer.data(), whole)); !ok) return ok;
    }
    return {};
}

Status write_copy(const SegmentCopy& copy, BlockMemory& memory, std::uint32_t& crc) {
    auto from = copy.from->open(copy.name);
    if (!from) return from.error();
    auto to = copy.to->create(copy.name, copy.bytes);
    if (!to && to.error().errno_value == EEXIST) {
        if (Status ok = copy.to->remove(copy.name); !ok) return ok;
        to = copy.to->create(copy.name, copy.bytes);
    }
    if (!to) return to.error();
    Status copied = read_all(**from, copy.from->config().place + "/" + copy.name, copy.bytes, memory,
                             [&](std::uint64_t offset, std::span<const std::byte> piece) {
                                 crc = crc32c(piece, crc);
                                 return (*to)->write(offset, {&piece, 1});
                             });
    if (!copied) return copied;
    if (Status ok = (*to)->finish(copy.bytes); !ok) return ok;
    return (*to)->sync();
}

} // namespace

Status copy_segment(const SegmentCopy& copy, BlockMemory& memory) {
    std::uint32_t written = 0, found = 0;
    const std::string path = copy.to->config().place + "/" + copy.name;
    if (Status ok = write_copy(copy, memory, written); !ok) return ok;
    auto back = copy.to->open(copy.name);
    if (!back) return back.error();
    const auto size = (*back)->size();
    if (!size) return size.error();
    if (*size != copy.bytes)
        return storage_error("read", path, EIO,
                             "the copy has " + std::to_string(*size) + " bytes, expected " +
                                 std::to_string(copy.bytes));
    Status read =
        read_all(**back, path, copy.bytes, memory, [&](std::uint64_t, std::span<const std::byte> piece) -> Status {
            found = crc32c(piece, found);
            return {};
        });
    if (read && found != written)
        return storage_error("read", path, EIO, "the copy that was read back is not what was written");
    return read;
}

} // namespace feedbench::feedfs
