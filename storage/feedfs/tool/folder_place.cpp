// A folder, as import and export see it.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <vector>

#include "harness/types/units.hpp"
#include "storage/feedfs/tool/outside_place.hpp"

namespace feedbench::feedfs::tool {

namespace {

constexpr const char* kPartial = ".feedfs-partial"; // behind the name of a file that is being exported

struct Descriptor {
    explicit Descriptor(int its_fd) : fd(its_fd) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int release() { return std::exchange(fd, -1); }
    int fd;
};

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }
timespec timespec_of(std::int64_t ns) {
    std::int64_t whole = ns / 1'000'000'000, rest = ns % 1'000'000'000;
    if (rest < 0) rest += 1'000'000'000, --whole;
    return {.tv_sec = whole, .tv_nsec = rest};
}

class FolderFile final : public OutsideFile {
  public:
    FolderFile(int fd, std::string path) : descriptor_(fd), path_(std::move(path)) {}
    Expected<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> into) override {
        std::uint64_t total = 0;
        while (total < into.size()) {
            const ssize_t got =
                ::pread(descriptor_.fd, into.data() + total, into.size() - total, static_cast<off_t>(offset + total));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return storage_error("read", path_, errno, {}, static_cast<std::int64_t>(offset + total));
            if (got == 0) break;
            total += static_cast<std::uint64_t>(got);
        }
        return total;
    }

  private:
    Descriptor descriptor_;
    std::string path_;
};

class FolderPlace final : public OutsidePlace {
  public:
    explicit FolderPlace(std::string folder) : folder_(std::move(folder)) {}
    std::string display(const std::string& path) const override {
        return path.empty() ? folder_ : folder_ + "/" + path;
    }
    bool keeps_attributes() const override { return true; }

    Status list(const std::function<Expected<bool>(OutsideEntry)>& each,
                const std::function<void(const std::string&)>& skipped) override {
        bool go_on = true;
        return list_below("", each, skipped, go_on);
    }

