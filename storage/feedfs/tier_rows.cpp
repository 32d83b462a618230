#include "storage/feedfs/tier_rows.hpp"

#include <cerrno>

#include "storage/feedfs/tier_read.hpp"

namespace feedbench::feedfs {

namespace {
constexpr std::size_t kPage = 1000; // rows looked at in one view
}

Expected<std::vector<SegmentRow>> segment_rows(FileSystem& volume,
                                               const std::function<bool(const SegmentRow&)>& chosen) {
    std::vector<SegmentRow> found;
    KeyRange range = all_segments();
    for (bool complete = false; !complete;) {
        auto view = volume.metadata().read();
        if (!view) return view.error();
        MaybeError damaged;
        auto end = (*view)->scan(range, kPage, [&](std::string_view key, std::string_view value) {
            auto record = decode_segment(value);
            if (!record) {
                damaged = record.error();
                return false;
            }
            SegmentRow row{id_of_key(key), std::move(*record), std::string(value)};
            if (chosen(row)) found.push_back(std::move(row));
            return true;
        });
        if (!end) return end.error();
        if (damaged) return *damaged;
        complete = end->complete;
        range.from = end->next_key;
    }
    return found;
}

Expected<bool> change_row(FileSystem& volume, const SegmentRow& row, const SegmentRecord& after) {
    Batch batch;
    batch.require_equals(segment_key(row.segment), row.encoded);
    batch.put(segment_key(row.segment), encode(after));
    auto outcome = volume.metadata().apply(batch, Durability::durable);
    if (!outcome) return outcome.error();
    return outcome->applied();
}

std::vector<Target*> fast_targets(FileSystem& volume) {
    std::vector<Target*> found;
    for (const auto& target : volume.segments().targets())
        if (target->config().tier == Tier::fast) found.push_back(target.get());
    return found;
}

Expected<std::uint64_t> fast_tier_bytes(FileSystem& volume) {
    std::uint64_t sum = 0;
    for (Target* const target : fast_targets(volume))
        if (Status ok = target->list([&](const std::string&, std::uint64_t bytes) {
                sum += bytes;
                return true;
            });
            !ok && ok.error().errno_value != ENODEV) // a missing target holds nothing
            return ok.error();
    return sum;
}

Status find_left_over(FileSystem& volume, bool remove, TierAmount& amount) {
    for (Target* const target : fast_targets(volume)) {
        std::vector<std::pair<std::string, std::uint64_t>> files;
        Status listed = target->list([&](const std::string& name, std::uint64_t bytes) {
            if (segment_number(name) != 0) files.emplace_back(name, bytes);
            return true;
        });
        if (!listed && listed.error().errno_value == ENODEV) continue;
        if (!listed) return listed;
        for (const auto& [name, bytes] : files) {
            std::string row;
            const auto there = volume.metadata().get(segment_key(segment_number(name)), row);
            if (!there) return there.error();
            if (!*there) continue; // of no segment: fsck's
            const auto record = decode_segment(row);
            if (!record) return record.error();
            if ((record->tiers & SegmentRecord::kFast) != 0 && record->target == target->config().id) continue;
            add(amount, bytes);
            if (!remove) continue;
            if (Status ok = target->remove(name); !ok) return ok;
        }
    }
    return {};
}

Expected<TierFigures> tier_figures(FileSystem& volume) {
    TierFigures figures;
    auto all = segment_rows(volume, [](const SegmentRow&) { return true; });
    if (!all) return all.error();
    for (const SegmentRow& row : *all) {
        TierAmount& amount = !row.record.sealed                ? figures.unsealed
                             : row.has(kBothTiers)             ? figures.both
                             : row.has(SegmentRecord::kObject) ? figures.object_only
                                                               : figures.fast_only;
        add(amount, row.record.bytes);
    }
    for (Target* const target : fast_targets(volume))
        (void)target->list([&](const std::string& name, std::uint64_t bytes) {
            figures.fast_bytes += bytes;
            if (is_piece_name(name)) add(figures.pieces, bytes);
            return true;
        });
    if (Status ok = find_left_over(volume, false, figures.left_over); !ok) return ok.error();
    figures.capacity_bytes = volume.volume().fast_capacity_bytes;
    return figures;
}

} // namespace feedbench::feedfs
