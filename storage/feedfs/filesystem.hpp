// feedfs as a library: files, directories and symbolic links of a volume, for tools, the mount, tests, and the harness.
//
// Semantics: write once. A file is written from its front (in any order within a chunk) and appears under its name,
// whole, when it is published; what is not published nobody sees, and a writer that dies leaves nothing visible. A
// published file is immutable: publishing another under its name replaces it atomically. No hard links, no random
// overwrite (EOPNOTSUPP). What is durable: everything published or changed before a sync() that answered, as a whole;
// before that a loss of power may take back the latest changes, always a suffix of their order, and never shows a file
// without its data.
//
// Thread: FileSystem and ReadFile any, calls may run at the same time; a Writer one at a time. No hidden threads: what
// waits for its group is written by whoever calls publish or sync. Fork: before it is opened.
// Owner: Writers and ReadFiles must be gone before their FileSystem. Names: 1 to 255 bytes, neither '/' nor NUL nor "."
// nor
// "..". Paths are relative to the root, '/' separated. Units: bytes; times are ns since 1970, UTC. Errors: every Error
// has its errno_value; EROFS in a volume opened to read, EIO with segment and offset for a record whose CRC does not
// hold, ESTALE for an open file that was removed and whose segment is gone. Source: DESIGN section 11.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/segment.hpp"

namespace feedbench::feedfs {

class FileSystem;

struct OpenOptions {
    bool read_only = false;
    bool verify = true;                                // the CRC of every block that a read touches is checked
    std::string purpose = std::string("library");      // of the lease, for people
    std::function<std::int64_t()> now_ns = {};         // wall clock; empty: the system's
    std::function<void(const std::string&)> warn = {}; // sentences about the metadata engine's durability; may be empty
    bool renews_lease = true; // by a thread of its own, from the first file that is created on; else by renew_lease()
};

struct DirectoryEntry {
    std::string name;
    Inode inode; // attributes only: neither extents nor symlink target
};

// Of set_attributes: what is given is changed.
struct AttributeChange {
    std::optional<std::uint32_t> mode, uid, gid;
    std::optional<std::int64_t> atime_ns, mtime_ns;
};

struct NewEntry {
    std::uint32_t mode = 0644, uid = 0, gid = 0;
};

struct Space {
    std::uint64_t total_bytes = 0, free_bytes = 0; // of the fast tier's targets, each filesystem counted once
    Totals totals;
};

// Where a piece of a file lies. `file` keeps it readable.
struct Location {
    std::shared_ptr<TargetFile> file;
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;      // in the segment's file, of the payload's first byte that was asked for
    std::uint64_t bytes = 0;       // of payload, from there on; at most what was asked for
    std::uint64_t file_offset = 0; // which byte of the file that is
};

// A read that its caller does: so many whole blocks of one extent that all that comes can be checked before it is used.
struct ReadPlan {
    static constexpr std::uint64_t kBytesMost = 256 * 1024;
    std::shared_ptr<TargetFile> file; // keeps it readable
    Extent extent;
    std::uint64_t from = 0;          // in the extent's payload: where the read begins
    std::uint64_t payload_bytes = 0; // of payload that it brings
    std::uint64_t read_bytes = 0;    // to be read by O_DIRECT from offset() on: payload_bytes in whole blocks
    std::uint64_t skip_bytes = 0, useful_bytes = 0; // of these: what was asked for
    bool is_checked = false;
    std::array<std::uint32_t, kBytesMost / kCrcBlockBytes> crcs{}; // of its blocks

    std::uint64_t offset() const { return extent.offset + from; } // in the segment's file
    // What was read: EIO with segment and offset where a CRC does not hold.
    Status check(std::span<const std::byte> payload) const;
};

// A file open for reading: the content that it had when it was opened, however it is renamed, replaced or removed
// since.
class ReadFile {
  public:
    virtual ~ReadFile() = default;
    virtual const Inode& inode() const = 0; // without its extents: see locate()
    // Bytes read; fewer only at the end of the file. Verified, if the FileSystem was opened so. Without a copy where
    // memory and offset are multiples of kBlockBytes and either the length too or it ends the file.
    virtual Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) = 0;
    // The pieces of [offset, offset + bytes), in order; for callers that read themselves, and verify (see check()).
    virtual Status locate(std::uint64_t offset, std::uint64_t bytes, std::vector<Location>& pieces) = 0;
    // The same for one small piece, with what it takes to verify it. False: ask read(), which can do or explain it; so
    // do where what was planned fails. Of a volume without an object tier it opens a segment at most.
    virtual bool plan(std::uint64_t offset, std::uint64_t bytes, ReadPlan& plan) = 0;
};

struct WriteOptions {
    NewEntry entry = {};
    bool exclusive = false;      // publishing fails with EEXIST where the name is taken; else it replaces a file
    InodeId inode = 0;           // keep this id (a file that is being replaced); 0: a new one
    std::uint64_t size_hint = 0; // planned size; 0: not known. Memory is taken for it, up to one chunk
};

// A file that is being written. Its bytes stay in memory until their chunk is full, then go to a segment.
class Writer {
  public:
    virtual ~Writer() = default; // what was not published is abandoned
    virtual InodeId inode() const = 0;
    virtual std::uint64_t size() const = 0; // the end of what was written
    // Anywhere in what has not gone to a segment; a chunk goes when all of it was written, and the first of more than
    // 16 that were written in part. EOPNOTSUPP for what has gone. Past size(): the gap is zeros.
    virtual Status write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    Status append(std::span<const std::byte> bytes) { return write(size(), bytes); }
    // Of what was written: bytes read, fewer only at the end.
    virtual Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) = 0;
    // Cuts or lengthens; what was never written reads as zeros, here and when published.
    virtual Status truncate(std::uint64_t bytes) = 0;

    // Where it will appear, and as what; may be changed until it is published for the last time.
    virtual void set_destination(InodeId parent, std::string name, bool exclusive = false) = 0;
    virtual void set_attributes(const AttributeChange& change) = 0;
    virtual std::int64_t named_ns() const = 0;   // when it was begun, or got that destination
    virtual const Inode& attributes() const = 0; // size and times as they would be published now
    virtual Inode published() const = 0;         // with its extents; only after it was published
};

