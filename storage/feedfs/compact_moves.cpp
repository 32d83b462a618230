// compact: live records of segments that are to be emptied, group by group into new ones.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/compact_run.hpp"
#include "storage/feedfs/record.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint64_t kGroupBytes = 16 << 20;  // payload that is moved by one sync and one transaction
constexpr std::uint64_t kMoveRunBytes = 4 << 20; // small records that are written by one call
constexpr std::size_t kEntriesOfView = 10'000;   // a view that is kept long keeps LMDB from using pages again

} // namespace

void Compaction::consider(std::string_view key, std::string_view value, bool is_page) {
    MovedItem item;
    item.is_page = is_page;
    if (is_page) {
        auto page = decode_extent_page(value);
        if (!page) return; // fsck's business; what it names stays live, so that its segments are not retired
        item.list = std::move(*page);
        item.inode_id = id_of_key(key);
    } else {
        if (auto decoded = decode_inode(value, item.inode); !decoded || item.inode.extents_in_pages) return;
        item.list = std::move(item.inode.content);
        item.inode_id = item.inode.id;
    }
    std::uint64_t bytes = 0;
    for (const Extent& extent : item.list.extents)
        if (must_move(extent)) {
            bytes += extent.payload_bytes;
            --records_to_find_;
        }
    if (bytes == 0) return;
    item.key = key;
    item.value = value;
    group_.push_back(std::move(item));
    group_bytes_ += bytes;
}

Status Compaction::collect(const KeyRange& range, bool are_pages) {
    KeyRange rest = range;
    for (bool complete = records_to_find_ <= 0; !complete && goes_on();) {
        {
            auto view = metadata_->read();
            if (!view) return view.error();
            auto end = (*view)->scan(rest, kEntriesOfView, [&](std::string_view key, std::string_view value) {
                consider(key, value, are_pages);
                ++report_.entries_looked_at;
                return group_bytes_ < kGroupBytes && records_to_find_ > 0;
            });
            if (!end) return end.error();
            complete = end->complete || records_to_find_ <= 0;
            rest.from = std::move(end->next_key);
        }
        if (group_bytes_ >= kGroupBytes || complete)
            if (auto status = move_group(); !status) return status;
    }
    return {};
}

// false: damaged; it stays where it is.
Expected<bool> Compaction::read_record(const MovedItem& item, const Extent& extent, std::span<std::byte> record) {
    auto file = volume_.segments().open(extent.segment);
    if (!file) {
        if (file.error().errno_value == ENODEV || file.error().errno_value == EIO) return false;
        return file.error();
    }
    auto read = (*file)->read(extent.offset, record);
    if (!read || *read < extent.payload_bytes) return false;
    std::vector<std::uint32_t> crcs;
    append_block_crcs(record.first(extent.payload_bytes), crcs);
    const auto expected = std::span(item.list.block_crcs).subspan(extent.crc_first, extent.crc_count());
    return std::equal(crcs.begin(), crcs.end(), expected.begin(), expected.end());
}

Status Compaction::move_run(std::span<const RecordMove> moves) {
    std::uint64_t bytes = 0;
    for (const RecordMove& move : moves)
        bytes += record_bytes(group_[move.item].list.extents[move.extent].payload_bytes);
    BlockBuffer buffer = volume_.memory().take(bytes);
    std::vector<const RecordMove*> read;
    std::uint64_t used = 0;
    for (const RecordMove& move : moves) {
        const MovedItem& item = group_[move.item];
        const Extent& extent = item.list.extents[move.extent];
        const std::uint64_t record = record_bytes(extent.payload_bytes);
        auto whole = read_record(item, extent, {buffer.data() + used, record});
        if (!whole) return whole.error();
        if (!*whole) {
            ++report_.records_damaged;
            group_is_damaged_[move.item] = true;
            candidates_.at(extent.segment).is_damaged = true;
            continue;
        }
        read.push_back(&move);
        used += record;
    }
    if (read.empty()) return {};
    auto place = writer_->allocate(used, moves.size() == 1);
    if (!place) return place.error();
    std::uint64_t at = 0;
    for (const RecordMove* move : read) {
        MovedItem& item = group_[move->item];
        Extent& extent = item.list.extents[move->extent];
        RecordFooter footer;
        footer.volume_id = volume_.volume().volume_id();
        footer.inode = item.inode_id;
        footer.file_offset = move->file_offset;
        footer.segment = place->segment;
        footer.offset = place->offset + at;
        footer.payload_bytes = extent.payload_bytes;
        footer.payload_crc = crc_of_crcs(
            std::span<const std::uint32_t>(item.list.block_crcs).subspan(extent.crc_first, extent.crc_count()));
        const std::uint64_t record = record_bytes(extent.payload_bytes);
        finish_record({buffer.data() + at, record}, footer);
        extent.segment = footer.segment;
        extent.offset = footer.offset;
        at += record;
    }
    const std::span<const std::byte> pieces[] = {{buffer.data(), used}};
    auto status = writer_->write(*place, place->offset, pieces);
    writer_->let_go({&place->segment, 1});
    return status;
}

