// The Writer of this library: a file's chunks in memory, and its extents once they lie in segments. Internal to
// storage/feedfs.
//
// Thread: one at a time. Owner: the caller of FileSystem::create; the context outlives it. Units: bytes. Errors: those
// of Writer.
#pragma once

#include <string>
#include <vector>

#include "storage/feedfs/by_chunk.hpp"
#include "storage/feedfs/filesystem.hpp"

namespace feedbench::feedfs {

class LeaseKeeper;

struct FileContext {
    const VolumeConfig* volume = nullptr;
    std::uint64_t volume_id = 0;
    SegmentStore* store = nullptr;
    LeaseKeeper* lease = nullptr; // that segments are written under
    SegmentWriter* segments = nullptr;
    BlockMemory* memory = nullptr;
    std::function<std::int64_t()> now_ns;
    bool verify = true;
};

class FileWriter;

// A record whose payload is in memory and whose place is not yet known.
struct PendingRecord {
    FileWriter* writer = nullptr;
    std::uint64_t chunk = 0;
    std::span<std::byte> record; // payload, then room for zeros and footer
    RecordFooter footer;         // without place
};
// Writes records to segments, small ones of one run behind each other in one call; tells their writers where they lie.
// On an error none of those that follow was written.
Status store_records(const FileContext& context, std::span<PendingRecord> records);

class FileWriter final : public Writer {
  public:
    FileWriter(const FileContext& context, InodeId inode, InodeId parent, std::string name,
               const WriteOptions& options);

    ~FileWriter() override { context_.segments->let_go(held_); }
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    InodeId inode() const override { return attributes_.id; }
    std::uint64_t size() const override { return attributes_.size_bytes; }
    Status write(std::uint64_t offset, std::span<const std::byte> bytes) override;
    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) override;
    Status truncate(std::uint64_t bytes) override;
    void set_destination(InodeId parent, std::string name, bool exclusive) override;
    void set_attributes(const AttributeChange& change) override;
    std::int64_t named_ns() const override { return named_ns_; }
    const Inode& attributes() const override { return attributes_; }
    Inode published() const override;

    // Adds what must be stored before this writer can be published.
    Status prepare(std::vector<PendingRecord>& records);
    // True: it is the first of its records there, and its destructor lets the segment go.
    bool stored(std::uint64_t chunk, std::uint64_t segment, std::uint64_t offset);
    // Everything is stored: the entry as it shall be.
    Inode entry() const;
    void was_published() { is_published_ = true; }
    // Something of it lies in a segment that could not be synced. What is still in memory is stored anew next time.
    bool is_lost() const;

    InodeId parent() const { return parent_; }
    const std::string& name() const { return name_; }
    bool exclusive() const { return exclusive_; }
    bool is_published() const { return is_published_; }
    const FileContext& context() const { return context_; }
    bool was_renamed() const { return was_renamed_; }

  private:
    // A chunk of which something is in memory. What is written in order has its CRCs taken as it is copied, while the
    // processor has it at hand.
    struct Chunk {
        BlockBuffer buffer;
        std::uint64_t defined = 0; // bytes from the front that are written or zeros
        std::uint64_t front = 0;   // bytes from the front that were written
        std::vector<std::pair<std::uint64_t, std::uint64_t>>
            islands;                     // written behind that: [from, to), in order, apart
        std::vector<std::uint32_t> crcs; // of blocks from the front
        std::uint64_t crcs_end = 0;      // where they end: a block's end, or `defined`
        bool is_changed = true;          // since it was stored last
        void copy_in(std::uint64_t from, std::span<const std::byte> bytes);
        void cut(std::uint64_t bytes);
        void finish_crcs(); // up to `defined`
        bool is_whole(std::uint64_t bytes) const { return front == bytes && islands.empty(); }

      private:
        void note(std::uint64_t from, std::uint64_t to);
        void forget_crcs_from(std::uint64_t at);
    };
    struct Stored {
        Extent extent;
        std::vector<std::uint32_t> crcs;
    };
    static constexpr std::size_t kChunksMost = 16;

    std::uint64_t chunk_bytes() const { return context_.volume->chunk_bytes; }
    std::uint64_t payload_of(std::uint64_t chunk) const; // how much of it the file has
    Expected<Chunk*> chunk_for_writing(std::uint64_t index, std::uint64_t to);
    void grow(std::uint64_t index, Chunk& chunk, std::uint64_t payload);
    PendingRecord pending(std::uint64_t index, Chunk& chunk);
    Status store_now(std::uint64_t index); // and lets its memory go
    Status load(std::uint64_t index);      // the reverse
    Error refused(int error, const char* operation, std::string message) const;

    const FileContext& context_;
    Inode attributes_;
    InodeId parent_;
    std::string name_;
    bool exclusive_;
    std::int64_t named_ns_ = 0;
    bool is_published_ = false, times_are_given_ = false, was_renamed_ = false;
    const std::uint64_t size_hint_;
    ByChunk<Chunk> chunks_;
    ByChunk<Stored> stored_;
    std::vector<std::uint64_t> held_; // segments, each once
};

} // namespace feedbench::feedfs
