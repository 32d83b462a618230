// What the parts of the feedfs backend share: its files, and how operations of theirs are done. Internal to
// storage/feedfs*.cpp.
//
// Thread: reactor thread, except what runs in the pool (said where it is). Owner: the backend; files must be gone
// before it. Units: bytes. Errors: op.result = -errno, op.message with segment and place where data is damaged. Source:
// DESIGN sections 6 and 11.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <unordered_set>

#include "harness/engine/reactor.hpp"
#include "storage/backend.hpp"
#include "storage/feedfs/filesystem.hpp"

namespace feedbench::storage {

struct FeedfsSettings {
    bool direct = true;    // O_DIRECT, else through the page cache
    bool verify = true;    // CRC of each block that a read touches
    bool uses_ring = true; // else reads are done in the pool
    unsigned threads = 4;  // of the pool
};

struct FeedfsFile : engine::File {
    bool is_written = false; // a FeedfsWriteFile
};

// A file that is open for reading. Used again by the next one, with the memory of its vectors.
struct FeedfsOpened {
    feedfs::InodeId parent = 0;
    std::string name; // in its directory
    feedfs::Inode inode;
    std::vector<std::uint64_t> begins;                      // of each extent in the file; empty: there is but one
    std::vector<std::shared_ptr<feedfs::TargetFile>> files; // of each extent, once it was read
    std::shared_ptr<feedfs::ReadFile> blocking;             // for what the ring cannot do; made in the pool
    std::mutex blocking_mutex;

    std::size_t extent_at(std::uint64_t offset) const;
    std::uint64_t begin_of(std::size_t extent) const { return begins.empty() ? 0 : begins[extent]; }
};
using FeedfsUnused = std::vector<std::unique_ptr<FeedfsOpened>>;

struct FeedfsReadFile final : FeedfsFile {
    explicit FeedfsReadFile(FeedfsUnused& unused);
    ~FeedfsReadFile() override;
    FeedfsReadFile(const FeedfsReadFile&) = delete;
    FeedfsReadFile& operator=(const FeedfsReadFile&) = delete;

    std::unique_ptr<FeedfsOpened> opened;

  private:
    FeedfsUnused& unused_; // where it goes back to
};

struct FeedfsWriteFile final : FeedfsFile {
    FeedfsWriteFile() { is_written = true; }
    std::string path; // of the backend, for look-ups of what is not yet published
    feedfs::InodeId parent = 0;
    std::string name;
    std::unique_ptr<feedfs::Writer> writer;
    bool is_busy = false;             // one of its operations is in the pool; a writer takes one at a time
    std::deque<engine::IoOp*> queued; // behind that one
    std::uint64_t planned_bytes = 0;  // 0: not known
    bool flushed = false, committed = false;
};

void set_feedfs_error(engine::IoOp& op, const Error& error);

// Reads by the ring, straight into the caller's memory (but for blocks of which it wants a part), several chunks of a
// read at once. Disks answer in batches. Of those answers a turn of the loop checks and hands on but a few, so that
// what their callers ask for next is at the disk while the rest is checked: a disk is idle for as long as it takes to
// work through a batch, else.
class FeedfsReads final : engine::EventSource {
  public:
    FeedfsReads(feedfs::FileSystem& filesystem, engine::Reactor& reactor, FeedfsSettings settings);
    ~FeedfsReads() override;
    engine::Submit submit(engine::IoOp& op);

    bool poll() override;
    bool is_active() const override { return first_landed_ != landed_.size(); }
    std::uint64_t max_sleep_ns() const override { return is_active() ? 0 : engine::kNever; }

  private:
    // Of one turn: what the next system call begins together. Each rings the disk's bell, which in a virtual machine
    // costs as much as checking some files; with more at once the disk begins to wait.
    static constexpr std::uint64_t kBytesAtOnce = 128 << 10;
    static constexpr std::size_t kReadsAtOnce = 16;
    struct Read;
    struct Part;
    struct Blocking;
    template <class T>
    T& take(T*& unused, std::vector<std::unique_ptr<T>>& all);
    engine::Submit read_blocking(engine::IoOp& op);
    bool can_use_ring(FeedfsOpened& file, std::uint64_t from, std::uint64_t to);
    bool queue_parts(Read& read); // false: the ring is full
    void cut_part(Part& part, std::uint64_t to, std::uint64_t payload_bytes);
    void give_back(Part& part);
    static void part_done(void* backend, engine::IoOp& op, std::int64_t result);
    void finish(Read& read);
    Status bring(const Part& part) const;

