#include <algorithm>
#include <cerrno>

#include "storage/feedfs/writer.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::uint64_t kRunBytes = 4 << 20;   // small records that are written in one call
constexpr std::uint64_t kLargeBytes = 1 << 20; // from this on records go round the targets, one by one
constexpr std::size_t kRunRecords = 1024;

// Records that lie behind each other in memory are one piece: the disk gets fewer and longer ones.
void add_piece(std::vector<std::span<const std::byte>>& pieces, std::span<const std::byte> record) {
    if (!pieces.empty() && pieces.back().data() + pieces.back().size() == record.data())
        pieces.back() = {pieces.back().data(), pieces.back().size() + record.size()};
    else
        pieces.push_back(record);
}

// Into one segment; where its target turns out to be full, into one of another.
Status store_run(const FileContext& context, std::span<PendingRecord> records, std::uint64_t bytes, bool is_large) {
    std::vector<std::span<const std::byte>> pieces;
    Status status;
    for (std::size_t attempt = 0; attempt < context.store->targets().size(); ++attempt) {
        auto place = context.segments->allocate(bytes, is_large || attempt > 0);
        if (!place) return place.error();
        pieces.clear();
        std::uint64_t offset = place->offset;
        for (PendingRecord& record : records) {
            record.footer.segment = place->segment;
            record.footer.offset = offset;
            finish_record(record.record, record.footer);
            add_piece(pieces, record.record);
            offset += record.record.size();
        }
        status = context.segments->write(*place, place->offset, pieces);
        if (status) {
            std::size_t holders = 0;
            for (const PendingRecord& record : records)
                if (record.writer->stored(record.chunk, record.footer.segment, record.footer.offset)) ++holders;
            context.segments->hold(place->segment, holders);
        }
        context.segments->let_go({&place->segment, 1});
        if (status || status.error().errno_value != ENOSPC) return status;
    }
    return status;
}

} // namespace

Status store_records(const FileContext& context, std::span<PendingRecord> records) {
    const std::uint64_t run_bytes = std::min(kRunBytes, context.volume->segment_bytes);
    while (!records.empty()) {
        std::size_t count = 1;
        std::uint64_t bytes = records[0].record.size();
        const bool is_large = bytes >= kLargeBytes;
        while (!is_large && count < std::min(records.size(), kRunRecords) &&
               bytes + records[count].record.size() <= run_bytes && records[count].record.size() < kLargeBytes)
            bytes += records[count++].record.size();
        if (auto status = store_run(context, records.first(count), bytes, is_large); !status) return status;
        records = records.subspan(count);
    }
    return {};
}

} // namespace feedbench::feedfs
