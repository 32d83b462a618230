// feedfs_fsx DIR --seed S --operations N [--largest BYTES] [--check]: random operations on a mount beside a model.
//
// Ends with 0, or with 1 and the seed, number and words of the operation that answered wrongly. --check: plays the
// model alone and compares DIR with it, as an earlier call with the same numbers must have left it.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/support/feedfs_random_operations.hpp"

namespace feedbench::test {
namespace {

class Folder final : public FsxTarget {
  public:
    explicit Folder(std::string root) : root_(std::move(root)) {}

    int write(const std::string& path, const std::vector<FsxPiece>& pieces, std::uint64_t size, bool exclusive,
              bool sync) override {
        const int fd = ::open(at(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (exclusive ? O_EXCL : O_TRUNC), 0644);
        if (fd < 0) return errno;
        int problem = 0;
        for (const FsxPiece& piece : pieces) {
            const ssize_t wrote =
                ::pwrite(fd, piece.bytes.data(), piece.bytes.size(), static_cast<off_t>(piece.offset));
            if (wrote != static_cast<ssize_t>(piece.bytes.size())) problem = wrote < 0 ? errno : EIO;
            if (problem != 0) break;
            // Read-your-writes, before it is closed.
            std::string back(std::min<std::size_t>(piece.bytes.size(), 100), '\0');
            if (::pread(fd, back.data(), back.size(), static_cast<off_t>(piece.offset)) !=
                    static_cast<ssize_t>(back.size()) ||
                back != piece.bytes.substr(0, back.size()))
                problem = EILSEQ;
        }
        if (problem == 0 && ::ftruncate(fd, static_cast<off_t>(size)) != 0) problem = errno;
        if (problem == 0 && sync && ::fsync(fd) != 0) problem = errno;
        if (::close(fd) != 0 && problem == 0) problem = errno;
        return problem;
    }
    int read(const std::string& path, std::uint64_t offset, std::uint64_t bytes, std::string& out) override {
        const int fd = ::open(at(path).c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return errno;
        const int problem = read_from(fd, offset, bytes, out);
        ::close(fd);
        return problem;
    }
    int change_written(const std::string& path, std::uint64_t offset) override {
        const int appending = ::open(at(path).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        if (appending >= 0) ::close(appending);
        if (appending >= 0) return EILSEQ; // it is not empty
        const int fd = ::open(at(path).c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return errno;
        const int problem = ::pwrite(fd, "changed", 7, static_cast<off_t>(offset)) < 0 ? errno : 0;
        ::close(fd);
        return problem;
    }
    int open(const std::string& path, int slot) override {
        const int fd = ::open(at(path).c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return errno;
        open_[static_cast<std::size_t>(slot)] = fd;
        return 0;
    }
    int read_open(int slot, std::uint64_t offset, std::uint64_t bytes, std::string& out) override {
        return read_from(open_[static_cast<std::size_t>(slot)], offset, bytes, out);
    }
    void close(int slot) override { ::close(open_[static_cast<std::size_t>(slot)]); }
    int rename(const std::string& from, const std::string& to) override {
        return answer(::rename(at(from).c_str(), at(to).c_str()));
    }
    int unlink(const std::string& path) override { return answer(::unlink(at(path).c_str())); }
    int mkdir(const std::string& path) override { return answer(::mkdir(at(path).c_str(), 0755)); }
    int rmdir(const std::string& path) override { return answer(::rmdir(at(path).c_str())); }
    int symlink(const std::string& target, const std::string& path) override {
        return answer(::symlink(target.c_str(), at(path).c_str()));
    }
    int readlink(const std::string& path, std::string& out) override {
        char target[4096];
        const ssize_t length = ::readlink(at(path).c_str(), target, sizeof target);
        if (length < 0) return errno;
        out.assign(target, static_cast<std::size_t>(length));
        return 0;
    }
    int chmod(const std::string& path, unsigned mode) override { return answer(::chmod(at(path).c_str(), mode)); }
    int set_mtime(const std::string& path, std::int64_t ns) override {
        const timespec times[2] = {{0, UTIME_OMIT}, {ns / 1'000'000'000, ns % 1'000'000'000}};
        return answer(::utimensat(AT_FDCWD, at(path).c_str(), times, 0));
    }
    int stat(const std::string& path, FsxStat& out) override {
        struct stat about {};
        if (::lstat(at(path).c_str(), &about) != 0) return errno;
        out.kind = S_ISDIR(about.st_mode) ? 'd' : S_ISLNK(about.st_mode) ? 'l' : 'f';
        out.size = static_cast<std::uint64_t>(about.st_size);
        out.mode = about.st_mode & 07777;
        out.mtime_ns = about.st_mtim.tv_sec * 1'000'000'000LL + about.st_mtim.tv_nsec;
        return 0;
    }
    int list(const std::string& path, std::set<std::string>& names) override {
        DIR* stream = ::opendir(at(path).c_str());
        if (!stream) return errno;
        int problem = 0;
        while (const dirent* one = ::readdir(stream)) {
            const std::string name = one->d_name;
            if (name != "." && name != ".." && !names.insert(name).second) problem = EEXIST; // told of twice
        }
        ::closedir(stream);
        return problem;
    }
    int sync() override {
        const int fd = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) return errno;
        const int problem = ::fsync(fd) == 0 ? 0 : errno;
        ::close(fd);
        return problem;
    }
    bool keeps_replaced_content() const override { return false; }

  private:
    std::string at(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }
    static int answer(int result) { return result == 0 ? 0 : errno; }
    static int read_from(int fd, std::uint64_t offset, std::uint64_t bytes, std::string& out) {
        out.resize(bytes);
        std::size_t total = 0;
        while (total < bytes) {
            const ssize_t got = ::pread(fd, out.data() + total, bytes - total, static_cast<off_t>(offset + total));
            if (got < 0) return errno;
            if (got == 0) break;
            total += static_cast<std::size_t>(got);
        }
        out.resize(total);
        return 0;
    }

    const std::string root_;
    std::array<int, 16> open_{};
};

int run(int count, char** words) {
    std::uint64_t seed = 1, operations = 1000, largest = 9'000'000;
    bool only_check = false;
    std::string folder;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto number = [&] { return i + 1 < count ? std::strtoull(words[++i], nullptr, 10) : 0; };
        if (word == "--seed")
            seed = number();
        else if (word == "--operations")
            operations = number();
        else if (word == "--largest")
            largest = number();
        else if (word == "--check")
            only_check = true;
        else
            folder = word;
    }
    if (folder.empty())
        return std::fprintf(stderr, "usage: feedfs_fsx DIR --seed S --operations N [--largest BYTES] [--check]\n"), 2;
    Folder target(folder);
    try {
        RandomOperations operations_on(seed, only_check ? nullptr : &target, largest);
        operations_on.run(operations);
        operations_on.compare_with(&target);
        operations_on.verify_all();
    } catch (const std::runtime_error& problem) {
        std::fprintf(stderr, "feedfs_fsx: %s\n", problem.what());
        return 1;
    }
    std::printf("seed %llu: %llu operations as the model has it\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(operations));
    return 0;
}

} // namespace
} // namespace feedbench::test

int main(int count, char** words) { return feedbench::test::run(count, words); }