    feedfs::FileSystem& filesystem_;
    engine::Reactor& reactor_;
    const FeedfsSettings settings_;
    const bool has_object_tier_;
    std::vector<std::unique_ptr<Read>> reads_;
    std::vector<std::unique_ptr<Part>> parts_;
    std::vector<std::unique_ptr<Blocking>> blockings_;
    Read* unused_reads_ = nullptr;
    Part* unused_parts_ = nullptr;
    Blocking* unused_blockings_ = nullptr;
    std::vector<Read*> landed_; // [first_landed_, end): answered by the disk, not yet handed on
    std::size_t first_landed_ = 0, timed_ = 0;
};

// Writes, flushes and commits. Files of at most kSmallBytes that nobody flushed are published in groups a little later:
// this backend looks at them first when one of their names is asked for, and others see them at the latest when
// settle() has answered. Where that fails, nobody waits for the file any more: everything that writes is refused with
// the file's name and reason from then on, until settle() has told it.
class FeedfsWrites {
  public:
    FeedfsWrites(feedfs::FileSystem& filesystem, engine::Reactor& reactor, FeedfsSettings settings);
    ~FeedfsWrites(); // publishes what is left
    engine::Submit write(engine::IoOp& op);
    engine::Submit flush(engine::IoOp& op);
    engine::Submit commit(engine::IoOp& op);
    // Of a file that was being created: lets its writer go.
    void close(engine::IoOp& op);
    // What could not be published after its commit, as the answer to `op`; false: there is no such thing.
    bool is_refused(engine::IoOp& op) const;
    // The same to a caller that has no op.
    Status late_status() const { return late_error_ ? Status(*late_error_) : Status(); }

    // A name of which a file waits, or "" for any: publishes, and waits for it.
    void settle_name(const std::string& path);
    Status settle();
    bool has_late_names() const { return !late_names_.empty(); }

  private:
    static constexpr std::uint64_t kSmallBytes = 1 << 20, kGroupBytes = 8 << 20, kWaitingBytesMost = 64 << 20;
    static constexpr std::size_t kGroupFiles = 1024;
    static constexpr std::uint64_t kGroupNs = 50'000'000;
    struct Item {                              // of a group
        std::unique_ptr<feedfs::Writer> owned; // nobody waits for it
        std::string path;                      // of such a one, for late errors
        feedfs::Writer* writer = nullptr;
        engine::IoOp* op = nullptr; // who waits
        bool durable = false;
    };
    struct OpJob;
    struct GroupJob;
    engine::Submit in_turn(engine::IoOp& op);
    void in_pool(engine::IoOp& op);
    void perform(engine::IoOp& op); // pool
    bool is_directory(const FeedfsWriteFile& file) const;
    void add_late(FeedfsWriteFile& file);
    void start_group();
    void run_group(std::vector<Item>& items, std::vector<Status>& results); // pool, or the reactor's thread
    void group_finished();
    void keep_error(const Item& item, const Status& status);
    static void group_is_due(engine::Timer& timer);

    struct DueTimer : engine::Timer {
        FeedfsWrites* writes = nullptr;
    };
    feedfs::FileSystem& filesystem_;
    engine::Reactor& reactor_;
    const FeedfsSettings settings_;
    std::vector<std::unique_ptr<OpJob>> op_jobs_;
    OpJob* unused_jobs_ = nullptr;
    std::unique_ptr<GroupJob> group_;
    std::vector<Item> waiting_;
    std::uint64_t late_bytes_ = 0; // of items nobody waits for, in waiting_
    std::unordered_set<std::string> late_names_;
    DueTimer timer_;
    std::optional<Error> late_error_; // the first one; its path is the backend's
    std::uint64_t late_failures_ = 0; // files
};

} // namespace feedbench::storage
