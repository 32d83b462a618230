// What the two posix engines (io_uring, threads) share: files, paths, namespace calls, facts, caches. Internal to
// storage/posix*.cpp.
//
// Thread: reactor thread; perform_blocking: any (threads engine), one op of a file at a time where it changes the file.
// Owner: the caller of make_backend. Units: bytes. Errors: op.result = -errno, op.message where errno says too little.
// Source: DESIGN section 6.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "storage/backend.hpp"
#include "storage/mounts.hpp"

namespace feedbench::storage {

enum class Readahead : std::uint8_t { normal, sequential, off };

struct PosixSettings {
    std::string root; // absolute, no '/' at the end ("" is the root folder itself)
    bool odirect = false;
    Readahead readahead = Readahead::normal;
    bool preallocate = false;
};

// O_PATH descriptor of the root folder, opened when it first exists.
class RootFolder {
  public:
    explicit RootFolder(std::string path) : path_(std::move(path)) {}
    ~RootFolder();
    RootFolder(const RootFolder&) = delete;
    RootFolder& operator=(const RootFolder&) = delete;
    // 0 or the errno. Called once at start, and again when a look-up found nothing (the folder may have been made
    // since).
    int open_again();
    int fd() const { return fd_.load(std::memory_order_relaxed); } // -1: not there (yet)
    const std::string& path() const { return path_; }

  private:
    const std::string path_;
    std::atomic<int> fd_{-1};
};

struct PosixFile final : engine::File {
    PosixFile(const RootFolder& root_folder, int descriptor, std::string_view relative)
        : root(root_folder), fd(descriptor), path(relative) {}
    ~PosixFile() override { release(); }
    PosixFile(const PosixFile&) = delete;
    PosixFile& operator=(const PosixFile&) = delete;
    int release(); // closes; removes the temporary of an uncommitted file; 0 or -errno

    const RootFolder& root;
    int fd;
    std::string path;
    std::string temporary; // relative to the root; empty: opened for reading, or committed
    bool flushed = false;  // the caller cares for durability: commit makes the name durable too
};

class PosixBackend : public Backend {
  public:
    PosixBackend(PosixSettings settings, Filesystem filesystem);
    ~PosixBackend() override;

    const Capabilities& capabilities() const override { return capabilities_; }
    Expected<FileStat> stat(const std::string& path) override;
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override;
    Status make_directories(const std::string& path) override;
    Status remove(const std::string& path) override;
    Status remove_leftovers(const std::string& path) override;
    Status write_file(const std::string& path, std::span<const std::byte> content) override;
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) override;
    Expected<FilesystemFacts> facts(const std::string& path) override;
    CacheDrop cache_drop() const override;
    std::string local_path(const std::string& path) const override { return display_path(path); }
    std::string display_path(const std::string& path) const override;

    // Does the whole op in system calls on the calling thread; account() follows on the reactor thread, before the op
    // is handed on.
    void perform_blocking(engine::IoOp& op);
    static void account(engine::IoOp& op);

  protected:
    static PosixFile& file_of(engine::IoOp& op) { return static_cast<PosixFile&>(*op.file); }
    int open_flags() const;
    // Sets op.result (and a message for what errno does not say) of an open or create that failed.
    void fail_open(engine::IoOp& op, int error) const;
    // Looks at the descriptor that open gave: size, alignment, kind; `file` becomes op.opened, or op fails and fd is
    // closed.
    void finish_open(engine::IoOp& op, int fd, std::unique_ptr<PosixFile> file);
    // False and op failed: a direct read or write whose place, length or memory is not aligned.
    bool check_alignment(engine::IoOp& op) const;
    // The rest of a read that brought `bytes` so far is wanted and can be there.
    bool read_is_complete(const engine::IoOp& op, std::uint64_t bytes) const;

    const PosixSettings settings_;
    Filesystem filesystem_;
    RootFolder root_;
    Capabilities capabilities_;

  private:
    void open_blocking(engine::IoOp& op);
    void create_blocking(engine::IoOp& op);
    void read_blocking(engine::IoOp& op);
    void write_blocking(engine::IoOp& op);
    void commit_blocking(engine::IoOp& op);
};

// ".name.feedbench-<pid>-<counter>.tmp" beside `path`; list() does not show such names.
std::string temporary_beside(std::string_view path);
bool is_temporary_name(std::string_view name);

// Performs operations of a backend on the reactor's thread pool. Allocates only until as many jobs exist as were ever
// in flight.
class PosixJobs {
  public:
    PosixJobs(PosixBackend& backend, engine::Reactor& reactor, unsigned thread_count);
    ~PosixJobs();
    engine::Submit submit(engine::IoOp& op);

  private:
    struct OpJob;
    void give_back(OpJob& job);
    PosixBackend& backend_;
    engine::Reactor& reactor_;
    const unsigned thread_count_;
    std::vector<std::unique_ptr<OpJob>> all_;
    OpJob* unused_ = nullptr;
};

// Where a path that somebody gave lies: absolute, its filesystem known; a folder, or nothing yet.
struct PosixPlace {
    std::string root; // as in PosixSettings
    Filesystem filesystem;
};
Expected<PosixPlace> posix_place(const std::string& given);

std::unique_ptr<Backend> make_posix_uring(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor);
std::unique_ptr<Backend> make_posix_threads(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor,
                                            unsigned thread_count);

} // namespace feedbench::storage
