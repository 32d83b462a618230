#include "storage/feedfs/extent_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint64_t kBounceBytes = 1 << 20; // of one read that must be copied

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

Error damaged(const Extent& extent, std::uint64_t from, const std::string& message) {
    return storage_error("read", segment_name(extent.segment), EIO, message,
                         static_cast<std::int64_t>(extent.offset + from));
}

} // namespace

Status verify_blocks(const Extent& extent, const std::uint32_t* crcs, std::uint64_t first_block,
                     std::span<const std::byte> payload) {
    for (std::uint64_t block = first_block; !payload.empty(); ++block) {
        const auto piece = payload.first(std::min<std::size_t>(kCrcBlockBytes, payload.size()));
        const std::uint32_t found = crc32c(piece);
        if (found != crcs[block]) {
            char text[160];
            std::snprintf(text, sizeof text,
                          "the data is damaged: CRC32C of %zu bytes is %08x, %08x was written; they are not delivered",
                          piece.size(), found, crcs[block]);
            return damaged(extent, block * kCrcBlockBytes, text);
        }
        payload = payload.subspan(piece.size());
    }
    return {};
}

Status read_extent(const TargetFile& file, const ExtentPart& part, BlockMemory& memory) {
    const Extent& extent = *part.extent;
    const std::uint64_t unit = part.crcs ? kCrcBlockBytes : kBlockBytes;
    BlockBuffer bounce;
    for (std::uint64_t done = 0; done < part.into.size();) {
        const std::uint64_t at = part.from + done, wanted = part.into.size() - done;
        std::byte* const to = part.into.data() + done;
        // Straight into the caller's memory: whole blocks, or to the payload's end where there is room for its padding.
        std::uint64_t direct = 0;
        if (at % unit == 0 && reinterpret_cast<std::uintptr_t>(to) % kBlockBytes == 0) {
            direct = wanted / unit * unit;
            if (at + wanted == extent.payload_bytes && round_up(wanted, kBlockBytes) <= part.room_bytes - done)
                direct = wanted;
        }
        const std::uint64_t from = at / unit * unit;
        const std::uint64_t payload = direct > 0 ? direct
                                                 : std::min({round_up(at + wanted, unit), from + kBounceBytes,
                                                             static_cast<std::uint64_t>(extent.payload_bytes)}) -
                                                       from;
        const std::uint64_t padded = round_up(payload, kBlockBytes);
        if (direct == 0 && bounce.size() < padded) bounce = memory.take(padded);
        std::byte* const memory_for_it = direct > 0 ? to : bounce.data();
        auto got = file.read(extent.offset + from, {memory_for_it, padded});
        if (!got) return got.error();
        if (*got < payload) return damaged(extent, from + *got, "the segment ends within a record");
        if (part.crcs)
            if (auto status = verify_blocks(extent, part.crcs, from / kCrcBlockBytes, {memory_for_it, payload});
                !status)
                return status;
        const std::uint64_t useful = std::min(payload - (at - from), wanted);
        if (direct == 0) std::memcpy(to, bounce.data() + (at - from), useful);
        done += useful;
    }
    return {};
}

} // namespace feedbench::feedfs