Status Compaction::move_group() {
    group_is_damaged_.assign(group_.size(), false);
    std::vector<RecordMove> moves;
    for (std::size_t i = 0; i < group_.size(); ++i) {
        std::uint64_t file_offset = group_[i].list.file_offset;
        for (std::size_t e = 0; e < group_[i].list.extents.size(); ++e) {
            const Extent& extent = group_[i].list.extents[e];
            if (must_move(extent)) moves.push_back({i, e, file_offset});
            file_offset += extent.payload_bytes;
        }
    }
    const auto bytes_of = [&](const RecordMove& move) {
        return record_bytes(group_[move.item].list.extents[move.extent].payload_bytes);
    };
    const std::uint64_t run_bytes = std::min(kMoveRunBytes, volume_.volume().segment_bytes);
    for (std::size_t first = 0, end = 0; first < moves.size(); first = end) {
        std::uint64_t bytes = bytes_of(moves[first]);
        for (end = first + 1; end < moves.size() && bytes + bytes_of(moves[end]) <= run_bytes; ++end)
            bytes += bytes_of(moves[end]);
        if (auto status = move_run(std::span(moves).subspan(first, end - first)); !status) return status;
    }
    if (!moves.empty())
        if (auto status = name_moved(); !status) return status;
    group_.clear();
    group_bytes_ = 0;
    return {};
}

// What was copied is durable, then it is named where its entry still says what it said.
Status Compaction::name_moved() {
    if (auto status = writer_->sync(); !status) return status;
    std::vector<Batch> batches;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> moved; // records and bytes, by batch
    for (std::size_t i = 0; i < group_.size(); ++i) {
        if (group_is_damaged_[i]) continue; // all of an item, or nothing
        MovedItem& item = group_[i];
        ExtentList before;
        if (item.is_page)
            before = *decode_extent_page(item.value);
        else {
            Inode inode;
            (void)decode_inode(item.value, inode); // as when it was considered
            before = std::move(inode.content);
        }
        Batch batch;
        batch.require_equals(item.key, item.value);
        lease_->require(batch);
        add_live(batch, before, -1);
        add_live(batch, item.list, 1);
        std::uint64_t records = 0, bytes = 0;
        for (std::size_t e = 0; e < before.extents.size(); ++e)
            if (before.extents[e] != item.list.extents[e]) {
                ++records;
                bytes += before.extents[e].payload_bytes;
            }
        if (item.is_page) {
            batch.put(item.key, encode_extent_page(item.list));
        } else {
            item.inode.content = std::move(item.list);
            batch.put(item.key, encode_inode(item.inode));
        }
        batches.push_back(std::move(batch));
        moved.emplace_back(records, bytes);
    }
    // Last: a sealed segment with nothing live in it yet would be another compaction's to retire.
    Batch rows;
    SealedRows sealed = writer_->add_sealed_rows(rows);
    lease_->require(rows);
    batches.push_back(std::move(rows));
    auto outcomes = metadata_->apply(batches, Durability::durable);
    if (!outcomes) return outcomes.error();
    if (!outcomes->back().applied()) return lease_->lost();
    sealed.applied();
    for (std::size_t i = 0; i < moved.size(); ++i) {
        if ((*outcomes)[i].applied()) {
            report_.records_moved += moved[i].first;
            report_.bytes_moved += moved[i].second;
        } else {
            report_.records_changed += moved[i].first;
        }
    }
    return {};
}

} // namespace feedbench::feedfs
