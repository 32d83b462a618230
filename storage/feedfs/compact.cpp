#include "storage/feedfs/compact.hpp"

#include <cerrno>

#include "harness/engine/clock.hpp"
#include "storage/feedfs/compact_run.hpp"

namespace feedbench::feedfs {

namespace {

std::int64_t time_of(const CompactOptions& options) {
    return options.now_ns ? options.now_ns() : engine::unix_time_ns();
}

} // namespace

bool Compaction::goes_on() {
    if (options_.progress &&
        !options_.progress(
            {.segments_done = segments_done_, .segments_all = candidates_.size(), .bytes_moved = report_.bytes_moved}))
        report_.stopped = true;
    return !report_.stopped;
}

Status Compaction::remove_retired() {
    std::vector<std::pair<std::uint64_t, std::string>> over;
    {
        auto view = metadata_->read();
        if (!view) return view.error();
        MaybeError damage;
        auto end = (*view)->scan(all_retired(), SIZE_MAX, [&](std::string_view key, std::string_view value) {
            auto retired = decode_retired(value);
            if (!retired)
                damage = retired.error();
            else if (retired->retired_ns + options_.grace_ns <= time_of(options_))
                over.emplace_back(id_of_key(key), value);
            else
                ++report_.segments_waiting;
            return !damage;
        });
        if (!end) return end.error();
        if (damage) return std::move(*damage);
    }
    for (const auto& [segment, retired] : over) {
        std::string bytes;
        auto found = metadata_->get(segment_key(segment), bytes);
        if (!found) return found.error();
        Batch batch;
        batch.require_equals(retired_key(segment), retired);
        if (*found) batch.require_equals(segment_key(segment), bytes);
        batch.erase(segment_key(segment));
        batch.erase(live_key(segment));
        batch.erase(retired_key(segment));
        auto outcome = metadata_->apply(batch, Durability::durable);
        if (!outcome) return outcome.error();
        volume_.segments().forget(segment);
        if (!outcome->applied() || !*found) continue; // another process was first
        auto row = decode_segment(bytes);
        if (!row) return row.error();
        // Nobody names it any more: a file that stays because of a crash here is a leftover that fsck removes.
        for (const std::uint32_t id : {row->target, row->object_target})
            if (Target* place = volume_.segments().target(id))
                if (auto removed = place->remove(segment_name(segment)); !removed) return removed;
        ++report_.segments_removed;
        report_.bytes_reclaimed += row->bytes;
    }
    return {};
}

// Sealed ones in the fast tier: of an unsealed one a writer may still publish records.
Status Compaction::find_candidates() {
    std::vector<std::pair<std::uint64_t, Candidate>> sealed;
    auto view = metadata_->read();
    if (!view) return view.error();
    auto end = (*view)->scan(all_segments(), SIZE_MAX, [&](std::string_view key, std::string_view value) {
        auto row = decode_segment(value);
        ++report_.segments_looked_at;
        if (row && row->sealed && (row->tiers & SegmentRecord::kFast) != 0)
            sealed.emplace_back(id_of_key(key), Candidate{*row, std::string(value), false});
        return true;
    });
    if (!end) return end.error();
    for (auto& [segment, candidate] : sealed) {
        auto retired = (*view)->get(retired_key(segment));
        if (!retired) return retired.error();
        if (retired->has_value()) continue;
        auto live = (*view)->get(live_key(segment));
        if (!live) return live.error();
        auto counters = decode_counters(live->value_or(std::string_view()));
        counters.resize(2);
        if (static_cast<double>(counters[0]) >= options_.live_below * static_cast<double>(candidate.row.bytes) &&
            counters[1] > 0)
            continue;
        records_to_find_ += counters[1];
        candidates_.emplace(segment, std::move(candidate));
    }
    return {};
}

Status Compaction::begin_writing() {
    auto lease = LeaseKeeper::take(metadata_, {.purpose = "compact",
                                               .now_ns = [this] { return time_of(options_); },
                                               .renewal_ns = volume_.renews_lease() ? kLeaseRenewalNs : 0});
    if (!lease) return lease.error();
    lease_ = std::move(*lease);
    writer_ = std::make_unique<SegmentWriter>(volume_.segments(), metadata_, volume_.volume(), *lease_);
    return {};
}

Status Compaction::end_writing() {
    if (auto status = writer_->seal(); !status) return status;
    if (auto status = writer_->sync(); !status) return status;
    Batch batch;
    SealedRows sealed = writer_->add_sealed_rows(batch);
    lease_->end(batch);
    auto outcome = metadata_->apply(batch, Durability::durable);
    if (!outcome) return outcome.error();
    if (!outcome->applied()) return lease_->lost();
    sealed.applied();
    return {};
}

Status Compaction::retire() {
    for (const auto& [segment, candidate] : candidates_) {
        std::string live;
        auto found = metadata_->get(live_key(segment), live);
        if (!found) return found.error();
        auto counters = decode_counters(live);
        counters.resize(2);
        ++segments_done_;
        if (counters[0] != 0 || counters[1] != 0) continue; // damaged, or counted wrongly: fsck
        Batch batch;
        batch.require_equals(segment_key(segment), candidate.row_bytes);
        if (*found)
            batch.require_equals(live_key(segment), live);
        else
            batch.require_absent(live_key(segment));
        batch.put(retired_key(segment), encode(RetiredRecord{time_of(options_)}));
        auto outcome = metadata_->apply(batch, Durability::durable);
        if (!outcome) return outcome.error();
        report_.segments_emptied += outcome->applied() ? 1 : 0;
    }
    return {};
}

Status Compaction::empty_candidates() {
    if (auto status = begin_writing(); !status) return status;
    Status moved = collect(all_entries(), false);
    if (moved) moved = collect(all_extent_pages(), true);
    // Segments begun are sealed and the lease goes even where moving failed.
    Status ended = end_writing();
    if (!moved) return moved;
    if (!ended || report_.stopped) return ended;
    return retire();
}

Expected<CompactReport> Compaction::run() {
    if (volume_.read_only())
        return storage_error("compact", volume_.volume().folder, EROFS, "the volume is open read-only");
    if (auto status = find_candidates(); !status) return status.error();
    if (!candidates_.empty())
        if (auto status = empty_candidates(); !status) return status.error();
    if (auto status = remove_retired(); !status) return status.error();
    return report_;
}

Expected<CompactReport> compact(FileSystem& volume, const CompactOptions& options) {
    return Compaction(volume, options).run();
}

Expected<CompactReport> remove_retired(FileSystem& volume, const CompactOptions& options) {
    if (volume.read_only())
        return storage_error("compact", volume.volume().folder, EROFS, "the volume is open read-only");
    return Compaction(volume, options).remove_only();
}

} // namespace feedbench::feedfs
