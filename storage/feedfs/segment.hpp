// Segments: files of records on the targets, found by number, written by one writer each.
//
// SegmentStore finds and keeps open what is read. SegmentWriter allocates places for records in segments of its own:
// one segment at a time on each target of the fast tier; nobody else ever writes there, so writers of many processes
// need no lock between them. A segment's file is named by its number in 16 hexadecimal digits and ".segment"; its row
// (schema.hpp) is there before its first byte, so that whoever finds the file knows whose it is.
//
// Thread: any. Owner: FileSystem. Units: bytes. Errors: ESTALE for a segment that is no more (compaction moved its
// records: look the file up again); ENODEV with the target's place for a target that is missing.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/feedfs/metadata/schema.hpp"
#include "storage/feedfs/record.hpp"
#include "storage/feedfs/target.hpp"

namespace feedbench::feedfs {

std::string segment_name(std::uint64_t segment);
// The number in a name, or 0 (no segment has it) for other names.
std::uint64_t segment_number(const std::string& name);

// Opens segments whose fast copy is gone: the object tier's read-through (tier*.hpp).
class SegmentFetcher {
  public:
    virtual ~SegmentFetcher() = default;
    virtual Expected<std::shared_ptr<TargetFile>> open(std::uint64_t segment, const SegmentRecord& record) = 0;
    // The object itself, past every copy of it: for what turned out damaged elsewhere.
    virtual Expected<std::shared_ptr<TargetFile>> open_origin(std::uint64_t segment, const SegmentRecord& record) = 0;
};

class SegmentStore {
  public:
    SegmentStore(std::vector<std::shared_ptr<Target>> targets, std::shared_ptr<MetadataEngine> metadata);

    // The file of a segment, from the few hundred that are kept open. A record that says "fast tier" and a file that is
    // not there (the tier was lost) is asked of the fetcher where the record says "object tier" too.
    Expected<std::shared_ptr<TargetFile>> open(std::uint64_t segment);
    // The object tier's own copy, for what turned out damaged in the fast tier; ENOENT: it has none.
    Expected<std::shared_ptr<TargetFile>> open_origin(std::uint64_t segment);
    // A file that has just been made is known at once.
    void remember(std::uint64_t segment, std::shared_ptr<TargetFile> file);
    // It is being removed, or lies elsewhere now; who still holds the file reads on.
    void forget(std::uint64_t segment);
    void set_fetcher(std::shared_ptr<SegmentFetcher> fetcher);
    std::shared_ptr<SegmentFetcher> fetcher();
    // Segments that are kept open with a number that grows from use to use: what eviction calls cold.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> recent_uses();

    std::span<const std::shared_ptr<Target>> targets() const { return targets_; }
    Target* target(std::uint32_t id) const; // nullptr: volume.yaml has none of this id

  private:
    static constexpr std::size_t kOpenMost = 512;
    struct Kept {
        std::shared_ptr<TargetFile> file;
        std::uint64_t used = 0;
    };
    Expected<std::shared_ptr<TargetFile>> open_file(std::uint64_t segment);

    const std::vector<std::shared_ptr<Target>> targets_;
    const std::shared_ptr<MetadataEngine> metadata_;
    std::mutex mutex_;
    std::shared_ptr<SegmentFetcher> fetcher_;
    std::uint64_t uses_ = 0;
    std::unordered_map<std::uint64_t, Kept> open_;
};

// A place for a record.
struct Place {
    std::uint64_t segment = 0, offset = 0;
    std::shared_ptr<TargetFile> file;
};

class LeaseKeeper;
class SegmentWriter;

// Rows that a transaction marks as sealed. Neither applied nor refused: what became of it is not known (an error).
class SealedRows {
  public:
    SealedRows() = default;
    SealedRows(SegmentWriter& writer, std::vector<std::uint64_t> segments)
        : writer_(&writer), segments_(std::move(segments)) {}
    SealedRows(SealedRows&& other) noexcept : writer_(other.writer_), segments_(std::exchange(other.segments_, {})) {}
    SealedRows& operator=(SealedRows&& other) noexcept {
        std::swap(writer_, other.writer_);
        std::swap(segments_, other.segments_);
        return *this;
    }
    ~SealedRows();
    bool empty() const { return segments_.empty(); }
    void applied();
    void refused(); // by a condition: they are for the next one

