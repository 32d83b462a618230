#include "storage/feedfs/metadata/lmdb_environment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "storage/feedfs/metadata/lmdb_file.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint64_t kFullBytes = 1 << 20; // less is free: the disk is full
constexpr std::uint64_t kReadAheadBytesMost = 64
                                              << 20; // of a file that the kernel may read ahead: some 900,000 entries

// Filesystems whose files may change under another host's hands: a memory map shared by hosts is not coherent, and
// LMDB's locks are of one host. Numbers: linux/magic.h and statfs(2).
const char* shared_filesystem(const std::string& folder) {
    struct statfs facts {};
    if (statfs(folder.c_str(), &facts) != 0) return nullptr;
    switch (static_cast<std::uint32_t>(facts.f_type)) {
    case 0x6969:
        return "NFS";
    case 0x517b:
    case 0xff534d42:
    case 0xfe534d42:
        return "SMB";
    case 0x01021997:
        return "9p";
    case 0x00c36400:
        return "Ceph";
    case 0x0bd00bd0:
        return "Lustre";
    case 0x47504653:
        return "GPFS";
    case 0x01161970:
        return "GFS2";
    default:
        return nullptr;
    }
}

// The names of new files are durable only when their folder is.
Status sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int code = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) close(fd);
    if (code != 0) return storage_error("fsync", folder, code);
    return {};
}

} // namespace

void MapGate::enter() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    for (;;) {
        if (state & kClosed) {
            state_.wait(state);
            state = state_.load();
        } else if (state_.compare_exchange_weak(state, state + 1)) {
            return;
        }
    }
}

void MapGate::leave() {
    if (state_.fetch_sub(1) == (kClosed | 1)) state_.notify_all();
}

void MapGate::close() {
    std::uint32_t state = state_.load();
    for (;;) { // one closer at a time
        if (state & kClosed) {
            state_.wait(state);
            state = state_.load();
        } else if (state_.compare_exchange_weak(state, state | kClosed)) {
            break;
        }
    }
    while ((state = state_.load()) != kClosed) state_.wait(state);
}

void MapGate::open() {
    state_.store(0);
    state_.notify_all();
}

Expected<std::unique_ptr<LmdbEnvironment>> LmdbEnvironment::open(const std::string& folder, const LmdbOptions& options,
                                                                 OpenMode mode) {
    std::unique_ptr<LmdbEnvironment> opened(new LmdbEnvironment(folder, options, mode == OpenMode::read_only));
    if (Status started = opened->start(mode); !started) return std::move(started.error());
    return opened;
}

Status LmdbEnvironment::start(OpenMode mode) {
    if (mode == OpenMode::create && mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST)
        return storage_error("mkdir", folder_, errno);
    const std::string file = folder_ + "/data.mdb";
    struct stat facts {};
    const bool there = stat(file.c_str(), &facts) == 0;
    if (mode != OpenMode::create && !there)
        return storage_error("open", file, errno, "there is no LMDB metadata here (feedfs mkfs makes a volume)");
    if (const char* type = shared_filesystem(folder_))
        return storage_error(
            "open", folder_, EOPNOTSUPP,
            std::string("LMDB metadata needs a local filesystem, this is ") + type +
                ": a memory map shared by hosts is not coherent; put the metadata on a local disk or use Redis");
    if (Status recovered = sync_point_.recover(read_only_); !recovered) return recovered;
    if (there)
        if (Status checked = check_lmdb_file(file, mode == OpenMode::create); !checked) return checked;
    if (const int code = mdb_env_create(&env_); code != 0) return error("open", code);
    const auto file_bytes = static_cast<std::uint64_t>(there ? facts.st_size : 0);
    std::uint64_t map = std::max(options_.map_bytes, file_bytes);
    if (options_.map_limit_bytes > 0) map = std::max(std::min(map, options_.map_limit_bytes), file_bytes);
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    map = (map + page - 1) / page * page;
    mdb_env_set_mapsize(env_, map);
    mdb_env_set_maxreaders(env_, options_.max_readers);
    unsigned flags = MDB_NOTLS | (read_only_ ? MDB_RDONLY : unsigned{MDB_NOSYNC}); // sync points flush
    // Look-ups are random: each would wait for its page. A small file is there after the first few; of a large one what
    // lies around a page is of no use.
    if (file_bytes > kReadAheadBytesMost) flags |= MDB_NORDAHEAD;
    if (const int code = mdb_env_open(env_, folder_.c_str(), flags, 0666); code != 0) return error("open", code);
    lengthen_lmdb_file(env_);
    int dead = 0;
    mdb_reader_check(env_, &dead);
    auto transaction = begin(read_only_ ? MDB_RDONLY : 0u);
    if (!transaction) return std::move(transaction.error());
    int code = mdb_dbi_open(*transaction, nullptr, 0, &table_);
    if (code == 0)
        code = mdb_txn_commit(*transaction);
    else
        mdb_txn_abort(*transaction);
    leave();
    if (code != 0) return error("open", code);
    if (mode == OpenMode::create) {
        if (Status synced = sync_folder(folder_); !synced) return synced;
        const std::filesystem::path parent = std::filesystem::path(folder_).parent_path();
        return sync_folder(parent.empty() ? "." : parent.string());
    }
    return {};
}

