#include "storage/feedfs/metadata/lmdb_sync_point.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "storage/feedfs/metadata/lmdb_file.hpp"
#include "storage/feedfs/metadata/varint.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint64_t kSyncPointMagic = 0x3130'434e'5953'4446; // "FDSYNC01" in memory
constexpr std::size_t kSlotBytes = 128 * 1024;                   // LMDB's pages have at most 64 KiB
constexpr std::size_t kTransactionOffset = 144; // of mm_txnid in a meta page: header 16, magic, version, address, map
                                                // size, two tables of 48, last page

// FNV-1a: tells a torn slot from a whole one.
std::uint64_t checksum_of(std::string_view bytes) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return sum;
}

std::string encode_slot(const SyncPointRecord& record) {
    std::string body;
    put_little(body, record.sequence);
    put_little(body, record.transaction);
    put_text(body, record.boot_id);
    put_text(body, record.root);
    std::string slot;
    put_little(slot, kSyncPointMagic);
    put_little(slot, checksum_of(body));
    put_text(slot, body);
    return slot;
}

std::optional<SyncPointRecord> decode_slot(std::string_view slot) {
    std::uint64_t magic = 0, sum = 0;
    std::string body;
    if (!get_little(slot, magic) || magic != kSyncPointMagic || !get_little(slot, sum) || !get_text(slot, body) ||
        checksum_of(body) != sum)
        return std::nullopt;
    std::string_view rest = body;
    SyncPointRecord record;
    if (!get_little(rest, record.sequence) || !get_little(rest, record.transaction) ||
        !get_text(rest, record.boot_id) || !get_text(rest, record.root))
        return std::nullopt;
    return record;
}

// As read_sync_point, of a file that nobody is writing (LMDB's write lock is held): two short reads.
Expected<std::optional<SyncPointRecord>> read_numbers(int file) {
    std::optional<SyncPointRecord> latest;
    for (off_t index = 0; index < 2; ++index) {
        char head[48];
        const ssize_t got = pread(file, head, sizeof head, index * static_cast<off_t>(kSlotBytes));
        if (got < 0) return storage_error("read", "sync-point", errno);
        std::string_view rest(head, static_cast<std::size_t>(got));
        std::uint64_t magic = 0, sum = 0, length = 0;
        SyncPointRecord record;
        if (!get_little(rest, magic) || magic != kSyncPointMagic || !get_little(rest, sum) ||
            !get_varint(rest, length) || !get_little(rest, record.sequence) || !get_little(rest, record.transaction))
            continue;
        if (!latest || record.sequence > latest->sequence) latest = record;
    }
    return latest;
}

std::uint64_t transaction_of_root(std::string_view page) {
    std::uint32_t magic = 0;
    std::uint64_t number = 0;
    if (page.size() < kTransactionOffset + sizeof number) return 0;
    std::memcpy(&magic, page.data() + 16, sizeof magic);
    std::memcpy(&number, page.data() + kTransactionOffset, sizeof number);
    return magic == kLmdbMagic ? number : 0;
}

// The page as slot `index` of the file holds it, for the state `transaction`.
std::string root_for(std::string page, std::uint64_t index, std::uint64_t transaction) {
    std::memcpy(page.data(), &index, sizeof index); // the page's number
    std::memcpy(page.data() + kTransactionOffset, &transaction, sizeof transaction);
    return page;
}

Status write_whole(int file, std::string_view bytes, std::uint64_t offset, const std::string& path) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written == static_cast<ssize_t>(bytes.size())) return {};
    return storage_error("write", path, written < 0 ? errno : ENOSPC);
}

} // namespace

