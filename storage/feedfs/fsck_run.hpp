// One fsck under way: what it has learnt, and what it will repair. Internal to storage/feedfs; the steps lie in
// fsck_metadata.cpp, fsck_tree.cpp, fsck_segments.cpp and fsck_records.cpp.
//
// Thread: one. Owner: fsck(). Units: bytes. Errors: those of metadata and targets that stop the check; EINTR.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/fsck.hpp"

namespace feedbench::feedfs {

// What one finding's repair does: a durable batch, then files that nobody names any more.
struct Repair {
    Batch batch;
    std::vector<std::pair<Target*, std::string>> removals;
    std::optional<std::pair<Target*, std::uint64_t>> cut; // before the batch: this segment's file, to its row's bytes
    std::uint64_t cut_bytes = 0;
    FindingKind kind{};
    std::size_t finding = SIZE_MAX; // index in the report; SIZE_MAX: counted only
};

class FsckRun {
  public:
    FsckRun(const VolumeConfig& volume, std::vector<std::shared_ptr<Target>> targets,
            std::shared_ptr<MetadataEngine> metadata, const FsckOptions& options);
    Expected<FsckReport> run();

  private:
    struct Entry {
        InodeId parent = 0;
        std::string name;
    };
    struct DirectoryFacts {
        InodeId parent = 0; // of its entry
        std::string name;
        bool has_entry = false;
        std::optional<std::string> row; // as stored
    };
    struct KnownExtent {
        std::uint64_t segment = 0, offset = 0, file_offset = 0;
        InodeId inode = 0;
        std::uint32_t payload_bytes = 0, payload_crc = 0;
        std::uint32_t entry = 0; // index in entries_
    };
    struct SegmentFacts {
        std::optional<SegmentRecord> row;
        std::string row_bytes;
        std::optional<std::string> live_row;
        bool retired = false;
        std::string retired_row;
        std::int64_t live_bytes = 0, live_records = 0; // of the extents
        std::size_t first_extent = 0;                  // in extents_, once sorted
        std::uint64_t live_end = 0;                    // the end of its last live record
        bool fast_is_there = false, object_is_there = false;
        std::uint64_t fast_bytes = 0;
        bool given_up = false; // its fast copy
    };
    using Files = std::map<std::uint64_t, std::uint64_t>; // size by segment

    // fsck_metadata.cpp
    Status read_tables();
    Status read_entries(ReadView& view);
    Status note_entry(std::string_view key, std::string_view value);
    void note_extents(const Inode& inode, const ExtentList& list, std::uint32_t entry);
    Status read_extent_pages(ReadView& view);
    Status read_rows(ReadView& view);
    Status scan(ReadView& view, const KeyRange& range, const ScanVisitor& visit);
    void check_counter(std::string_view name, std::uint64_t largest);
    void check_totals();
    void check_inode_ids();

    // fsck_tree.cpp
    void check_tree();
    void check_directory_rows();
    void check_directory_times();
    bool is_reachable(InodeId directory);
    void rescue(InodeId directory, const std::string& message);
    Status prepare_lost_found();

    // fsck_segments.cpp
    Status list_targets();
    Status check_segments();
    void check_segment(std::uint64_t segment, SegmentFacts& facts);
    void check_unsealed(std::uint64_t segment, SegmentFacts& facts);
    void check_live(std::uint64_t segment, const SegmentFacts& facts);
    Status check_unnamed_files();
    Status end_dead_leases();
    Status refuse_beside_writers() const;
    bool is_alive(const LeaseRecord& lease) const;
    Repair& found_dead_lease(std::uint64_t id, const LeaseRecord& lease);
    void check_leases();
    void remove_rows(Batch& batch, std::uint64_t segment, const SegmentFacts& facts);
    void give_up_fast_copy(std::uint64_t segment, SegmentFacts& facts, Repair& repair);

    // fsck_records.cpp
    Status check_records();
    Status check_records_of(std::uint64_t segment, SegmentFacts& facts, std::size_t count);
    void check_record(SegmentFacts& facts, const KnownExtent& extent, const TargetFile& file, std::uint64_t file_bytes);
    std::span<const std::byte> window(const TargetFile& file, std::uint64_t from, std::uint64_t bytes,
                                      std::uint64_t file_bytes);
    enum class Ownership : std::uint8_t { no_other, another_volume, unknown };
    Ownership ownership_of(Target& place, std::uint64_t segment);
    void found_foreign(const Target& place, std::uint64_t segment);
    void damaged(FindingKind kind, SegmentFacts& facts, const KnownExtent& extent, const std::string& message);

    // fsck.cpp
    Repair& found(FindingKind kind, Finding finding);
    Status repair_all();
    Status repair(Repair& repair);
    Status tell(const char* step, std::uint64_t done, std::uint64_t all); // EINTR: stop
    std::string path_of(const Entry& entry) const;
    std::string path_of_extent(const KnownExtent& extent) const { return path_of(entries_[extent.entry]); }
    Target* target(std::uint32_t id) const;
    bool alive(std::uint64_t lease) const;
    std::uint64_t counter(std::string_view name) const;

    const VolumeConfig& volume_;
    const std::vector<std::shared_ptr<Target>> targets_;
    const std::shared_ptr<MetadataEngine> metadata_;
    const FsckOptions& options_;
    const std::int64_t now_ns_;
    FsckReport report_;
    std::vector<Repair> repairs_;

    std::vector<Entry> entries_; // of files with extents
    std::vector<InodeId> inode_ids_;
    std::vector<std::pair<Inode, std::uint32_t>> paged_; // files whose extents are in pages
    std::unordered_set<InodeId> parents_;                // of entries
    std::unordered_map<InodeId, DirectoryFacts> directories_;
    std::vector<std::pair<InodeId, bool>> timed_directories_; // that have a row of times, and whether it is whole
    std::unordered_map<InodeId, bool> reachable_;
    std::vector<KnownExtent> extents_;
    std::map<std::uint64_t, SegmentFacts> segments_;
    std::map<std::uint64_t, std::pair<LeaseRecord, bool>> leases_; // and whether it is alive
    std::map<std::uint64_t, LeaseRecord> dead_leases_;             // which repair has ended
    std::map<std::string, std::string> counters_;
    std::map<std::uint32_t, Files> files_; // by target; a target that is missing has none
    bool root_is_there_ = false;
    bool is_incomplete_ = false; // something live may be unknown: nothing is removed
    InodeId lost_found_ = 0;
    std::int64_t rescued_directories_ = 0; // entries that repairs will make
    BlockMemory memory_;                   // before the buffer that goes back to it
    BlockBuffer buffer_;
    std::uint64_t window_from_ = 0, window_bytes_ = 0;
};

} // namespace feedbench::feedfs