    Expected<std::unique_ptr<OutsideFile>> open(const OutsideEntry& entry) override {
        const std::string path = display(entry.path);
        const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) return storage_error("open", path, errno);
        ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        return std::unique_ptr<OutsideFile>(std::make_unique<FolderFile>(fd, path));
    }

    Expected<bool> has(const OutsideEntry& entry) override {
        struct stat about {};
        if (::lstat(display(entry.path).c_str(), &about) != 0) {
            if (errno == ENOENT) return false;
            return storage_error("stat", display(entry.path), errno);
        }
        return S_ISREG(about.st_mode) && static_cast<std::uint64_t>(about.st_size) == entry.size_bytes &&
               ns_of(about.st_mtim) == entry.mtime_ns;
    }

    Status write(const OutsideEntry& entry, const NextBytes& next) override {
        const std::string path = display(entry.path), partial = path + kPartial;
        Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (file.fd < 0) return storage_error("create", partial, errno);
        Status written = fill(file.fd, partial, next);
        if (written) written = set_attributes(file.fd, partial, entry);
        if (written && ::close(file.release()) != 0) written = storage_error("close", partial, errno);
        if (written && ::rename(partial.c_str(), path.c_str()) != 0) written = storage_error("rename", path, errno);
        if (!written) ::unlink(partial.c_str());
        return written;
    }

    Status make_directory(const OutsideEntry& entry) override {
        const std::string path = display(entry.path);
        if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
        return storage_error("mkdir", path, errno);
    }

    Status make_symlink(const OutsideEntry& entry) override {
        const std::string path = display(entry.path);
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return storage_error("unlink", path, errno);
        if (::symlink(entry.symlink_target.c_str(), path.c_str()) != 0) return storage_error("symlink", path, errno);
        const timespec times[2] = {timespec_of(entry.atime_ns), timespec_of(entry.mtime_ns)};
        if (::lchown(path.c_str(), entry.uid, entry.gid) != 0 && ::geteuid() == 0)
            return storage_error("chown", path, errno);
        if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
            return storage_error("utimens", path, errno);
        return {};
    }

    Status finish_directory(const OutsideEntry& entry) override {
        const std::string path = display(entry.path);
        const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder.fd < 0) return storage_error("open", path, errno);
        return set_attributes(folder.fd, path, entry);
    }

  private:
    Status list_below(const std::string& below, const std::function<Expected<bool>(OutsideEntry)>& each,
                      const std::function<void(const std::string&)>& skipped, bool& go_on) {
        const std::string path = display(below);
        DIR* stream = ::opendir(path.c_str());
        if (!stream) return storage_error("opendir", path, errno);
        std::vector<std::string> names;
        errno = 0;
        while (const dirent* one = ::readdir(stream)) {
            const std::string_view name = one->d_name;
            if (name != "." && name != "..") names.emplace_back(name);
        }
        const int error = errno;
        ::closedir(stream);
        if (error != 0) return storage_error("readdir", path, error);
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            OutsideEntry entry;
            entry.path = below.empty() ? name : below + "/" + name;
            const Expected<bool> wanted = describe(entry, skipped);
            if (!wanted) return wanted.error();
            if (!*wanted) continue;
            const bool is_directory = entry.type == InodeType::directory;
            const std::string its_path = entry.path;
            const Expected<bool> answer = each(std::move(entry));
            if (!answer) return answer.error();
            go_on = *answer;
            if (!go_on) return {};
            if (is_directory)
                if (Status ok = list_below(its_path, each, skipped, go_on); !ok || !go_on) return ok;
        }
        return {};
    }

    Expected<bool> describe(OutsideEntry& entry, const std::function<void(const std::string&)>& skipped) const {
        const std::string path = display(entry.path);
        struct stat about {};
        if (::lstat(path.c_str(), &about) != 0) return storage_error("stat", path, errno);
        if (S_ISDIR(about.st_mode)) {
            entry.type = InodeType::directory;
        } else if (S_ISLNK(about.st_mode)) {
            entry.type = InodeType::symlink;
            char target[PATH_MAX];
            const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
            if (length < 0) return storage_error("readlink", path, errno);
            entry.symlink_target.assign(target, static_cast<std::size_t>(length));
        } else if (!S_ISREG(about.st_mode)) {
            skipped(path + " is neither file, directory nor symbolic link: left out");
            return false;
        } else if (about.st_nlink > 1) {
            skipped(path + " has " + std::to_string(about.st_nlink) + " hard links: each becomes a file of its own");
        }
        entry.size_bytes = S_ISREG(about.st_mode) ? static_cast<std::uint64_t>(about.st_size) : 0;
        entry.mode = about.st_mode & 07777;
        entry.uid = about.st_uid;
        entry.gid = about.st_gid;
        entry.mtime_ns = ns_of(about.st_mtim);
        entry.atime_ns = ns_of(about.st_atim);
        return true;
    }

    static Status fill(int fd, const std::string& path, const NextBytes& next) {
        std::vector<std::byte> buffer(1 * kMiB);
        for (;;) {
            const Expected<std::size_t> got = next(buffer);
            if (!got) return got.error();
            for (std::size_t sent = 0; sent < *got;) {
                const ssize_t wrote = ::write(fd, buffer.data() + sent, *got - sent);
                if (wrote < 0 && errno == EINTR) continue;
                if (wrote < 0) return storage_error("write", path, errno);
                sent += static_cast<std::size_t>(wrote);
            }
            if (*got < buffer.size()) return {};
        }
    }

    // Owners as far as whoever runs this may set them.
    static Status set_attributes(int fd, const std::string& path, const OutsideEntry& entry) {
        if (::fchown(fd, entry.uid, entry.gid) != 0 && ::geteuid() == 0) return storage_error("chown", path, errno);
        if (::fchmod(fd, entry.mode) != 0) return storage_error("chmod", path, errno);
        const timespec times[2] = {timespec_of(entry.atime_ns), timespec_of(entry.mtime_ns)};
        if (::futimens(fd, times) != 0) return storage_error("utimens", path, errno);
        return {};
    }

    const std::string folder_;
};

} // namespace

Expected<std::unique_ptr<OutsidePlace>> make_folder_place(const std::string& folder) {
    std::string path = folder;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return std::unique_ptr<OutsidePlace>(std::make_unique<FolderPlace>(std::move(path)));
}

Expected<std::unique_ptr<OutsidePlace>> make_outside_place(const std::string& place) {
    const std::size_t scheme = place.find("://");
    if (scheme == std::string::npos) return make_folder_place(place);
    if (place.compare(0, scheme, "s3") == 0) return make_bucket_place(place);
    return usage_error("'" + place + "': a folder or s3://BUCKET/PREFIX is expected");
}

} // namespace feedbench::feedfs::tool
