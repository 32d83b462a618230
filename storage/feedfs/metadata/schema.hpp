// What is stored under which key: all tables of a volume in one ordered key space.
//
// Thread: any; plain values and pure functions, except those that take a ReadView (its thread). Owner: the holder.
// Units: bytes; times are wall-clock nanoseconds since 1970, UTC. Errors: EUCLEAN, EPROTONOSUPPORT as in inode.hpp.
//
// Keys begin with a letter; numbers in them are 64-bit big-endian, so that their order is the numbers'.
//   V                     volume: schema version, uuid
//   C name                counters: ids handed out, totals
//   E parent name         entry: an Inode. The root's: parent 0, name ""
//   D id                  directory: (parent, name) of its entry, so that "..", paths and fsck go upwards, and so that
//   a
//                         create can require that its directory is still there wherever it was renamed to
//   T id                  times of a directory whose entries have changed, as counters: directory_times.hpp
//   X inode file_end      page of a long extent list; file_end = where its last extent ends in the file, so that the
//   first
//                         key behind (inode, offset) is the page that holds that offset
//   S id                  segment: target, lease of its writer, state, tiers, bytes
//   L id                  live payload and records of a segment, as counters: {bytes, records}
//   W id                  lease of a writer
//   G id                  retired segment: its file goes when the grace of readers is over
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/feedfs/metadata/engine.hpp"
#include "storage/feedfs/metadata/inode.hpp"

namespace feedbench::feedfs {

inline constexpr std::uint32_t kSchemaVersion = 1;
inline constexpr std::size_t kNameBytesMax = 255;

// Counters of take_ids().
inline constexpr std::string_view kInodeCounter = "inode";
inline constexpr std::string_view kSegmentCounter = "segment";
inline constexpr std::string_view kLeaseCounter = "lease";
// Totals of the volume under counter_key(kTotals), kept by whoever makes or removes entries.
inline constexpr std::string_view kTotals = "totals";
struct Totals { // as deltas and as sums; in this order in the counters
    std::int64_t files = 0;
    std::int64_t directories = 0; // without the root
    std::int64_t symlinks = 0;
    std::int64_t payload_bytes = 0;
};

std::string volume_key();
std::string counter_key(std::string_view name);
std::string entry_key(InodeId parent, std::string_view name);
void entry_key(InodeId parent, std::string_view name, std::string& out); // into a string used before
std::string root_key();
KeyRange entries_of(InodeId directory);                            // all of its entries
KeyRange entries_behind(InodeId directory, std::string_view name); // those after `name`
KeyRange all_entries();
InodeId parent_of_entry_key(std::string_view key);
std::string_view name_of_entry_key(std::string_view key);
std::string directory_key(InodeId id);
std::string directory_times_key(InodeId id);
std::string extent_page_key(InodeId inode, std::uint64_t file_end);
KeyRange extent_pages_of(InodeId inode);
std::string segment_key(std::uint64_t segment);
std::string live_key(std::uint64_t segment);
std::string lease_key(std::uint64_t lease);
std::string retired_key(std::uint64_t segment);
KeyRange all_directories();
KeyRange all_directory_times();
KeyRange all_extent_pages();
KeyRange all_segments();
KeyRange all_live();
KeyRange all_leases();
KeyRange all_retired();
std::uint64_t
id_of_key(std::string_view key); // the number behind the letter: of D, T, X, S, L, W, G and E (the parent)

struct DirectoryRecord {
    InodeId parent = 0;
    std::string name;
    bool operator==(const DirectoryRecord&) const = default;
};
struct SegmentRecord {
    static constexpr std::uint8_t kFast = 1, kObject = 2; // tiers that hold it
    std::uint32_t target = 0;                             // id in volume.yaml, of the fast tier's copy
    std::uint32_t object_target = 0;                      // of the object tier's, where tiers has kObject
    std::uint64_t lease = 0;                              // of the writer; not sealed and lease gone: an orphan
    std::uint64_t bytes = 0;                              // of the file when sealed; before that what was committed
    bool sealed = false;                                  // nobody writes it any more
    std::uint8_t tiers = kFast;
    bool operator==(const SegmentRecord&) const = default;
};
struct LeaseRecord {
    std::string host;
    std::string boot_id; // /proc/sys/kernel/random/boot_id: a lease of an earlier boot is dead
    std::uint64_t pid = 0;
    std::uint64_t pid_start = 0; // field 22 of /proc/PID/stat: the pid was not given to another process
    std::int64_t expires_ns = 0; // for other hosts; its owner renews it
    std::string purpose;         // "mount", "import", ... for people
    bool operator==(const LeaseRecord&) const = default;
};
struct RetiredRecord {
    std::int64_t retired_ns = 0;
    bool operator==(const RetiredRecord&) const = default;
};
struct VolumeRecord {
    std::uint32_t schema_version = kSchemaVersion;
    std::string volume_id;
    bool operator==(const VolumeRecord&) const = default;
};

std::string encode(const DirectoryRecord& record);
std::string encode(const SegmentRecord& record);
std::string encode(const LeaseRecord& record);
std::string encode(const RetiredRecord& record);
std::string encode(const VolumeRecord& record);
Expected<DirectoryRecord> decode_directory(std::string_view bytes);
Expected<SegmentRecord> decode_segment(std::string_view bytes);
Expected<LeaseRecord> decode_lease(std::string_view bytes);
Expected<RetiredRecord> decode_retired(std::string_view bytes);
Expected<VolumeRecord> decode_volume(std::string_view bytes);

// Puts the entry, and the pages of a list that is too long to be inline. The key's conditions are the caller's.
void put_entry(Batch& batch, std::string key, Inode inode);
// Erases the entry and its pages; not its live bytes and totals, see add_live and add_totals.
void erase_entry(Batch& batch, std::string key, const Inode& inode);
// The extents that hold [file_offset, file_offset + bytes) of the file, and possibly neighbours: from the record or
// from its pages. Sets list.file_offset.
Status read_extents(ReadView& view, const Inode& inode, std::uint64_t file_offset, std::uint64_t bytes,
                    ExtentList& list);

// A page of a long list as it is stored (compaction moves extents page by page).
std::string encode_extent_page(const ExtentList& page);
Expected<ExtentList> decode_extent_page(std::string_view bytes);

// Live bytes and records of the segments of a list, summed up for each segment; sign 1 when it is put, -1 when erased.
void add_live(Batch& batch, const ExtentList& list, int sign);
void add_totals(Batch& batch, const Totals& deltas);

} // namespace feedbench::feedfs
