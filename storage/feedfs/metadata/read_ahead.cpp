#include "storage/feedfs/metadata/read_ahead.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace feedbench::feedfs {

void read_metadata_ahead(const std::string& file, std::uint64_t most_bytes) {
    constexpr off_t kPieceBytes = 1 << 20; // of larger pieces Linux reads but the front
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status {};
    if (::fstat(fd, &status) == 0 && static_cast<std::uint64_t>(status.st_size) <= most_bytes)
        for (off_t at = 0; at < status.st_size; at += kPieceBytes)
            ::posix_fadvise(fd, at, kPieceBytes, POSIX_FADV_WILLNEED);
    ::close(fd);
}

} // namespace feedbench::feedfs
