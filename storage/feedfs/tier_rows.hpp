// What tiering reads of a volume: rows of segments, files of the fast tier; and the one way in which it changes rows.
//
// Thread: any. Owner: none; functions of a FileSystem. Units: bytes. Errors: those of metadata and targets; a target of
// the fast tier that is missing counts as empty.
#pragma once

#include <functional>

#include "storage/feedfs/tier.hpp"

namespace feedbench::feedfs {

struct SegmentRow {
    std::uint64_t segment = 0;
    SegmentRecord record;
    std::string encoded; // as it was read: what a change of it requires

    bool has(std::uint8_t tiers) const { return (record.tiers & tiers) == tiers; }
};
inline constexpr std::uint8_t kBothTiers = SegmentRecord::kFast | SegmentRecord::kObject;

Expected<std::vector<SegmentRow>> segment_rows(FileSystem& volume,
                                               const std::function<bool(const SegmentRow&)>& chosen);
// Durable when it answers; false: the row is not as it was read any more.
Expected<bool> change_row(FileSystem& volume, const SegmentRow& row, const SegmentRecord& after);

std::vector<Target*> fast_targets(FileSystem& volume);
Expected<std::uint64_t> fast_tier_bytes(FileSystem& volume); // of all files in it
// Segments' files in the fast tier whose rows say that they are not there, added to `amount`, and removed if asked.
Status find_left_over(FileSystem& volume, bool remove, TierAmount& amount);
Expected<TierFigures> tier_figures(FileSystem& volume);

inline void add(TierAmount& amount, std::uint64_t bytes) {
    ++amount.segments;
    amount.bytes += bytes;
}

} // namespace feedbench::feedfs
