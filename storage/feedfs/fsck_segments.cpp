// fsck: segments' rows against the files on the targets, and both against what is live.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/fsck_run.hpp"

namespace feedbench::feedfs {

namespace {

Finding of_segment(std::uint64_t segment, std::string message) {
    return {.kind = {}, .path = {}, .segment = segment, .offset = 0, .message = std::move(message)};
}

} // namespace

Target* FsckRun::target(std::uint32_t id) const {
    for (const auto& each : targets_)
        if (each->config().id == id) return each.get();
    return nullptr;
}

bool FsckRun::alive(std::uint64_t lease) const {
    const auto at = leases_.find(lease);
    return at != leases_.end() && at->second.second;
}

Status FsckRun::list_targets() {
    std::uint64_t done = 0;
    for (const auto& each : targets_) {
        Files files;
        auto listed = each->list([&](const std::string& name, std::uint64_t bytes) {
            if (const std::uint64_t segment = segment_number(name); segment != 0) files[segment] = bytes;
            return true;
        });
        if (listed)
            files_[each->config().id] = std::move(files);
        else
            found(FindingKind::target_missing, {.kind = {},
                                                .path = {},
                                                .segment = 0,
                                                .offset = 0,
                                                .message = "target " + std::to_string(each->config().id) +
                                                           " cannot be listed: " + listed.error().describe()});
        if (auto told = tell("targets", ++done, targets_.size()); !told) return told;
    }
    for (auto& [segment, facts] : segments_) {
        if (!facts.row) continue;
        const auto find = [&, number = segment](std::uint32_t id) -> const std::uint64_t* {
            const auto files = files_.find(id);
            if (files == files_.end()) return nullptr;
            const auto file = files->second.find(number);
            return file == files->second.end() ? nullptr : &file->second;
        };
        if ((facts.row->tiers & SegmentRecord::kFast) != 0)
            if (const std::uint64_t* bytes = find(facts.row->target)) {
                facts.fast_is_there = true;
                facts.fast_bytes = *bytes;
            }
        if ((facts.row->tiers & SegmentRecord::kObject) != 0)
            if (const std::uint64_t* bytes = find(facts.row->object_target)) // a shorter one is no copy
                facts.object_is_there = !facts.row->sealed || *bytes == facts.row->bytes;
    }
    return {};
}

Status FsckRun::check_segments() {
    for (auto& [segment, facts] : segments_) {
        ++report_.segments;
        report_.segment_bytes += facts.fast_bytes;
        check_segment(segment, facts);
    }
    if (auto status = check_unnamed_files(); !status) return status;
    check_leases();
    return {};
}

void FsckRun::remove_rows(Batch& batch, std::uint64_t segment, const SegmentFacts& facts) {
    if (facts.row) batch.require_equals(segment_key(segment), facts.row_bytes);
    batch.erase(segment_key(segment));
    batch.erase(live_key(segment));
    batch.erase(retired_key(segment));
}

void FsckRun::give_up_fast_copy(std::uint64_t segment, SegmentFacts& facts, Repair& repair) {
    SegmentRecord row = *facts.row;
    row.tiers = SegmentRecord::kObject;
    repair.batch.require_equals(segment_key(segment), facts.row_bytes);
    repair.batch.put(segment_key(segment), encode(row));
    if (facts.fast_is_there)
        if (Target* place = target(row.target)) repair.removals.emplace_back(place, segment_name(segment));
    facts.given_up = true;
}

void FsckRun::check_segment(std::uint64_t segment, SegmentFacts& facts) {
    if (!facts.row) {
        if (facts.live_records > 0) {
            found(FindingKind::segment_missing,
                  of_segment(segment,
                             "the segment has no row, but " + std::to_string(facts.live_records) + " live records"));
            return;
        }
        Repair& repair = found(FindingKind::row_unnamed, of_segment(segment, "counters of a segment that is no more"));
        if (!is_incomplete_) remove_rows(repair.batch, segment, facts);
        return;
    }
    const bool has_fast = (facts.row->tiers & SegmentRecord::kFast) != 0;
    const bool has_object = (facts.row->tiers & SegmentRecord::kObject) != 0;
    const bool fast_is_known = files_.contains(facts.row->target);
    if (facts.retired && facts.live_records > 0) {
        Repair& repair =
            found(FindingKind::row_unnamed, of_segment(segment, "the segment is retired, but has live records"));
        repair.batch.erase(retired_key(segment));
    }
    if (!facts.row->sealed && !alive(facts.row->lease) &&
        (facts.fast_is_there || (fast_is_known && facts.live_records == 0))) {
        check_unsealed(segment, facts);
        return;
    }
    if (has_fast && fast_is_known && !facts.fast_is_there && !facts.retired) {
        if (facts.object_is_there) {
            Repair& repair = found(FindingKind::segment_missing,
                                   of_segment(segment, "its file is not in the fast tier; the object tier has it"));
            give_up_fast_copy(segment, facts, repair);
        } else if (facts.live_records > 0) {
            found(FindingKind::segment_missing,
                  of_segment(segment, "its file is not on target " + std::to_string(facts.row->target) + ", " +
                                          std::to_string(facts.live_records) + " live records with " +
                                          std::to_string(facts.live_bytes) + " bytes lay there"));
        } else if (facts.row->sealed) {
            Repair& repair =
                found(FindingKind::row_unnamed, of_segment(segment, "a row without a file, in which nothing is live"));
            if (!is_incomplete_) remove_rows(repair.batch, segment, facts);
            return;
        }
    }
    if (has_object && !facts.object_is_there && files_.contains(facts.row->object_target) && !facts.retired) {
        Repair& repair =
            found(FindingKind::segment_missing,
                  of_segment(segment, "the object tier does not have it, or not all of it, as its row says"));
        if (facts.fast_is_there) {
            SegmentRecord row = *facts.row;
            row.tiers = SegmentRecord::kFast;
            repair.batch.require_equals(segment_key(segment), facts.row_bytes);
            repair.batch.put(segment_key(segment), encode(row));
        }
    }
    if (!facts.row->sealed || !facts.fast_is_there || facts.fast_bytes == facts.row->bytes) {
        check_live(segment, facts);
        return;
    }
    if (facts.fast_bytes > facts.row->bytes && facts.live_end <= facts.row->bytes) {
        // A writer that was taken for dead lived, and had a write under way.
        Repair& repair = found(FindingKind::segment_tail,
                               of_segment(segment, "the file has " + std::to_string(facts.fast_bytes) +
                                                       " bytes, of which " + std::to_string(facts.row->bytes) +
                                                       " belong to the segment; nothing in the rest is live"));
        Target* const place = target(facts.row->target);
        if (place != nullptr && ownership_of(*place, segment) == Ownership::no_other) {
            repair.batch.require_equals(segment_key(segment), facts.row_bytes);
            repair.cut = {place, segment};
            repair.cut_bytes = facts.row->bytes;
        }
    } else {
        Repair& repair = found(FindingKind::size_wrong,
                               of_segment(segment, "the sealed segment's file has " + std::to_string(facts.fast_bytes) +
                                                       " bytes, its row says " + std::to_string(facts.row->bytes)));
        if (facts.object_is_there) {
            give_up_fast_copy(segment, facts, repair); // the other is as long as the row says
        } else {
            SegmentRecord row = *facts.row;
            row.bytes = facts.fast_bytes;
            repair.batch.require_equals(segment_key(segment), facts.row_bytes);
            repair.batch.put(segment_key(segment), encode(row));
        }
    }
    check_live(segment, facts);
}

// Of a writer that died: what was published of it stays, behind that it is cut.
void FsckRun::check_unsealed(std::uint64_t segment, SegmentFacts& facts) {
    Target* place = target(facts.row->target);
    if (facts.live_records == 0) {
        // Where two volumes share a folder, a row without a file of its own may have the other's number.
        const Ownership whose =
            place != nullptr && facts.fast_is_there ? ownership_of(*place, segment) : Ownership::unknown;
        const bool is_own = whose == Ownership::no_other;
        if (whose == Ownership::another_volume) found_foreign(*place, segment);
        Repair& repair = found(FindingKind::segment_unsealed,
                               of_segment(segment, "left by a writer that died; nothing in it is live"));
        if (is_incomplete_) return;
        remove_rows(repair.batch, segment, facts);
        if (is_own) repair.removals.emplace_back(place, segment_name(segment));
        return;
    }
    Repair& repair =
        found(FindingKind::segment_unsealed,
              of_segment(segment, "left open by a writer that died; " + std::to_string(facts.live_records) +
                                      " records are live, up to byte " + std::to_string(facts.live_end) + " of " +
                                      std::to_string(facts.fast_bytes)));
    if (!is_incomplete_ && facts.live_end <= facts.fast_bytes) {
        SegmentRecord row = *facts.row;
        row.sealed = true;
        row.bytes = facts.live_end;
        repair.batch.require_equals(segment_key(segment), facts.row_bytes);
        repair.batch.put(segment_key(segment), encode(row));
        repair.cut = {place, segment};
        repair.cut_bytes = facts.live_end;
    }
    check_live(segment, facts);
}

void FsckRun::check_live(std::uint64_t segment, const SegmentFacts& facts) {
    if (is_incomplete_) return;
    auto stored = facts.live_row ? decode_counters(*facts.live_row) : std::vector<std::int64_t>();
    stored.resize(2);
    if (stored[0] == facts.live_bytes && stored[1] == facts.live_records) return;
    Repair& repair =
        found(FindingKind::live_wrong,
              of_segment(segment, std::to_string(stored[0]) + " bytes in " + std::to_string(stored[1]) +
                                      " records are counted as live, the files' records name " +
                                      std::to_string(facts.live_bytes) + " in " + std::to_string(facts.live_records)));
    const std::int64_t deltas[] = {facts.live_bytes - stored[0], facts.live_records - stored[1]};
    repair.batch.add(live_key(segment), deltas);
}

Status FsckRun::check_unnamed_files() {
    const std::uint64_t handed_out = counter(kSegmentCounter);
    for (const auto& [id, files] : files_) {
        Target* place = target(id);
        const bool is_object = place->config().tier == Tier::object;
        for (const auto& [segment, bytes] : files) {
            const auto facts = segments_.find(segment);
            const SegmentRecord* row = facts != segments_.end() && facts->second.row ? &*facts->second.row : nullptr;
            const std::uint8_t tier = is_object ? SegmentRecord::kObject : SegmentRecord::kFast;
            if (row != nullptr && (row->tiers & tier) != 0 && (is_object ? row->object_target : row->target) == id)
                continue;
            if (row != nullptr && !row->sealed && alive(row->lease)) continue; // being uploaded
            std::string now; // the tables were read before the targets were listed
            auto known = metadata_->get(segment_key(segment), now);
            if (!known) return known.error();
            if (*known && (row == nullptr || now != facts->second.row_bytes)) continue;
            const Ownership whose = ownership_of(*place, segment);
            if (whose == Ownership::another_volume) {
                found_foreign(*place, segment);
                continue;
            }
            const bool is_newer = segment > handed_out;
            Repair& repair =
                found(FindingKind::segment_unnamed,
                      of_segment(segment, std::to_string(bytes) + " bytes on target " + std::to_string(id) +
                                              (is_newer ? ", with a number that the metadata has not handed out: is it "
                                                          "an older copy? The file is left alone"
                                               : whose == Ownership::unknown
                                                   ? ", which cannot be read, so that it is not known whose it is"
                                               : row == nullptr ? ", which no row names"
                                                                : ", where its row does not say that it lies")));
            const bool is_needed = facts != segments_.end() && facts->second.live_records > 0 && row == nullptr;
            if (!is_newer && !is_incomplete_ && !is_needed && whose == Ownership::no_other)
                repair.removals.emplace_back(place, segment_name(segment));
        }
    }
    return {};
}

void FsckRun::check_leases() {
    std::unordered_set<std::uint64_t> in_use; // by segments that stay open
    for (const auto& [segment, facts] : segments_)
        if (facts.row && !facts.row->sealed && !facts.fast_is_there && facts.live_records > 0)
            in_use.insert(facts.row->lease);
    for (const auto& [id, lease] : leases_) {
        if (lease.second || in_use.contains(id)) continue;
        found_dead_lease(id, lease.first); // a repair would have erased it at its beginning
    }
}

Repair& FsckRun::found_dead_lease(std::uint64_t id, const LeaseRecord& lease) {
    return found(FindingKind::lease_dead,
                 {.kind = {},
                  .path = {},
                  .segment = 0,
                  .offset = 0,
                  .message = "lease " + std::to_string(id) + " of process " + std::to_string(lease.pid) + " on " +
                             lease.host + " (" + lease.purpose + "), which lives no more"});
}

} // namespace feedbench::feedfs
