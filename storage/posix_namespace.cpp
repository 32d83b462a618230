// The namespace half of posix: outside measured time, plain system calls.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "storage/posix_base.hpp"

namespace feedbench::storage {

namespace {
constexpr std::string_view kTemporaryMark = ".feedbench-", kTemporaryEnd = ".tmp";

// Closes at the end of its scope.
struct Descriptor {
    explicit Descriptor(int fd) : number(fd) {}
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    const int number;
};
} // namespace

std::string temporary_beside(std::string_view path) {
    static std::atomic<unsigned> counter{0};
    const std::size_t slash = path.find_last_of('/');
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    const std::string tail = std::string(kTemporaryMark) + std::to_string(::getpid()) + "-" +
                             std::to_string(counter++) + std::string(kTemporaryEnd);
    // A name that is as long as names may be is cut: the number makes it unique.
    return std::string(path.substr(0, begin)) + "." + std::string(path.substr(begin, NAME_MAX - 1 - tail.size())) +
           tail;
}

bool is_temporary_name(std::string_view name) {
    return name.starts_with('.') && name.ends_with(kTemporaryEnd) &&
           name.find(kTemporaryMark) != std::string_view::npos;
}

Expected<FileStat> PosixBackend::stat(const std::string& path) {
    struct stat status {};
    if (::stat(display_path(path).c_str(), &status) != 0) return storage_error("stat", display_path(path), errno);
    return FileStat{.size_bytes = S_ISDIR(status.st_mode) ? 0 : static_cast<std::uint64_t>(status.st_size),
                    .is_directory = S_ISDIR(status.st_mode)};
}

Status PosixBackend::list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) {
    const std::string folder = display_path(path);
    DIR* stream = ::opendir(folder.c_str());
    if (!stream) return storage_error("list", folder, errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> owner(stream, ::closedir);
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream);
        if (!entry) break;
        const std::string_view name = entry->d_name;
        if (name == "." || name == ".." || is_temporary_name(name)) continue; // half-written is not there
        bool is_directory = entry->d_type == DT_DIR;
        if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
            struct stat status {};
            is_directory = ::fstatat(::dirfd(stream), entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
        }
        if (!each(name, is_directory)) return {};
    }
    if (errno != 0) return storage_error("list", folder, errno);
    return {};
}

Status PosixBackend::make_directories(const std::string& path) {
    const std::string full = display_path(path);
    for (std::size_t slash = 1; slash != std::string::npos;) {
        slash = full.find('/', slash + 1);
        const std::string folder = full.substr(0, slash);
        if (::mkdir(folder.c_str(), 0777) == 0) continue;
        const int error = errno;
        struct stat status {};
        // Also a read-only or forbidden ancestor is fine as long as it is there.
        if (::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
        return storage_error("mkdir", folder, error == EEXIST ? ENOTDIR : error);
    }
    if (root_.fd() < 0) (void)root_.open_again();
    return {};
}

Status PosixBackend::remove(const std::string& path) {
    const std::string full = display_path(path);
    if (::unlink(full.c_str()) == 0) return {};
    int error = errno;
    if (error == EISDIR || error == EPERM) { // EPERM is POSIX's word for a folder
        if (::rmdir(full.c_str()) == 0) return {};
        if (errno != ENOTDIR) error = errno;
    }
    return storage_error("remove", full, error);
}

Status PosixBackend::remove_leftovers(const std::string& path) {
    const std::string folder = display_path(path);
    DIR* stream = ::opendir(folder.c_str());
    if (!stream) return errno == ENOENT ? Status{} : storage_error("list", folder, errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> owner(stream, ::closedir);
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(stream);
        if (!entry) break;
        if (!is_temporary_name(entry->d_name)) continue;
        if (::unlinkat(::dirfd(stream), entry->d_name, 0) != 0 && errno != ENOENT)
            return storage_error("remove", folder + "/" + entry->d_name, errno);
    }
    if (errno != 0) return storage_error("list", folder, errno);
    return {};
}

Status PosixBackend::write_file(const std::string& path, std::span<const std::byte> content) {
    const std::string full = display_path(path), temporary = temporary_beside(full);
    const auto failed = [&](const char* operation) {
        const int error = errno;
        ::unlink(temporary.c_str());
        return storage_error(operation, full, error);
    };
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return storage_error("create", full, errno);
    {
        const Descriptor file(fd);
        for (std::size_t done = 0; done < content.size();) {
            const ssize_t put = ::write(fd, content.data() + done, content.size() - done);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return failed("write");
            done += static_cast<std::size_t>(put);
        }
        if (::fsync(fd) != 0) return failed("fsync");
    }
    if (::rename(temporary.c_str(), full.c_str()) != 0) return failed("rename");
    const std::size_t slash = full.find_last_of('/');
    const Descriptor folder(
        ::open(slash == 0 ? "/" : full.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // EINVAL: this filesystem does not sync folders.
    if (folder.number >= 0 && ::fsync(folder.number) != 0 && errno != EINVAL)
        return storage_error("fsync", full, errno);
    return {};
}

Expected<std::string> PosixBackend::read_file(const std::string& path, std::uint64_t limit_bytes) {
    const std::string full = display_path(path);
    const Descriptor file(::open(full.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // a FIFO must not hold us up
    if (file.number < 0) return storage_error("open", full, errno);
    std::string content;
    for (;;) {
        char piece[65536];
        const std::uint64_t room = limit_bytes - content.size();
        // One byte more than allowed is asked for, to tell "just fits" from "too large".
        const ssize_t got =
            ::read(file.number, piece, std::min<std::uint64_t>(sizeof piece, room + 1 == 0 ? room : room + 1));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return storage_error("read", full, errno, {}, static_cast<std::int64_t>(content.size()));
        if (got == 0) return content;
        if (static_cast<std::uint64_t>(got) > room)
            return storage_error("read", full, EFBIG, "larger than " + std::to_string(limit_bytes) + " bytes");
        content.append(piece, static_cast<std::size_t>(got));
    }
}

Expected<FilesystemFacts> PosixBackend::facts(const std::string& path) {
    auto found = filesystem_at(display_path(path));
    if (!found) return found.error();
    FilesystemFacts facts;
    facts.type = found->type;
    facts.device = found->device;
    facts.free_bytes = found->free_bytes;
    facts.total_bytes = found->total_bytes;
    facts.free_inodes = found->free_inodes;
    facts.filesystem_id = found->id;
    facts.mount_point = found->mount_point;
    facts.mount_options = found->options;
    facts.is_network = found->is_network;
    facts.is_memory = found->is_memory;
    return facts;
}

} // namespace feedbench::storage
