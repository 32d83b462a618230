// A folder of a local filesystem as a target: O_DIRECT, one file a segment.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <mutex>

#include "storage/feedfs/folder_target.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::size_t kPiecesMost = 512; // of one pwritev; the kernel's limit is 1024

bool is_aligned(std::uint64_t value) { return value % kBlockBytes == 0; }
bool is_aligned(const void* memory) { return is_aligned(reinterpret_cast<std::uintptr_t>(memory)); }

class DirectoryFile final : public TargetFile {
  public:
    DirectoryFile(int fd, std::string path, bool is_new) : fd_(fd), path_(std::move(path)), name_is_synced_(!is_new) {}
    ~DirectoryFile() override {
        ::close(fd_);
        if (buffered_fd_ >= 0) ::close(buffered_fd_);
    }
    DirectoryFile(const DirectoryFile&) = delete;
    DirectoryFile& operator=(const DirectoryFile&) = delete;

    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
        const bool direct = is_aligned(offset) && is_aligned(into.size()) && is_aligned(into.data());
        const int fd = descriptor(direct);
        if (fd < 0) return storage_error("open", path_, EMFILE, "no descriptor for buffered reads could be had");
        std::uint64_t done = 0;
        while (done < into.size()) {
            const ssize_t got = ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return failed("read", offset + done);
            done += static_cast<std::uint64_t>(got);
            if (got == 0 || (direct && !is_aligned(done))) break; // the end of the file
        }
        return done;
    }

    Status write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
        assert(is_aligned(offset));
        std::vector<iovec> vectors;
        vectors.reserve(pieces.size());
        for (const auto& piece : pieces) {
            assert(is_aligned(piece.size()) && is_aligned(piece.data()));
            vectors.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
        }
        for (std::size_t first = 0; first < vectors.size();) {
            const std::size_t count = std::min(vectors.size() - first, kPiecesMost);
            const ssize_t put =
                ::pwritev(fd_, vectors.data() + first, static_cast<int>(count), static_cast<off_t>(offset));
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) return put < 0 ? failed("write", offset) : storage_error("write", path_, EIO);
            offset += static_cast<std::uint64_t>(put);
            for (auto left = static_cast<std::size_t>(put); left > 0;) {
                iovec& vector = vectors[first];
                const std::size_t taken = std::min(left, vector.iov_len);
                vector.iov_base = static_cast<std::byte*>(vector.iov_base) + taken;
                vector.iov_len -= taken;
                left -= taken;
                if (vector.iov_len == 0) ++first;
            }
        }
        return {};
    }

    Status sync() override {
        if (::fdatasync(fd_) != 0) return failed("fsync");
        if (name_is_synced_.load()) return {};
        if (Status named = sync_name(path_); !named) return named;
        name_is_synced_.store(true);
        return {};
    }

    Status finish(std::uint64_t size) override {
        if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return failed("truncate");
        return {};
    }

    Expected<std::uint64_t> size() const override {
        struct stat status {};
        if (::fstat(fd_, &status) != 0) return failed("stat");
        return static_cast<std::uint64_t>(status.st_size);
    }

    int descriptor(bool direct) const override {
        if (direct) return fd_;
        // Opened again through /proc, which works for a file that has lost its name, too.
        std::call_once(buffered_once_, [this] {
            buffered_fd_ = ::open(("/proc/self/fd/" + std::to_string(fd_)).c_str(), O_RDONLY | O_CLOEXEC);
        });
        return buffered_fd_;
    }

  private:
    Error failed(const char* operation, std::uint64_t offset = 0) const {
        return storage_error(operation, path_, errno, {}, static_cast<std::int64_t>(offset));
    }

    const int fd_;
    const std::string path_;
    std::atomic<bool> name_is_synced_;
    mutable std::once_flag buffered_once_;
    mutable int buffered_fd_ = -1;
};

class DirectoryTarget final : public FolderTarget {
  public:
    DirectoryTarget(TargetConfig config, std::string folder)
        : FolderTarget(config, std::move(folder), "target " + std::to_string(config.id)) {}

    Expected<std::shared_ptr<TargetFile>> create(const std::string& name, std::uint64_t reserve_bytes) override {
        auto file = open_file(name, O_RDWR | O_CREAT | O_EXCL, "create");
        if (!file || reserve_bytes == 0) return file;
        // Reserved, so that writes do not grow the file one by one. Where so much is not free, or the filesystem
        // cannot, the file grows.
        (void)::fallocate((*file)->descriptor(true), 0, 0, static_cast<off_t>(reserve_bytes));
        return file;
    }
    Expected<std::shared_ptr<TargetFile>> open(const std::string& name) override {
        return open_file(name, O_RDONLY, "open");
    }
    Expected<std::shared_ptr<TargetFile>> open_for_repair(const std::string& name) override {
        return open_file(name, O_RDWR, "open");
    }

  private:
    Expected<std::shared_ptr<TargetFile>> open_file(const std::string& name, int flags, const char* operation) {
        const std::string where = path(name);
        flags |= O_DIRECT | O_CLOEXEC;
        // Nobody asks when a segment was read; to keep account of it costs each read. The kernel grants it to the
        // owner.
        const int quiet = (flags & O_CREAT) ? 0 : O_NOATIME;
        int fd = ::open(where.c_str(), flags | quiet, 0644);
        if (fd < 0 && errno == EPERM && quiet != 0) fd = ::open(where.c_str(), flags, 0644);
        if (fd < 0) {
            const int error = errno;
            if (error == EINVAL) {
                if (flags & O_EXCL) ::unlink(where.c_str()); // refusing O_DIRECT leaves an empty file behind
                return storage_error(operation, where, error, "this filesystem refuses O_DIRECT, which feedfs needs");
            }
            return missing_or(operation, where, error);
        }
        return std::shared_ptr<TargetFile>(std::make_shared<DirectoryFile>(fd, where, (flags & O_CREAT) != 0));
    }
};

} // namespace

std::unique_ptr<Target> make_directory_target(TargetConfig config, std::string absolute_folder) {
    return std::make_unique<DirectoryTarget>(std::move(config), std::move(absolute_folder));
}

} // namespace feedbench::feedfs
