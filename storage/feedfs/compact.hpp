// compact: gives back the space of removed and replaced files while others read and write.
//
// Sealed segments with little that is live are emptied: each live record is copied to a new segment (of the caller's
// own lease), synced, and named by a transaction on the condition that its entry is what it was. An empty segment is
// retired: its file stays for `grace_ns`, so that whoever looked an entry up before the copy can still open it (an open
// file stays readable anyway; after that ESTALE makes the reader look again, which ReadFile does by itself).
//
// Thread: its own; several processes at once do each other no harm, only work twice. Owner: the FileSystem outlives it.
// Units: bytes, ns. Errors: what stopped it; records that are damaged are counted and left where they are.
// Source: issue 7.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "storage/feedfs/filesystem.hpp"

namespace feedbench::feedfs {

struct CompactProgress {
    std::uint64_t segments_done = 0, segments_all = 0;
    std::uint64_t bytes_moved = 0;
};

struct CompactOptions {
    double live_below = 0.5;                      // a segment with less than this part of its bytes live is emptied
    std::int64_t grace_ns = 60LL * 1'000'000'000; // 0: nobody else has the volume open
    std::function<std::int64_t()> now_ns = {};    // empty: the system's
    std::function<bool(const CompactProgress&)> progress = {}; // false: stop after the records under way
};

struct CompactReport {
    std::uint64_t segments_looked_at = 0, segments_emptied = 0;
    std::uint64_t entries_looked_at = 0;              // and pages of extents: until all that is to be moved was found
    std::uint64_t records_moved = 0, bytes_moved = 0; // payload
    std::uint64_t records_changed = 0;                // by others meanwhile: their copies are garbage
    std::uint64_t records_damaged = 0;                // their segments stay; fsck --data says which
    std::uint64_t segments_removed = 0, bytes_reclaimed = 0; // retired ones whose grace was over, earlier runs' too
    std::uint64_t segments_waiting = 0;                      // for the end of their grace
    bool stopped = false;
};
std::string to_json(const CompactReport& report);

Expected<CompactReport> compact(FileSystem& volume, const CompactOptions& options);
// Only the last step: removes retired segments whose grace is over. Cheap; for a mount's idle time.
Expected<CompactReport> remove_retired(FileSystem& volume, const CompactOptions& options);

} // namespace feedbench::feedfs
