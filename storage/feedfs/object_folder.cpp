// A folder as the object tier: any filesystem, through the page cache; files appear by rename.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "storage/feedfs/folder_target.hpp"
#include "storage/feedfs/object_target.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::string_view kPartial = ".partial";

class ObjectFile final : public TargetFile {
  public:
    // `partial`: the name that it has until sync(); empty: it is there already.
    ObjectFile(int fd, std::string path, std::string partial)
        : fd_(fd), path_(std::move(path)), partial_(std::move(partial)) {}
    ~ObjectFile() override {
        ::close(fd_);
        if (!partial_.empty()) ::unlink(partial_.c_str());
    }
    ObjectFile(const ObjectFile&) = delete;
    ObjectFile& operator=(const ObjectFile&) = delete;

    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
        std::uint64_t done = 0;
        while (done < into.size()) {
            const ssize_t got = ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return failed("read", offset + done);
            if (got == 0) break;
            done += static_cast<std::uint64_t>(got);
        }
        return done;
    }
    Status write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
        for (std::span<const std::byte> piece : pieces)
            while (!piece.empty()) {
                const ssize_t put = ::pwrite(fd_, piece.data(), piece.size(), static_cast<off_t>(offset));
                if (put < 0 && errno == EINTR) continue;
                if (put < 0) return failed("write", offset);
                offset += static_cast<std::uint64_t>(put);
                piece = piece.subspan(static_cast<std::size_t>(put));
            }
        return {};
    }
    Status sync() override {
        if (::fsync(fd_) != 0) return failed("fsync");
        if (partial_.empty()) return {};
        if (::rename(partial_.c_str(), path_.c_str()) != 0) return failed("rename");
        partial_.clear();
        return sync_name(path_);
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
    int descriptor(bool /*direct*/) const override { return -1; } // reads go through the fast tier's cache

  private:
    Error failed(const char* operation, std::uint64_t offset = 0) const {
        return storage_error(operation, path_, errno, {}, static_cast<std::int64_t>(offset));
    }
    const int fd_;
    const std::string path_;
    std::string partial_;
};

class ObjectFolder final : public FolderTarget {
  public:
    ObjectFolder(TargetConfig config, std::string folder)
        : FolderTarget(std::move(config), std::move(folder), "the object tier") {}

    Expected<std::shared_ptr<TargetFile>> create(const std::string& name, std::uint64_t /*reserve_bytes*/) override {
        // Of this process and call: two that upload one segment do not write into each other's.
        const std::string partial = path(name) + "." + std::to_string(::getpid()) + "-" +
                                    std::to_string(created_.fetch_add(1)) + std::string(kPartial);
        const int fd = ::open(partial.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0) return missing_or("create", path(name), errno);
        return std::shared_ptr<TargetFile>(std::make_shared<ObjectFile>(fd, path(name), partial));
    }
    Expected<std::shared_ptr<TargetFile>> open(const std::string& name) override { return open_as(name, O_RDONLY); }
    Expected<std::shared_ptr<TargetFile>> open_for_repair(const std::string& name) override {
        return open_as(name, O_RDWR);
    }

  private:
    bool is_shown(const std::string& name) const override { return !name.ends_with(kPartial); }
    Expected<std::shared_ptr<TargetFile>> open_as(const std::string& name, int flags) {
        const int fd = ::open(path(name).c_str(), flags | O_CLOEXEC);
        if (fd < 0) return missing_or("open", path(name), errno);
        return std::shared_ptr<TargetFile>(std::make_shared<ObjectFile>(fd, path(name), std::string()));
    }

    std::atomic<std::uint64_t> created_{0};
};

} // namespace

std::unique_ptr<Target> make_object_folder(TargetConfig config, std::string absolute_folder) {
    return std::make_unique<ObjectFolder>(std::move(config), std::move(absolute_folder));
}

std::unique_ptr<Target> make_object_target(const TargetConfig& config, const VolumeConfig& volume) {
    if (config.place.starts_with("s3://")) return make_object_bucket(config);
    return make_object_folder(config, volume.absolute_place(config.place));
}

} // namespace feedbench::feedfs
