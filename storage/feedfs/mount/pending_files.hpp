// PendingFiles: all files of a mount that are not published, found by name and by number, and the thread that publishes
// those that were closed.
//
// A close does not wait for stable storage, as on any disk filesystem; what was closed is collected for a few
// milliseconds and published as one group (data, then metadata). fsync, and close of a mount with -o sync, publish at
// once and durably. When little space is left closes are published at once too, so that ENOSPC is said where programs
// look for it.
//
// Thread: any; each name is changed by one thread at a time (the kernel holds its directory's lock). Owner: Door.
// Units: bytes, ms. Errors: a file that could not be published after its close is gone; it is logged, and the next
// fsync or flush says so once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <unordered_map>
#include <vector>

#include "storage/feedfs/mount/pending_file.hpp"

namespace feedbench::feedfs::mount {

using PendingPointer = std::shared_ptr<PendingFile>;

struct CommitOptions {
    bool sync_closes = false;
    unsigned commit_ms = 10;                // how long the first closed file waits for company
    std::uint64_t queue_bytes = 128u << 20; // more than this waiting: closes wait
    std::size_t batch_files = 4096;
    std::uint64_t tight_bytes = 256u << 20;      // less free than this: closes are published at once
    std::function<void(const std::string&)> log; // sentences about what went wrong when nobody was asking
};

class PendingFiles {
  public:
    PendingFiles(FileSystem& files, CommitOptions options);
    ~PendingFiles(); // publishes what is queued

    // ---- finding ----
    PendingPointer by_name(InodeId parent, std::string_view name);
    PendingPointer by_node(InodeId node); // its own number, or that of the file it replaces
    // Those of a directory behind `after`, in byte order, as entries to be shown.
    void list(InodeId parent, std::string_view after, std::vector<DirectoryEntry>& entries);
    bool any_in(InodeId parent);
    // When the latest of a directory's names that the volume does not know of was made; 0: there is none.
    std::int64_t last_named_ns(InodeId parent);
    // Somebody has set the directory's times: what came before counts no more.
    void times_were_set(InodeId parent);

    // ---- handles ----
    // A new one; replaces_node: the node through which it is being written too (O_TRUNC), or 0.
    PendingPointer add(std::unique_ptr<Writer> writer, InodeId parent, std::string name, InodeId replaces_node);
    void open(const PendingPointer& file, bool writing);
    void close(const PendingPointer& file, bool writing);
    void forgotten(InodeId node);

    // ---- what becomes of it ----
    // With file->io held: it will not be published under its name any more.
    void drop(const PendingPointer& file);
    // With file->io held.
    void rename(const PendingPointer& file, InodeId parent, std::string_view name);
    // fsync: it is published and durable when this answers.
    Status publish_now(const PendingPointer& file);
    // close(2): waits where closes must.
    Status closing(const PendingPointer& file);
    // Nobody has it open: it is published soon.
    void enqueue_if_closed(const PendingPointer& file);
    // The mount is gone, and with it every handle: the kernel may not have told of the last ones. What a close came for
    // is queued as if it had.
    void close_flushed();
    // Everything closed so far, and all changes of names, are durable.
    Status sync();

  private:
    using Key = std::pair<InodeId, std::string>;
    void loop();
    void publish_batch(std::vector<PendingPointer> batch);
    void enqueue(const PendingPointer& file);    // io and lock held
    void settle(const PendingPointer& file);     // io held, published: the writer goes when nobody writes any more
    void add_name(const PendingPointer& file);   // io (unless nobody knows it yet) and lock held
    void erase_name(const PendingPointer& file); // io and lock held
    void lost(const PendingPointer& file, const Error& error);
    void look_at_space();
    Status take_lost();

    FileSystem& files_;
    const CommitOptions options_;
    std::atomic<std::size_t> known_count_{0}; // of by_node_: spares readers the lock
    std::atomic<bool> tight_{false};

    std::mutex mutex_;
    std::condition_variable work_, handled_;
    std::map<Key, PendingPointer> by_name_;
    struct Named {
        std::size_t names = 0;
        std::int64_t last_ns = 0;
    };
    std::unordered_map<InodeId, Named> named_in_; // directories in which by_name_ has new names
    std::unordered_map<InodeId, PendingPointer> by_node_;
    std::deque<PendingPointer> queue_;
    std::uint64_t queued_bytes_ = 0;
    std::uint64_t enqueued_count_ = 0, handled_count_ = 0; // in the same order
    bool urgent_ = false, over_ = false;
    MaybeError lost_;
    std::thread thread_;
};

} // namespace feedbench::feedfs::mount