std::string this_boot_id() {
    std::ifstream stream("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(stream, id);
    return id;
}

Expected<std::optional<SyncPointRecord>> read_sync_point(int file) {
    std::optional<SyncPointRecord> latest;
    std::string slot(kSlotBytes, '\0');
    for (off_t index = 0; index < 2; ++index) {
        const ssize_t got = pread(file, slot.data(), slot.size(), index * static_cast<off_t>(kSlotBytes));
        if (got < 0) return storage_error("read", "sync-point", errno);
        auto record = decode_slot(std::string_view(slot).substr(0, static_cast<std::size_t>(got)));
        if (record && (!latest || record->sequence > latest->sequence)) latest = std::move(record);
    }
    return latest;
}

Status write_sync_point(int file, const SyncPointRecord& record) {
    if (Status written = write_whole(file, encode_slot(record), record.sequence % 2 * kSlotBytes, "sync-point");
        !written)
        return written;
    if (fdatasync(file) != 0) return storage_error("fdatasync", "sync-point", errno);
    return {};
}

LmdbSyncPoint::~LmdbSyncPoint() { close(); }

void LmdbSyncPoint::close() {
    if (pin_ != nullptr) mdb_txn_abort(pin_);
    pin_ = nullptr;
    pinned_.reset();
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

void LmdbSyncPoint::release_pin() {
    if (pinned_) mdb_txn_reset(pin_);
    pinned_.reset();
}

Error LmdbSyncPoint::failed(const char* what, int code) {
    has_failed_ = true;
    return storage_error(what, folder_, code == 0 ? EIO : code,
                         "the metadata could not be made durable: close the volume, look at the disk, open it again");
}

Status LmdbSyncPoint::recover(bool read_only) {
    const std::string path = folder_ + "/sync-point";
    file_ = open(path.c_str(), (read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0666);
    if (file_ < 0) {
        if (read_only && errno == ENOENT) return {};
        return storage_error("open", path, errno);
    }
    const int opened = file_;
    flock(opened, LOCK_EX); // given back below; processes that open at the same time
    const auto unlock = [opened](Status status) {
        flock(opened, LOCK_UN);
        return status;
    };
    auto point = read_sync_point(file_);
    if (!point) return unlock(std::move(point.error()));
    if (!*point || (*point)->boot_id == this_boot_id()) return unlock({});
    const std::string data_path = folder_ + "/data.mdb";
    const int data = open(data_path.c_str(), O_RDWR | O_CLOEXEC);
    if (data < 0) return unlock(errno == ENOENT ? Status() : storage_error("open", data_path, errno));
    const std::string& root = (*point)->root;
    std::string page(root.size(), '\0');
    std::uint64_t newest = 0;
    for (off_t index = 0; index < 2; ++index)
        if (pread(data, page.data(), page.size(), index * static_cast<off_t>(page.size())) ==
            static_cast<ssize_t>(page.size()))
            newest = std::max(newest, transaction_of_root(page));
    Status status;
    const std::uint64_t number = (*point)->transaction;
    // A file with less than the sync point is another one, a backup that was put here: its own roots hold.
    if (newest >= number && newest != 0) {
        status = write_whole(data, root_for(root, number & 1, number), (number & 1) * root.size(), data_path);
        const std::uint64_t before =
            number == 0 ? 0 : number - 1; // the other slot: the same state under a smaller number
        if (status)
            status = write_whole(data, root_for(root, (number & 1) ^ 1, before), ((number & 1) ^ 1) * root.size(),
                                 data_path);
        if (status && fdatasync(data) != 0) status = storage_error("fdatasync", data_path, errno);
    }
    ::close(data);
    if (status && !read_only) {
        SyncPointRecord next = **point;
        ++next.sequence;
        next.boot_id = this_boot_id();
        status = write_sync_point(file_, next);
    }
    return unlock(std::move(status));
}

Status LmdbSyncPoint::pin(MDB_env* environment, std::uint64_t transaction) {
    release_pin();
    const int code = pin_ == nullptr ? mdb_txn_begin(environment, nullptr, MDB_RDONLY, &pin_) : mdb_txn_renew(pin_);
    if (code != 0) return storage_error("pin", folder_, code > 0 ? code : EBUSY, mdb_strerror(code));
    pinned_ = mdb_txn_id(pin_);
    if (*pinned_ == transaction) return {};
    return storage_error("pin", folder_, EIO, "LMDB's read transaction is of another state than its write transaction");
}

Expected<std::string> LmdbSyncPoint::read_root(MDB_env* environment, std::uint64_t transaction) const {
    MDB_stat stat{};
    mdb_env_stat(environment, &stat);
    int data = -1;
    mdb_env_get_fd(environment, &data);
    std::string page(stat.ms_psize, '\0');
    const off_t offset = static_cast<off_t>((transaction & 1) * page.size());
    if (pread(data, page.data(), page.size(), offset) != static_cast<ssize_t>(page.size()) ||
        transaction_of_root(page) != transaction)
        return storage_error("read", folder_, EUCLEAN,
                             "LMDB's latest root is not where this version of it is known to write it");
    return page;
}

Status LmdbSyncPoint::protect(MDB_env* environment, MDB_txn* transaction) {
    if (has_failed_) return failed("commit", EIO);
    auto point = read_numbers(file_);
    if (!point) return std::move(point.error());
    const std::uint64_t latest = mdb_txn_id(transaction) - 1;
    if (*point && pinned_ == (*point)->transaction) return {};
    if (*point && (*point)->transaction == latest) return pin(environment, latest);
    return make(environment, transaction);
}

Status LmdbSyncPoint::make(MDB_env* environment, MDB_txn* transaction) {
    if (has_failed_) return failed("sync", EIO);
    auto point = read_numbers(file_);
    if (!point) return std::move(point.error());
    const std::uint64_t latest = mdb_txn_id(transaction) - 1;
    if (!*point || (*point)->transaction != latest) {
        int data = -1;
        mdb_env_get_fd(environment, &data);
        if (fdatasync(data) != 0) return failed("fdatasync", errno);
        auto root = read_root(environment, latest);
        if (!root) return std::move(root.error());
        const std::uint64_t sequence = *point ? (*point)->sequence + 1 : 1;
        if (Status written = write_sync_point(file_, {sequence, latest, this_boot_id(), std::move(*root)}); !written)
            return failed("sync-point", written.error().errno_value);
    }
    return pin(environment, latest);
}

} // namespace feedbench::feedfs
