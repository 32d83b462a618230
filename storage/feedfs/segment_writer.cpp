#include <algorithm>
#include <cassert>
#include <cerrno>

#include "storage/feedfs/lease_keeper.hpp"
#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::uint64_t kIdsAtOnce = 16;
}

SegmentWriter::SegmentWriter(SegmentStore& store, std::shared_ptr<MetadataEngine> metadata, const VolumeConfig& volume,
                             LeaseKeeper& lease)
    : store_(store), metadata_(std::move(metadata)), volume_(volume), lease_(lease) {
    for (const auto& target : store.targets())
        if (target->config().tier == Tier::fast) {
            current_.emplace_back();
            current_.back().target = target.get();
        }
    // Writers begin at different targets.
    turn_ = current_.empty() ? 0 : lease.id() % current_.size();
}

// The row first: a file without a row is nobody's, and a row without a lease nobody's either.
Status SegmentWriter::begin(Current& current) {
    if (next_id_ == ids_end_) {
        auto first = metadata_->take_ids(kSegmentCounter, kIdsAtOnce);
        if (!first) return first.error();
        next_id_ = *first;
        ids_end_ = next_id_ + kIdsAtOnce;
    }
    const std::uint64_t segment = next_id_++;
    Batch batch;
    batch.require_absent(segment_key(segment));
    lease_.require(batch);
    batch.put(segment_key(segment), encode(row_of(current.target->config().id)));
    auto outcome = metadata_->apply(batch, Durability::relaxed);
    if (!outcome) return outcome.error();
    if (!outcome->applied()) {
        if (auto status = lease_.renew(); !status) return status;
        return storage_error("create", segment_name(segment), EUCLEAN, "the segment's number is in use already");
    }
    auto file = current.target->create(segment_name(segment), volume_.segment_bytes);
    if (!file) {
        Batch undo;
        undo.erase(segment_key(segment));
        (void)metadata_->apply(undo, Durability::relaxed); // else an orphan's row, which fsck removes
        return file.error();
    }
    current.segment = segment;
    current.used = 0;
    current.has_records = false;
    current.file = std::move(*file);
    store_.remember(segment, current.file);
    return {};
}

Status SegmentWriter::end(Current& current) {
    if (!current.file) return {};
    const auto file = std::exchange(current.file, nullptr);
    if (auto status = lease_.check(); !status) return status;
    auto status = file->finish(current.used);
    if (!status) return status;
    needs_sync(current.segment, file);
    SegmentRecord record = row_of(current.target->config().id);
    record.bytes = current.used;
    record.sealed = true;
    sealed_.push_back({.segment = current.segment, .record = record, .has_records = current.has_records});
    return {};
}

Expected<Place> SegmentWriter::allocate(std::uint64_t bytes, bool next_target) {
    assert(bytes > 0 && bytes % kBlockBytes == 0 && bytes <= volume_.segment_bytes);
    const std::lock_guard lock(mutex_);
    if (next_target) turn_ = (turn_ + 1) % current_.size();
    Error last;
    for (std::size_t attempt = 0; attempt < current_.size(); ++attempt, turn_ = (turn_ + 1) % current_.size()) {
        Current* current = &current_[turn_];
        if (current->file && current->used + bytes > volume_.segment_bytes) {
            if (auto status = end(*current); !status) return status.error();
            turn_ = (turn_ + 1) % current_.size(); // the next segment lies on the next target
            current = &current_[turn_];
            if (current->file && current->used + bytes > volume_.segment_bytes)
                if (auto status = end(*current); !status) return status.error();
        }
        if (!current->file)
            if (auto status = begin(*current); !status) {
                last = status.error();
                continue;
            }
        Place place{.segment = current->segment, .offset = current->used, .file = current->file};
        current->used += bytes;
        current->idle_looks = 0;
        ++holds_[place.segment];
        return place;
    }
    return last;
}

Status SegmentWriter::write(const Place& place, std::uint64_t offset,
                            std::span<const std::span<const std::byte>> pieces) {
    if (auto status = lease_.check(); !status) return status;
    auto status = place.file->write(offset, pieces);
    const std::lock_guard lock(mutex_);
    needs_sync(place.segment, place.file);
    if (status) note_records(place);
    if (!status && status.error().errno_value == ENOSPC)
        for (Current& current : current_) // full: the next segment is begun elsewhere
            if (current.file == place.file) (void)end(current);
    return status;
}

void SegmentWriter::needs_sync(std::uint64_t segment, const std::shared_ptr<TargetFile>& file) {
    for (const Unsynced& unsynced : unsynced_)
        if (unsynced.segment == segment) return;
    unsynced_.push_back({segment, file});
}

Status SegmentWriter::sync() {
    const std::lock_guard one_at_a_time(sync_mutex_);
    std::vector<Unsynced> files;
    {
        const std::lock_guard lock(mutex_);
        files.swap(unsynced_);
    }
    Status result;
    for (const Unsynced& unsynced : files) {
        auto status = unsynced.file->sync();
        if (status) continue;
        if (result) result = std::move(status);
        const std::lock_guard lock(mutex_);
        failed_.push_back(unsynced.segment);
        has_failed_.store(true, std::memory_order_release);
        for (Current& current : current_)
            if (current.file == unsynced.file) (void)end(current);
        std::erase_if(unsynced_, [&](const Unsynced& other) { return other.segment == unsynced.segment; });
    }
    return result;
}

bool SegmentWriter::is_failed(std::uint64_t segment) {
    if (!has_failed()) return false;
    const std::lock_guard lock(mutex_);
    return std::ranges::find(failed_, segment) != failed_.end();
}

void SegmentWriter::hold(std::uint64_t segment, std::size_t holders) {
    if (holders == 0) return;
    const std::lock_guard lock(mutex_);
    holds_[segment] += holders;
}

void SegmentWriter::let_go(std::span<const std::uint64_t> segments) {
    if (segments.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const std::uint64_t segment : segments)
        if (const auto found = holds_.find(segment); found != holds_.end() && --found->second == 0) holds_.erase(found);
    discard_empty();
}

} // namespace feedbench::feedfs
