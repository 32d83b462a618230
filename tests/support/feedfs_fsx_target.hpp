// What random operations are tried on: a volume through the library, or a folder through the kernel.
//
// Thread: one. Owner: the test. Units: bytes, ns. Errors: all answer 0 or an errno. Source: issue 7.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace feedbench::test {

struct FsxPiece {
    std::uint64_t offset = 0;
    std::string bytes;
};
struct FsxStat {
    char kind = 'f'; // f, d, l
    std::uint64_t size = 0;
    unsigned mode = 0;
    std::int64_t mtime_ns = 0;
};

class FsxTarget {
  public:
    virtual ~FsxTarget() = default;
    // The pieces in this order, then the size; over what is there or new (exclusive).
    virtual int write(const std::string& path, const std::vector<FsxPiece>& pieces, std::uint64_t size, bool exclusive,
                      bool sync) = 0;
    virtual int read(const std::string& path, std::uint64_t offset, std::uint64_t bytes, std::string& out) = 0;
    virtual int change_written(const std::string& path, std::uint64_t offset) = 0; // must be EOPNOTSUPP
    virtual int open(const std::string& path, int slot) = 0;
    virtual int read_open(int slot, std::uint64_t offset, std::uint64_t bytes, std::string& out) = 0;
    virtual void close(int slot) = 0;
    virtual int rename(const std::string& from, const std::string& to) = 0;
    virtual int unlink(const std::string& path) = 0;
    virtual int mkdir(const std::string& path) = 0;
    virtual int rmdir(const std::string& path) = 0;
    virtual int symlink(const std::string& target, const std::string& path) = 0;
    virtual int readlink(const std::string& path, std::string& out) = 0;
    virtual int chmod(const std::string& path, unsigned mode) = 0;
    virtual int set_mtime(const std::string& path, std::int64_t ns) = 0;
    virtual int stat(const std::string& path, FsxStat& out) = 0;
    virtual int list(const std::string& path, std::set<std::string>& names) = 0;
    virtual int sync() = 0;
    virtual bool keeps_replaced_content() const = 0; // who has a file open does not see what replaces it in place
    virtual void restart() {}                        // where it can be closed and opened again between two operations
};

} // namespace feedbench::test