  private:
    SegmentWriter* writer_ = nullptr;
    std::vector<std::uint64_t> segments_;
};

class SegmentWriter {
  public:
    // Segments that it begins belong to `lease`, which outlives it. Once that is lost nothing is written any more
    // (ESTALE): what repair has made of a segment stays as it is.
    SegmentWriter(SegmentStore& store, std::shared_ptr<MetadataEngine> metadata, const VolumeConfig& volume,
                  LeaseKeeper& lease);
    SegmentWriter(const SegmentWriter&) = delete;
    SegmentWriter& operator=(const SegmentWriter&) = delete;

    // Room for `bytes` (whole blocks, at most segment_bytes) in one segment. `next_target`: of the target after the
    // last call's (chunks of a large file are spread); else of the same (small records lie together), until its segment
    // is full. A target that is full or missing is passed over while another is not.
    // The segment is held for the caller, who lets it go when others hold it in the name of what was written.
    Expected<Place> allocate(std::uint64_t bytes, bool next_target);
    // Pieces one behind the other from `offset` of the place's file on, within what was allocated.
    Status write(const Place& place, std::uint64_t offset, std::span<const std::span<const std::byte>> pieces);
    // Everything that write() has written by now is durable. After a failure nobody knows what of a segment is: it
    // takes no more records, and what was written to it is as good as lost (is_failed).
    Status sync();
    bool is_failed(std::uint64_t segment);
    bool has_failed() const { return has_failed_.load(std::memory_order_acquire); } // any of them
    // A writer has a record in the segment that it may publish yet, or publish again: until it lets go, the segment's
    // row does not say "sealed", so that compaction leaves it alone. A segment that ended without a record (its target
    // was full) goes with its last holder, file and row.
    void hold(std::uint64_t segment, std::size_t holders);
    void let_go(std::span<const std::uint64_t> segments);
    // Into a transaction that names records: rows of segments that were sealed since. Tell the answer what became of
    // it.
    SealedRows add_sealed_rows(Batch& batch);
    // At the end, when all writers are gone: ends all open segments: their files are cut to what they hold and synced;
    // their rows follow by add_sealed_rows.
    Status seal();
    // Called again and again: ends the segments that nobody holds and nothing was added to for a while, as seal() does.
    Status end_idle();

  private:
    struct Current {
        Target* target = nullptr;
        std::uint64_t segment = 0, used = 0;
        std::shared_ptr<TargetFile> file; // nullptr: none yet
        unsigned idle_looks = 0;          // end_idle() calls since something was added
        bool has_records = false;         // something was written to it, whole
    };
    struct SealedRow {
        // A row is in one transaction at a time, and goes by itself, on a condition, after one of which nobody knows
        // what became: tiering changes rows, which a second writing would undo.
        enum class State : std::uint8_t { waiting, under_way, doubtful } state = State::waiting;
        std::uint64_t segment = 0;
        SegmentRecord record;
        bool has_records = true;
        bool is_gone = false; // its file is: the row goes, too
    };
    struct Unsynced {
        std::uint64_t segment = 0;
        std::shared_ptr<TargetFile> file;
    };
    Status begin(Current& current);
    Status end(Current& current);
    void note_records(const Place& place);
    void discard_empty();
    bool discard(const SealedRow& row);               // false: its row is still there
    SegmentRecord row_of(std::uint32_t target) const; // of a segment that is written
    void add_row(const SealedRow& row, Batch& batch) const;
    Status settle_doubtful();
    void rows_are(std::span<const std::uint64_t> segments, SealedRow::State state);
    void rows_are_written(std::span<const std::uint64_t> segments);
    friend class SealedRows;
    void needs_sync(std::uint64_t segment, const std::shared_ptr<TargetFile>& file);

    SegmentStore& store_;
    const std::shared_ptr<MetadataEngine> metadata_;
    const VolumeConfig& volume_;
    LeaseKeeper& lease_;
    std::mutex sync_mutex_; // held during sync(), so that nobody takes what another is still syncing for durable
    std::mutex mutex_;
    std::vector<Current> current_; // one for each target of the fast tier
    std::size_t turn_ = 0;
    std::uint64_t next_id_ = 0, ids_end_ = 0;
    std::vector<Unsynced> unsynced_; // each once
    std::vector<std::uint64_t> failed_;
    std::atomic<bool> has_failed_{false};
    std::unordered_map<std::uint64_t, std::size_t> holds_;
    std::vector<SealedRow> sealed_;
};

} // namespace feedbench::feedfs
