// One compaction under way. Internal to storage/feedfs: compact.cpp chooses and retires segments, compact_moves.cpp
// copies what is live in them.
//
// Thread: one. Owner: compact(); the FileSystem outlives it. Units: bytes. Errors: as compact.hpp.
#pragma once

#include <map>

#include "storage/feedfs/compact.hpp"
#include "storage/feedfs/lease_keeper.hpp"

namespace feedbench::feedfs {

// A value that names extents in segments that are to be emptied: an entry's record, or a page of a long list.
struct MovedItem {
    std::string key, value;
    bool is_page = false;
    Inode inode; // of an entry
    ExtentList list;
    InodeId inode_id = 0;
};

struct RecordMove {
    std::size_t item = 0, extent = 0;
    std::uint64_t file_offset = 0;
};

class Compaction {
  public:
    Compaction(FileSystem& volume, const CompactOptions& options)
        : volume_(volume), options_(options), metadata_(std::shared_ptr<void>(), &volume.metadata()) {}
    Expected<CompactReport> run();
    Expected<CompactReport> remove_only() {
        if (auto status = remove_retired(); !status) return status.error();
        return report_;
    }

  private:
    struct Candidate {
        SegmentRecord row;
        std::string row_bytes;
        bool is_damaged = false;
    };
    Status remove_retired();
    Status find_candidates();
    Status begin_writing();
    Status end_writing();
    Status empty_candidates();
    Status collect(const KeyRange& range, bool are_pages);
    void consider(std::string_view key, std::string_view value, bool is_page);
    bool must_move(const Extent& extent) const { return candidates_.contains(extent.segment); }
    Status move_group();
    Status move_run(std::span<const RecordMove> moves);
    Expected<bool> read_record(const MovedItem& item, const Extent& extent, std::span<std::byte> record);
    Status name_moved();
    Status retire();
    bool goes_on();

    FileSystem& volume_;
    const CompactOptions& options_;
    const std::shared_ptr<MetadataEngine> metadata_; // the volume's; not owned
    CompactReport report_;
    std::map<std::uint64_t, Candidate> candidates_;
    std::unique_ptr<LeaseKeeper> lease_;
    std::unique_ptr<SegmentWriter> writer_;
    std::vector<MovedItem> group_;
    std::vector<bool> group_is_damaged_; // an item of which a record could not be read
    std::uint64_t group_bytes_ = 0;
    std::int64_t records_to_find_ = 0; // live in the candidates; below 1: no entry is looked at any more
    std::uint64_t segments_done_ = 0;
};

} // namespace feedbench::feedfs
