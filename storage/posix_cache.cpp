// Page-cache drops of posix: one file by posix_fadvise, a whole host by /proc/sys/vm/drop_caches.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <thread>

#include "harness/types/units.hpp"
#include "storage/posix_base.hpp"

namespace feedbench::storage {

namespace {
constexpr const char* kDropFile = "/proc/sys/vm/drop_caches";
} // namespace

// One write to drop_caches on a thread of its own, for it may take minutes and nothing can interrupt it. Shared with
// that thread, which outlives us when the time limit ends the waiting.
struct PosixBackend::SystemDrop {
    int drop_fd = -1;
    int done_fd = -1; // eventfd
    std::atomic<int> error{0};

    SystemDrop() = default;
    SystemDrop(const SystemDrop&) = delete;
    SystemDrop& operator=(const SystemDrop&) = delete;
    ~SystemDrop() {
        if (drop_fd >= 0) ::close(drop_fd);
        if (done_fd >= 0) ::close(done_fd);
    }
    void work() {
        ::sync(); // only clean pages are dropped
        if (::write(drop_fd, "3", 1) != 1) error = errno;
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(done_fd, &one, sizeof one);
    }
    bool wait(std::uint64_t limit_ns) const {
        pollfd done{.fd = done_fd, .events = POLLIN, .revents = 0};
        const std::uint64_t limit_ms = std::min<std::uint64_t>(limit_ns / kNsPerMs, INT_MAX);
        return ::poll(&done, 1, static_cast<int>(limit_ms)) == 1;
    }
};

DropOutcome PosixBackend::drop_everything() {
    std::shared_ptr<SystemDrop> drop = running_drop_;
    if (!drop) {
        drop = std::make_shared<SystemDrop>();
        drop->drop_fd = ::open(kDropFile, O_WRONLY | O_CLOEXEC);
        if (drop->drop_fd < 0) return errno == ENOENT ? DropOutcome::not_offered : DropOutcome::not_permitted;
        drop->done_fd = ::eventfd(0, EFD_CLOEXEC);
        if (drop->done_fd < 0) return DropOutcome::not_offered;
        std::thread([drop] { drop->work(); }).detach();
    }
    if (!drop->wait(settings_.drop_timeout_ns)) {
        running_drop_ = std::move(drop); // the next call waits for this one instead of starting another
        return DropOutcome::timeout;
    }
    running_drop_.reset();
    const int error = drop->error;
    return error == 0 ? DropOutcome::dropped : DropOutcome::not_permitted;
}

DropOutcome PosixBackend::drop_file(const std::string& path) {
    const int fd = ::open(display_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno == EACCES || errno == EPERM ? DropOutcome::not_permitted : DropOutcome::not_offered;
    struct stat status {};
    const bool is_file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    // Dirty pages stay, so they are written first. Not by fdatasync, which sends the device a flush for a clean file
    // too: 3.5 ms each, half an hour for cosmoflow's files. NFS keeps pages until they are committed, and only
    // fdatasync commits.
    constexpr unsigned kWriteAndWait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    const auto written = [&] {
        if (!filesystem_.type.starts_with("nfs") && ::sync_file_range(fd, 0, 0, kWriteAndWait) == 0) return true;
        return ::fdatasync(fd) == 0;
    };
    const bool dropped = is_file && written() && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    ::close(fd);
    return dropped ? DropOutcome::dropped : DropOutcome::not_offered;
}

DropOutcome PosixBackend::drop_cache(const std::string& path) {
    if (filesystem_.is_memory) return DropOutcome::not_offered; // the pages are the files
    return path.empty() ? drop_everything() : drop_file(path);
}

} // namespace feedbench::storage
