// Door: what all operations of a mount share: the volume, the kernel's nodes, the files that are not published yet.
//
// Names and attributes are the volume's, with the mount's own unpublished files laid over them. fuse_*.cpp translate
// libfuse's requests into calls of this and its parts.
//
// Thread: any. Owner: the session (session.hpp). Units: bytes, seconds, ns since 1970. Errors: every Error has its
// errno.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "storage/feedfs/mount/node_table.hpp"
#include "storage/feedfs/mount/pending_files.hpp"
#include "storage/feedfs/mount/read_cache.hpp"
#include "storage/feedfs/mount/recent_entries.hpp"

namespace feedbench::feedfs::mount {

struct DoorOptions {
    double entry_timeout_s = 1, attribute_timeout_s = 1; // how long the kernel believes what it was told
    bool open_needs_no_call = false;                     // read-only mounts: the kernel opens without asking
    CommitOptions commits;
    std::function<std::int64_t()> now_ns; // wall clock
};

// A file that a program has open.
struct OpenFile {
    InodeId node = 0;
    bool writing = false;
    std::shared_ptr<ReadFile> file; // of a published one
    std::mutex mutex;               // of pending
    PendingPointer pending;         // of one that is being written, or was when it was opened
};

struct Owner {
    std::uint32_t uid = 0, gid = 0;
};

class Door {
  public:
    Door(FileSystem& its_files, DoorOptions its_options)
        : files(its_files), options(std::move(its_options)), pending(its_files, options.commits) {}

    FileSystem& files;
    const DoorOptions options;
    NodeTable nodes;
    PendingFiles pending;

    // An entry as this mount shows it.
    Expected<Inode> find(InodeId parent, const std::string& name);
    // Of a node: as it is now, or as it last was if it has been removed (`removed` then says so). What others have
    // removed, replaced or renamed is answered to who asks with `removed` alone: to anybody else it is ESTALE, and the
    // kernel looks the name up once more.
    Expected<Inode> attributes(InodeId node, bool* removed = nullptr);
    Expected<NodePlace> place(InodeId node);
    // A directory's times with the names that this mount alone knows; of others nothing is changed.
    void add_own_names(Inode& inode);
    // Changes what is given; of a pending or published file, a directory, a link.
    Status set_attributes(InodeId node, const AttributeChange& change);
    // truncate and ftruncate (then with the handle).
    Status set_size(InodeId node, std::uint64_t bytes, OpenFile* handle);

    Expected<PendingPointer> create(InodeId parent, const std::string& name, NewEntry entry, bool exclusive);
    // A published file gets new content; the old one stays until the new one is published.
    Expected<PendingPointer> replace(InodeId node);
    Expected<std::unique_ptr<OpenFile>> open(InodeId node, int flags);
    std::unique_ptr<OpenFile> open_pending(const PendingPointer& file, InodeId node, bool writing);
    void close(OpenFile& handle);
    Expected<std::uint64_t> read(OpenFile& handle, std::uint64_t offset, std::span<std::byte> into);
    // Where the kernel opens without asking.
    Expected<std::uint64_t> read_node(InodeId node, std::uint64_t offset, std::span<std::byte> into);
    // The file that such a read is of, kept open for the next one unless this one reads all of it.
    Expected<std::shared_ptr<ReadFile>> file_of_node(InodeId node, std::uint64_t offset, std::uint64_t bytes);
    void looked_up(Inode inode); // reads of it will probably follow
    Status write(OpenFile& handle, std::uint64_t offset, std::span<const std::byte> bytes);
    Status closing(OpenFile& handle); // at each close(2) of a descriptor
    Status sync(OpenFile& handle);
    void forget(InodeId node, std::uint64_t times);
    // To the log: programs see no more than an errno.
    void complain(const char* operation, InodeId node, const Error& error);

    Status unlink(InodeId parent, const std::string& name);
    Status remove_directory(InodeId parent, const std::string& name);
    struct Rename {
        InodeId from_parent = 0;
        std::string from_name;
        InodeId to_parent = 0;
        std::string to_name;
        bool may_replace = true;
    };
    Status rename(const Rename& names);
    // Mode and group of a new entry, by the directory it comes into (set-group-ID is inherited).
    NewEntry new_entry(InodeId parent, std::uint32_t mode, Owner owner, bool directory);

  private:
    Expected<Inode> published_attributes(InodeId node, bool* removed);
    Expected<std::shared_ptr<ReadFile>> open_published(InodeId node);
    // Of a file that is not under its name any more, as it was when it was seen last.
    Expected<std::shared_ptr<ReadFile>> open_kept(InodeId node);
    PendingPointer pending_of(OpenFile& handle);
    Status attach(OpenFile& handle, const PendingPointer& file);

    std::mutex begin_mutex_; // an empty file is begun by one of those who write it
    ReadCache read_cache_;   // these two: used where open_needs_no_call
    RecentEntries recent_entries_;
};

} // namespace feedbench::feedfs::mount
