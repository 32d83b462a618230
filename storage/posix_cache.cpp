// Page-cache drops of posix: one file by posix_fadvise, a whole host by /proc/sys/vm/drop_caches.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "storage/posix_base.hpp"

namespace feedbench::storage {

namespace {

constexpr const char* kDropFile = "/proc/sys/vm/drop_caches";

DropOutcome drop_everything() {
    const int fd = ::open(kDropFile, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? DropOutcome::not_offered : DropOutcome::not_permitted;
    ::sync(); // only clean pages are dropped
    const bool dropped = ::write(fd, "3", 1) == 1;
    ::close(fd);
    return dropped ? DropOutcome::dropped : DropOutcome::not_permitted;
}

DropOutcome drop_file(const std::string& path, bool is_nfs) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno == EACCES || errno == EPERM ? DropOutcome::not_permitted : DropOutcome::not_offered;
    struct stat status {};
    const bool is_file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    // Dirty pages stay, so they are written first. Not by fdatasync, which sends the device a flush for a clean file
    // too: 3.5 ms each, half an hour for cosmoflow's files. NFS keeps pages until they are committed, and only
    // fdatasync commits.
    constexpr unsigned kWriteAndWait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    const auto written = [&] {
        if (!is_nfs && ::sync_file_range(fd, 0, 0, kWriteAndWait) == 0) return true;
        return ::fdatasync(fd) == 0;
    };
    const bool dropped = is_file && written() && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    ::close(fd);
    return dropped ? DropOutcome::dropped : DropOutcome::not_offered;
}

} // namespace

CacheDrop PosixBackend::cache_drop() const {
    if (filesystem_.is_memory) return {}; // the pages are the files
    return [root = settings_.root, is_nfs = filesystem_.type.starts_with("nfs")](const std::string& path) {
        return path.empty() ? drop_everything() : drop_file(root + "/" + path, is_nfs);
    };
}

} // namespace feedbench::storage
