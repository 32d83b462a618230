#include "storage/feedfs/metadata/lmdb_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "storage/feedfs/metadata/lmdb_environment.hpp"

namespace feedbench::feedfs {

namespace {

constexpr off_t kMagicOffset = 16;             // behind the page's header
constexpr std::int64_t kBytesLeast = 2 * 4096; // two roots

Error unexpected(const std::string& file, const std::string& found) {
    return storage_error("open", file, EUCLEAN,
                         found + ", but the volume's metadata, an LMDB file, was expected: put the file back from a "
                                 "backup, without an old sync-point");
}

} // namespace

Status check_lmdb_file(const std::string& file, bool may_be_empty) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return storage_error("open", file, errno);
    struct stat facts {};
    std::uint32_t magic = 0;
    const bool is_known = ::fstat(fd, &facts) == 0;
    const bool is_read = ::pread(fd, &magic, sizeof magic, kMagicOffset) == static_cast<ssize_t>(sizeof magic);
    ::close(fd);
    if (!is_known || !S_ISREG(facts.st_mode)) return unexpected(file, "this is no file");
    if (facts.st_size == 0) return may_be_empty ? Status() : unexpected(file, "the file is empty");
    if (facts.st_size < kBytesLeast || !is_read)
        return unexpected(file, "the file has " + std::to_string(facts.st_size) + " bytes");
    if (magic == kLmdbMagic) return {};
    char text[80];
    std::snprintf(text, sizeof text, "the file has %08x at byte 16, where LMDB writes %08x", magic, kLmdbMagic);
    return unexpected(file, text);
}

void lengthen_lmdb_file(MDB_env* environment) {
    MDB_envinfo info{};
    MDB_stat stat{};
    int fd = -1;
    struct stat facts {};
    if (mdb_env_info(environment, &info) != 0 || mdb_env_stat(environment, &stat) != 0 ||
        mdb_env_get_fd(environment, &fd) != 0 || ::fstat(fd, &facts) != 0)
        return;
    const std::uint64_t end = (std::uint64_t{info.me_last_pgno} + 1) * stat.ms_psize;
    if (static_cast<std::uint64_t>(facts.st_size) >= end || end > info.me_mapsize) return;
    // A page at the end that was given back before it was written may be missing, too: so this is no error yet.
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const int writable = ::open(path.c_str(), O_RDWR | O_CLOEXEC); // LMDB's own may be for reading
    if (writable < 0) return;
    (void)::fallocate(writable, 0, static_cast<off_t>(end - 1), 1); // only ever lengthens, whoever else writes
    ::close(writable);
}

} // namespace feedbench::feedfs