enum class Publish : std::uint8_t {
    visible, // seen by everybody when the call returns, durable with the next sync()
    durable, // and on stable storage
};

class FileSystem {
  public:
    virtual ~FileSystem() = default; // seals its segments, gives back its lease

    static Expected<std::unique_ptr<FileSystem>> open(const std::string& volume, OpenOptions options);
    // From parts: tests with targets and engines of their own.
    static Expected<std::unique_ptr<FileSystem>> assemble(VolumeConfig volume,
                                                          std::vector<std::shared_ptr<Target>> targets,
                                                          std::shared_ptr<MetadataEngine> metadata,
                                                          OpenOptions options);
    // mkfs: make_volume, and the root directory in a new metadata engine.
    static Expected<VolumeConfig> make(const std::string& folder, VolumeConfig config, NewEntry root = {.mode = 0755});
    // The root directory, in an engine that was opened to create.
    static Status make_root(MetadataEngine& metadata, NewEntry root, std::int64_t now_ns);

    virtual const VolumeConfig& volume() const = 0;
    virtual bool read_only() const = 0;
    virtual bool renews_lease() const = 0; // OpenOptions
    virtual MetadataEngine& metadata() = 0;
    virtual SegmentStore& segments() = 0;
    virtual BlockMemory& memory() = 0;

    // ---- names ----
    virtual Expected<Inode> root() = 0;
    virtual Expected<Inode> lookup(InodeId parent, std::string_view name) = 0; // all of it, unless extents are in pages
    // Where an id's directory is; the root is "" in 0.
    virtual Expected<DirectoryRecord> locate_directory(InodeId directory) = 0;
    struct Resolved {
        InodeId parent = 0;
        std::string name; // of the last component; "" for the root, whose parent is 0
        Inode inode;
    };
    // Follows symbolic links on the way (40 at most, ELOOP), the last one only if asked. Absolute link targets begin at
    // the volume's root.
    virtual Expected<Resolved> resolve(std::string_view path, bool follow_last = true) = 0;
    // The directory in which the last component would lie, which need not exist (inode.id 0 then); not followed.
    virtual Expected<Resolved> resolve_parent(std::string_view path) = 0;
    // At most `limit` entries behind the name `after` ("" = from the first), in byte order; fewer = that was all.
    virtual Status read_directory(InodeId directory, std::string_view after, std::size_t limit,
                                  std::vector<DirectoryEntry>& entries) = 0;

    virtual Expected<Inode> make_directory(InodeId parent, std::string_view name, NewEntry entry) = 0;
    virtual Status make_directories(std::string_view path,
                                    NewEntry entry) = 0; // and those above; there already is fine
    virtual Expected<Inode> make_symlink(InodeId parent, std::string_view name, std::string target, NewEntry entry) = 0;
    virtual Status remove_directory(InodeId parent, std::string_view name) = 0; // ENOTEMPTY
    virtual Status unlink(InodeId parent, std::string_view name) = 0;           // EISDIR
    struct Rename {
        InodeId from_parent = 0;
        std::string_view from_name;
        InodeId to_parent = 0;
        std::string_view to_name;
        bool may_replace = true; // else EEXIST
    };
    virtual Status rename(const Rename& names) = 0; // atomic; EINVAL into its own subtree
    virtual Expected<Inode> set_attributes(InodeId parent, std::string_view name, const AttributeChange& change) = 0;
    // A name went that only the caller showed there: the directory's times are those of now.
    virtual Status touch_directory(InodeId directory) = 0;
    virtual Expected<Space> space() = 0;

    // ---- data ----
    virtual Expected<std::shared_ptr<ReadFile>> open_read(InodeId parent, std::string_view name) = 0;
    // As looked up before, or of Writer::published(); where it lies is for looking again when a segment was moved.
    virtual Expected<std::shared_ptr<ReadFile>> open_read(Inode inode, InodeId parent, std::string_view name) = 0;
    Expected<std::shared_ptr<ReadFile>> open_read(std::string_view path);
    virtual Expected<std::unique_ptr<Writer>> create(InodeId parent, std::string_view name, WriteOptions options) = 0;

    // Makes the writers' content visible: one write for the small ones together, one sync of each segment touched, one
    // metadata transaction (a group commit). One answer a writer: a destination that went meanwhile fails that one
    // alone. A writer may be written on and published again: the later content replaces the earlier.
    virtual std::vector<Status> publish(std::span<Writer* const> writers, Publish how) = 0;
    Status publish(Writer& writer, Publish how);
    // Brings what the writer has in memory to stable storage, without a name: publishing it then has nothing left to
    // write.
    virtual Status flush(Writer& writer) = 0;
    // Everything published and changed by this FileSystem so far is on stable storage.
    virtual Status sync() = 0;
    // Segments that were full, and those that nothing was added to for a while, are said to be complete, so that they
    // can be uploaded and compacted though nothing more is published. To be called every few seconds; cheap.
    virtual Status seal_idle() = 0;
    // Other hosts take this process for alive from now on for two minutes (lease_keeper.hpp). ESTALE: they did not.
    virtual Status renew_lease() = 0;
};

} // namespace feedbench::feedfs
