#include "storage/posix_base.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "harness/types/units.hpp"

namespace feedbench::storage {

using engine::IoKind;
using engine::IoOp;

namespace {

constexpr std::uint32_t kDirectAlignmentBytes =
    4096;                                      // where the kernel does not say: no logical block in use is larger
constexpr std::uint64_t kMaxPieceBytes = kGiB; // read and write cut at 2 GiB - 4 KiB
// Smaller files are not worth a statfs each.
constexpr std::uint64_t kSpaceCheckBytes = kMiB;

std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string_view::npos ? std::string_view(".") : path.substr(0, slash);
}

// The name is durable only when its folder is.
int sync_folder(int root_fd, std::string_view path) {
    const int fd = ::openat(root_fd, std::string(folder_of(path)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -errno;
    int result = ::fsync(fd) == 0 ? 0 : -errno;
    if (result == -EINVAL)
        result = 0; // some network filesystems do not sync folders: their names are durable by protocol
    ::close(fd);
    return result;
}

} // namespace

RootFolder::~RootFolder() {
    if (fd() >= 0) ::close(fd());
}

int RootFolder::open_again() {
    const int opened = ::open(path_.empty() ? "/" : path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return errno;
    // Another thread may be using the old descriptor, so it keeps its number.
    int expected = -1;
    if (!fd_.compare_exchange_strong(expected, opened)) {
        const bool moved = ::dup3(opened, expected, O_CLOEXEC) >= 0;
        const int error = moved ? 0 : errno;
        ::close(opened);
        return error;
    }
    return 0;
}

int PosixFile::release() {
    int result = 0;
    if (fd >= 0 && ::close(fd) != 0) result = -errno;
    fd = -1;
    if (!temporary.empty()) ::unlinkat(root.fd(), temporary.c_str(), 0);
    temporary.clear();
    return result;
}

PosixBackend::PosixBackend(PosixSettings settings, Filesystem filesystem)
    : settings_(std::move(settings)), filesystem_(std::move(filesystem)), root_(settings_.root) {
    (void)root_.open_again(); // not there yet: datagen makes it
    capabilities_.name = "posix";
    capabilities_.direct_io = true;
    capabilities_.page_cached = !settings_.odirect || filesystem_.buffers_odirect;
    capabilities_.alignment_bytes = settings_.odirect ? kDirectAlignmentBytes : 1;
    if (settings_.odirect && filesystem_.buffers_odirect)
        capabilities_.note = "O_DIRECT is accepted by " + filesystem_.type + " (" + filesystem_.mount_point +
                             ") but is not real there: data comes from memory";
}

PosixBackend::~PosixBackend() = default;

std::string PosixBackend::display_path(const std::string& path) const {
    if (path.empty()) return settings_.root.empty() ? "/" : settings_.root;
    return settings_.root + "/" + path;
}

int PosixBackend::open_flags() const { return O_CLOEXEC | (settings_.odirect ? O_DIRECT : 0); }

void PosixBackend::fail_open(IoOp& op, int error) const {
    op.result = -error;
    if (error != EINVAL || !settings_.odirect) return;
    // A folder refuses O_DIRECT before it says that it is one.
    struct stat status {};
    if (op.kind == IoKind::open && ::fstatat(root_.fd(), std::string(op.path).c_str(), &status, 0) == 0 &&
        S_ISDIR(status.st_mode)) {
        op.result = -EISDIR;
        return;
    }
    op.message = "the filesystem " + filesystem_.type + " (mounted at " + filesystem_.mount_point +
                 ") refuses O_DIRECT; use another filesystem or set reader.odirect=false";
}

void PosixBackend::finish_open(IoOp& op, int fd, std::unique_ptr<PosixFile> file) {
    struct statx status {};
    const unsigned wanted = STATX_TYPE | STATX_SIZE | (settings_.odirect ? STATX_DIOALIGN : 0);
    if (::statx(fd, "", AT_EMPTY_PATH, wanted, &status) != 0) {
        op.result = -errno;
        ::close(fd);
        return;
    }
    if (!S_ISREG(status.stx_mode)) {
        op.result = S_ISDIR(status.stx_mode) ? -EISDIR : -EINVAL;
        if (!S_ISDIR(status.stx_mode)) op.message = "not a regular file";
        ::close(fd);
        return;
    }
    file->fd = fd;
    file->size_bytes = status.stx_size;
    if (settings_.odirect) {
        const bool said = (status.stx_mask & STATX_DIOALIGN) && status.stx_dio_offset_align != 0;
        file->alignment_bytes =
            said ? std::max({status.stx_dio_offset_align, status.stx_dio_mem_align, 512U}) : kDirectAlignmentBytes;
    } else if (settings_.readahead != Readahead::normal)
        ::posix_fadvise(fd, 0, 0,
                        settings_.readahead == Readahead::sequential ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM);
    op.result = 0;
    op.opened = std::move(file);
}

void PosixBackend::open_blocking(IoOp& op) {
    auto file = std::make_unique<PosixFile>(root_, -1, op.path);
    int fd = ::openat(root_.fd(), file->path.c_str(), O_RDONLY | open_flags());
    int error = fd < 0 ? errno : 0;
    if (error == ENOENT || error == EBADF) { // the root folder may have been made, or made again, since we looked
        error = root_.open_again();
        if (error == 0) {
            fd = ::openat(root_.fd(), file->path.c_str(), O_RDONLY | open_flags());
            error = fd < 0 ? errno : 0;
        }
    }
    if (error != 0) return fail_open(op, error);
    finish_open(op, fd, std::move(file));
}

void PosixBackend::create_blocking(IoOp& op) {
    if (root_.fd() < 0)
        if (const int error = root_.open_again(); error != 0) return fail_open(op, error);
    struct statfs space {};
    if (op.size_hint >= kSpaceCheckBytes && ::fstatfs(root_.fd(), &space) == 0) {
        const std::uint64_t free_bytes = space.f_bavail * static_cast<std::uint64_t>(space.f_bsize);
        if (space.f_blocks != 0 && free_bytes < op.size_hint) {
            op.result = -ENOSPC;
            op.message = "the file needs " + std::to_string(op.size_hint) + " bytes and " + std::to_string(free_bytes) +
                         " are free";
            return;
        }
    }
    std::string temporary;
    int fd = -1;
    for (int attempt = 0; attempt < 8; ++attempt) { // a name may be left over from a process that had our number
        temporary = temporary_beside(op.path);
        fd = ::openat(root_.fd(), temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | open_flags(), 0666);
        if (fd >= 0 || errno != EEXIST) break;
    }
    if (fd < 0) {
        const int error = errno;
        if (error == EINVAL)
            ::unlinkat(root_.fd(), temporary.c_str(), 0); // refusing O_DIRECT leaves an empty file behind
        return fail_open(op, error);
    }
    auto file = std::make_unique<PosixFile>(root_, fd, op.path);
    file->temporary = std::move(temporary);
    // Whole filesystem blocks, although smaller ones may be allowed: a direct write of a part of a block takes the slow
    // way.
    file->alignment_bytes = settings_.odirect ? kDirectAlignmentBytes : 1;
    op.result = 0;
    if (settings_.preallocate && op.size_hint > 0 &&
        ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(op.size_hint)) != 0 && errno != EOPNOTSUPP &&
        errno != ENOSYS) {
        op.result = -errno;
        op.message = "fallocate of " + std::to_string(op.size_hint) + " bytes";
        return; // `file` takes its temporary with it
    }
    op.opened = std::move(file);
}

bool PosixBackend::check_alignment(IoOp& op) const {
    if (!settings_.odirect) return true;
    const std::uint64_t unit = op.file->alignment_bytes;
    if ((op.offset | op.bytes | reinterpret_cast<std::uintptr_t>(op.data)) % unit == 0) return true;
    op.result = -EINVAL;
    op.message = "offset, length and memory of direct I/O must be multiples of " + std::to_string(unit) + " (length " +
                 std::to_string(op.bytes) + ")";
    return false;
}

bool PosixBackend::read_is_complete(const IoOp& op, std::uint64_t bytes) const {
    if (bytes >= op.bytes || op.offset + bytes >= op.file->size_bytes) return true;
    // A direct read that ends off the alignment has met the end of a file that was cut since it was opened.
    return settings_.odirect && bytes % op.file->alignment_bytes != 0;
}

void PosixBackend::read_blocking(IoOp& op) {
    std::uint64_t bytes = 0;
    do {
        const ssize_t got = ::pread(file_of(op).fd, op.data + bytes, std::min(op.bytes - bytes, kMaxPieceBytes),
                                    static_cast<off_t>(op.offset + bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            op.result = -errno;
            return;
        }
        if (got == 0) break;
        bytes += static_cast<std::uint64_t>(got);
    } while (!read_is_complete(op, bytes));
    op.result = static_cast<std::int64_t>(bytes);
}

void PosixBackend::write_blocking(IoOp& op) {
    for (std::uint64_t bytes = 0; bytes < op.bytes;) {
        const ssize_t put = ::pwrite(file_of(op).fd, op.data + bytes, std::min(op.bytes - bytes, kMaxPieceBytes),
                                     static_cast<off_t>(op.offset + bytes));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            op.result = put < 0 ? -errno : -EIO;
            return;
        }
        bytes += static_cast<std::uint64_t>(put);
    }
    op.result = static_cast<std::int64_t>(op.bytes);
}

void PosixBackend::commit_blocking(IoOp& op) {
    PosixFile& file = file_of(op);
    op.result = -EINVAL;
    if (file.temporary.empty()) {
        op.message = "commit of a file that is not being created";
        return;
    }
    if (op.size_hint > file.size_bytes) {
        op.message =
            "only " + std::to_string(file.size_bytes) + " of " + std::to_string(op.size_hint) + " bytes were written";
        return;
    }
    const auto failed = [&] { op.result = -errno; };
    if (op.size_hint < file.size_bytes) { // padding of direct writes
        if (::ftruncate(file.fd, static_cast<off_t>(op.size_hint)) != 0) return failed();
        if (file.flushed && ::fsync(file.fd) != 0) return failed();
        file.size_bytes = op.size_hint;
    }
    if (::renameat(root_.fd(), file.temporary.c_str(), root_.fd(), file.path.c_str()) != 0) return failed();
    file.temporary.clear();
    op.result = file.flushed ? sync_folder(root_.fd(), file.path) : 0;
}

void PosixBackend::account(IoOp& op) {
    if (op.result < 0) return;
    if (op.kind == IoKind::write) op.file->size_bytes = std::max(op.file->size_bytes, op.offset + op.bytes);
    if (op.kind == IoKind::flush) file_of(op).flushed = true;
}

void PosixBackend::perform_blocking(IoOp& op) {
    switch (op.kind) {
    case IoKind::open:
        return open_blocking(op);
    case IoKind::create:
        return create_blocking(op);
    case IoKind::read:
        return read_blocking(op);
    case IoKind::write:
        return write_blocking(op);
    case IoKind::flush:
        op.result = ::fsync(file_of(op).fd) == 0 ? 0 : -errno;
        return;
    case IoKind::commit:
        return commit_blocking(op);
    case IoKind::close:
        op.result = file_of(op).release();
        return;
    }
}

} // namespace feedbench::storage