LmdbEnvironment::~LmdbEnvironment() {
    if (env_ == nullptr) return;
    if (table_ != 0 && !read_only_) (void)make_sync_point(); // what is relaxed is not lost with an orderly end
    sync_point_.close();
    mdb_env_close(env_);
}

template <class Attempt>
int LmdbEnvironment::inside_the_map(Attempt attempt) {
    bool cleared = false;
    for (;;) {
        gate_.enter();
        const int code = attempt();
        if (code == 0) return 0;
        gate_.leave();
        if (code == MDB_MAP_RESIZED) {
            gate_.close();
            sync_point_.release_pin();
            const int adopted = mdb_env_set_mapsize(env_, 0);
            gate_.open();
            if (adopted != 0) return adopted;
        } else if (code == MDB_READERS_FULL && !cleared) {
            int dead = 0;
            mdb_reader_check(env_, &dead);
            cleared = true;
        } else {
            return code;
        }
    }
}

Expected<MDB_txn*> LmdbEnvironment::begin(unsigned flags) {
    MDB_txn* transaction = nullptr;
    if (const int code = inside_the_map([&] { return mdb_txn_begin(env_, nullptr, flags, &transaction); }); code != 0)
        return error((flags & MDB_RDONLY) != 0 ? "read" : "write", code);
    return transaction;
}

Expected<MDB_txn*> LmdbEnvironment::begin_changes() {
    auto transaction = begin(0);
    if (!transaction) return transaction;
    Status safe = sync_point_.protect(env_, *transaction);
    if (safe) return transaction;
    mdb_txn_abort(*transaction);
    leave();
    return std::move(safe.error());
}

Status LmdbEnvironment::make_sync_point() {
    auto transaction = begin(0); // keeps other writers away
    if (!transaction) return std::move(transaction.error());
    Status made = sync_point_.make(env_, *transaction);
    mdb_txn_abort(*transaction);
    leave();
    return made;
}

Status LmdbEnvironment::renew(MDB_txn* transaction) {
    if (const int code = inside_the_map([&] { return mdb_txn_renew(transaction); }); code != 0)
        return error("read", code);
    return {};
}

std::uint64_t LmdbEnvironment::map_bytes() const {
    MDB_envinfo info{};
    mdb_env_info(env_, &info);
    return info.me_mapsize;
}

Status LmdbEnvironment::grow(std::uint64_t full_bytes) {
    const std::uint64_t limit = options_.map_limit_bytes;
    gate_.close();
    sync_point_.release_pin();
    int code = 0;
    const std::uint64_t now = map_bytes();
    if (now <= full_bytes) { // no other thread has done it meanwhile
        std::uint64_t larger = now * 2;
        if (limit > 0) larger = std::min(larger, limit);
        code = larger > now ? mdb_env_set_mapsize(env_, larger) : MDB_MAP_FULL;
    }
    gate_.open();
    if (code != 0) return error("write", code);
    return {};
}

Error LmdbEnvironment::error(const char* operation, int code) const {
    const std::string file = folder_ + "/data.mdb";
    const std::string lmdb = std::string(" (LMDB: ") + mdb_strerror(code) + ")";
    // A write that a full disk cut short is EIO in LMDB (mdb_page_flush).
    struct statfs facts {};
    if (code == EIO && statfs(folder_.c_str(), &facts) == 0 &&
        facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize) < kFullBytes)
        code = ENOSPC;
    switch (code) {
    case MDB_MAP_FULL:
        return storage_error(operation, file, ENOSPC,
                             "the metadata has reached its limit of " + std::to_string(map_bytes()) +
                                 " bytes: raise map_limit_bytes in volume.yaml, or remove files");
    case ENOSPC:
        return storage_error(operation, file, ENOSPC, "the disk that holds the metadata is full");
    case ENOMEM:
        return storage_error(operation, file, ENOMEM,
                             "no address space for a map of " + std::to_string(map_bytes()) +
                                 " bytes: lower map_bytes in volume.yaml or raise ulimit -v");
    case MDB_READERS_FULL:
        return storage_error(operation, file, EBUSY,
                             "all " + std::to_string(options_.max_readers) +
                                 " reader slots are taken by living processes: raise max_readers in volume.yaml");
    case MDB_TXN_FULL:
        return storage_error(operation, file, E2BIG,
                             "one batch changes more than LMDB takes in one transaction (512 MiB)");
    case MDB_VERSION_MISMATCH:
        return storage_error(operation, file, EPROTONOSUPPORT, "written by another version of LMDB's format" + lmdb);
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
        return storage_error(operation, file, EUCLEAN, "the metadata file is damaged" + lmdb);
    case MDB_PANIC:
        return storage_error(operation, file, EIO,
                             "an earlier commit failed while it wrote its root: close the volume and open it again" +
                                 lmdb);
    default:
        return storage_error(operation, file, code > 0 ? code : EIO, code > 0 ? std::string() : mdb_strerror(code));
    }
}

} // namespace feedbench::feedfs
