// fsck: does everything that the metadata names lie where it says, whole, once; and what lies there that nobody names.
//
// Reads all tables in one state of the metadata, lists every target, and looks at the footer of every record that is
// live (with `data`: at every byte). Repair never removes a file's entry: it puts right what can be derived (counters,
// directories' way up, torn tails, segments of dead writers, files of segments that are no more), brings entries
// without a directory to lost+found, and gives up a bad copy where the other tier has the segment too.
//
// Thread: its own; one at a time. Owner: the caller of all that is passed in. Units: bytes; ns since 1970, UTC.
// Memory: about 64 bytes an entry and 48 an extent. While others write: a check is right on engines whose views span
// calls (LMDB, memory), for Redis the report says that it may not be; repair needs a volume without living writers
// (EBUSY). Errors: what stops the check itself, with errno; what it finds is in the report.
// Source: issue 7; exit codes as fsck(8) has them where DESIGN section 9 leaves room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

enum class FindingKind : std::uint8_t {
    // A file's bytes are not all there. Not repairable, unless the other tier has them.
    target_missing,  // a target cannot be listed
    segment_missing, // live records, but no file, or no row
    record_outside,  // an extent ends behind the end of its segment's file
    record_overlap,  // two extents share blocks
    footer_wrong,    // no footer behind the payload, or one of another record
    data_wrong,      // a payload block's CRC does not hold, or it cannot be read (with `data`)
    record_damaged,  // a metadata record that cannot be decoded, or contradicts itself
    // The tree. Repairable.
    entry_unreachable,   // its directory is not there, or not reachable from the root: to lost+found
    directory_row_wrong, // the row of a directory does not name its entry
    inode_id_twice,      // two entries have one id (not repairable: which is the other's?)
    counter_behind,      // ids that were handed out would be handed out again
    root_missing,
    // Figures. Repairable.
    live_wrong,   // live bytes or records of a segment
    totals_wrong, // files, directories, bytes of the volume
    size_wrong,   // a sealed segment's row says another length than its file has
    // Of another volume, which has a target in the same folder. Never touched.
    segment_foreign, // a file whose records name that volume
    // Left by writers that died, and by crashes between two steps. No harm but space; repair removes it.
    lease_dead,
    segment_unsealed, // of a dead writer: sealed, or removed where nothing in it is live
    segment_tail,     // a sealed segment's file is longer than its row says, and nothing is live behind that
    segment_unnamed,  // a file without a row, or without a tier in it
    pages_unnamed,    // pages of extents of no file
    row_unnamed,      // live or retired row of no segment
};
const char* finding_name(FindingKind kind); // "segment_missing"
enum class FindingWeight : std::uint8_t { loss, wrong, left_over };
FindingWeight finding_weight(FindingKind kind);

struct Finding {
    FindingKind kind;
    std::string path;          // of the file in the volume; empty: not about a file
    std::uint64_t segment = 0; // 0: not about one
    std::uint64_t offset = 0;  // in the segment
    std::string message;       // one sentence: what was found, what was expected
    bool repaired = false;
};

struct FsckProgress {
    const char* step = "";           // "metadata", "targets", "records"
    std::uint64_t done = 0, all = 0; // entries, targets, bytes of segments; all 0: not known yet
};

struct FsckOptions {
    bool data = false; // reads every live byte
    bool repair = false;
    std::size_t findings_most = 1000;                         // that are kept with their sentence; all are counted
    std::function<bool(const LeaseRecord&)> lease_alive = {}; // empty: lease_is_alive
    std::function<std::int64_t()> now_ns = {};                // empty: the system's
    std::function<bool(const FsckProgress&)> progress = {};   // false: stop (EINTR)
};

struct FsckReport {
    std::uint64_t files = 0, directories = 0, symlinks = 0, payload_bytes = 0;
    std::uint64_t extents = 0, segments = 0, segment_bytes = 0, bytes_read = 0;
    std::uint64_t living_writers = 0;
    std::vector<std::pair<FindingKind, std::uint64_t>> counts; // kinds that were found
    std::uint64_t found = 0, repaired = 0, losses = 0;         // losses: weight loss, not repaired
    std::vector<Finding> findings;                             // the first findings_most
    std::string note; // what the check could not do: "2 living writers and Redis: findings may be their doing"

    // 0: nothing found, or nothing but leftovers. 1: all that was found is repaired. 4: something is left.
    int exit_code() const;
};
std::string to_json(const FsckReport& report); // one object; keys as the members

Expected<FsckReport> fsck(const VolumeConfig& volume, std::vector<std::shared_ptr<Target>> targets,
                          std::shared_ptr<MetadataEngine> metadata, const FsckOptions& options);
// From a volume's folder: opens the metadata (to write only for repair) and the targets.
Expected<FsckReport> fsck(const std::string& volume, const FsckOptions& options);

// Of this host and boot: the process lives; of others: not expired.
bool lease_is_alive(const LeaseRecord& lease, std::int64_t now_ns);

} // namespace feedbench::feedfs
