// SegmentWriter: how segments end, and how their rows come to say so.
#include <algorithm>
#include <cassert>

#include "storage/feedfs/lease_keeper.hpp"
#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

namespace {

// A look comes every few seconds. What holds little waits longer, so that a file now and then does not make an object
// each.
constexpr std::uint64_t kIdlePart = 16; // of a segment: enough to be uploaded after one quiet look
constexpr unsigned kIdleLooks = 12;     // for less than that

} // namespace

SealedRows::~SealedRows() {
    if (!segments_.empty()) writer_->rows_are(segments_, SegmentWriter::SealedRow::State::doubtful);
}

void SealedRows::applied() {
    if (!segments_.empty()) writer_->rows_are_written(segments_);
    segments_.clear();
}

void SealedRows::refused() {
    if (!segments_.empty()) writer_->rows_are(segments_, SegmentWriter::SealedRow::State::waiting);
    segments_.clear();
}

SegmentRecord SegmentWriter::row_of(std::uint32_t target) const {
    SegmentRecord record;
    record.target = target;
    record.lease = lease_.id();
    return record;
}

void SegmentWriter::add_row(const SealedRow& row, Batch& batch) const {
    if (row.is_gone)
        batch.erase(segment_key(row.segment));
    else
        batch.put(segment_key(row.segment), encode(row.record));
}

void SegmentWriter::note_records(const Place& place) {
    for (Current& current : current_)
        if (current.file == place.file) current.has_records = true;
    for (SealedRow& row : sealed_)
        if (row.segment == place.segment) row.has_records = true;
}

// Of a full target every attempt to write would leave a file and a row, until compaction.
void SegmentWriter::discard_empty() {
    for (SealedRow& row : sealed_)
        if (!row.has_records && !row.is_gone && !holds_.contains(row.segment) &&
            row.state == SealedRow::State::waiting) {
            Target* const target = store_.target(row.record.target);
            if (!target || !target->remove(segment_name(row.segment))) {
                row.has_records = true; // as good as: compaction removes it
                continue;
            }
            store_.forget(row.segment);
            std::erase_if(unsynced_, [&](const Unsynced& unsynced) { return unsynced.segment == row.segment; });
            row.is_gone = true;
        }
    std::erase_if(sealed_, [&](const SealedRow& row) {
        return row.is_gone && row.state == SealedRow::State::waiting && discard(row);
    });
}

// Where the metadata is full, too, the row goes with a later transaction.
bool SegmentWriter::discard(const SealedRow& row) {
    Batch batch;
    batch.require_equals(segment_key(row.segment), encode(row_of(row.record.target)));
    add_row(row, batch);
    return metadata_->apply(batch, Durability::relaxed).has_value(); // not applied: repair was here
}

SealedRows SegmentWriter::add_sealed_rows(Batch& batch) {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> segments;
    for (SealedRow& row : sealed_) {
        if (row.state != SealedRow::State::waiting || holds_.contains(row.segment)) continue;
        add_row(row, batch);
        row.state = SealedRow::State::under_way;
        segments.push_back(row.segment);
    }
    return {*this, std::move(segments)};
}

void SegmentWriter::rows_are(std::span<const std::uint64_t> segments, SealedRow::State state) {
    const std::lock_guard lock(mutex_);
    for (SealedRow& row : sealed_)
        if (std::ranges::find(segments, row.segment) != segments.end()) row.state = state;
}

void SegmentWriter::rows_are_written(std::span<const std::uint64_t> segments) {
    const std::lock_guard lock(mutex_);
    std::erase_if(sealed_,
                  [&](const SealedRow& row) { return std::ranges::find(segments, row.segment) != segments.end(); });
}

// Where the row is not what it was when the segment was begun, it was written after all, and may have been changed
// since.
Status SegmentWriter::settle_doubtful() {
    std::vector<SealedRow> doubtful;
    {
        const std::lock_guard lock(mutex_);
        for (const SealedRow& row : sealed_)
            if (row.state == SealedRow::State::doubtful && !holds_.contains(row.segment)) doubtful.push_back(row);
    }
    for (const SealedRow& row : doubtful) {
        Batch batch;
        batch.require_equals(segment_key(row.segment), encode(row_of(row.record.target)));
        add_row(row, batch);
        auto outcome = metadata_->apply(batch, Durability::relaxed);
        if (!outcome) return outcome.error();
        rows_are_written({&row.segment, 1});
    }
    return {};
}

Status SegmentWriter::seal() {
    {
        const std::lock_guard lock(mutex_);
        holds_.clear(); // nothing is published any more
        for (Current& current : current_)
            if (auto status = end(current); !status) return status;
        discard_empty();
    }
    if (auto status = sync(); !status) return status;
    return settle_doubtful();
}

Status SegmentWriter::end_idle() {
    bool are_sealed = false;
    {
        const std::lock_guard lock(mutex_);
        for (Current& current : current_) {
            if (!current.file || holds_.contains(current.segment)) continue;
            ++current.idle_looks;
            const bool has_enough = current.used >= volume_.segment_bytes / kIdlePart;
            if (current.idle_looks < (has_enough ? 2 : kIdleLooks)) continue;
            if (auto status = end(current); !status) return status;
        }
        discard_empty();
        are_sealed = !sealed_.empty();
    }
    if (!are_sealed) return {};
    if (auto status = sync(); !status) return status;
    return settle_doubtful();
}

} // namespace feedbench::feedfs
