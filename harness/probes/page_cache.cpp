#include "harness/probes/page_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "harness/probes/proc_file.hpp"
#include "harness/types/units.hpp"

namespace feedbench::probes {
namespace {

constexpr std::uint64_t kWindowBytes = kMiB;

struct Descriptor {
    explicit Descriptor(const std::string& path) : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int fd;
};

Residency no_answer(std::string reason) {
    Residency none;
    none.null_reason = std::move(reason);
    return none;
}

// Of linux/mman.h since 6.5; older headers have neither the structures nor the number, which is the same everywhere.
constexpr long kSysCachestat = 451;
struct CachestatRange {
    std::uint64_t offset, bytes;
};
struct Cachestat {
    std::uint64_t cached_count, dirty_count, writeback_count, evicted_count, recently_evicted_count;
};

// Adds the pages of [offset, offset + bytes) to `sum`; 0 or errno.
int ask_cachestat(int fd, std::uint64_t offset, std::uint64_t bytes, std::uint64_t page_bytes, Residency& sum) {
    CachestatRange range{offset, bytes};
    Cachestat found{};
    if (syscall(kSysCachestat, fd, &range, &found, 0U) != 0) return errno;
    const std::uint64_t count = (bytes + page_bytes - 1) / page_bytes;
    sum.page_count += count;
    sum.resident_count += std::min(found.cached_count, count);
    return 0;
}

int ask_mincore(int fd, std::uint64_t offset, std::uint64_t bytes, std::uint64_t page_bytes, Residency& sum) {
    void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (map == MAP_FAILED) return errno;
    std::array<unsigned char, kWindowBytes / 4096> pages{}; // 4096 is the smallest page there is
    const std::uint64_t count = (bytes + page_bytes - 1) / page_bytes;
    const int failed = mincore(map, bytes, pages.data()) != 0 ? errno : 0;
    munmap(map, bytes);
    if (failed != 0) return failed;
    sum.page_count += count;
    sum.resident_count +=
        static_cast<std::uint64_t>(std::count_if(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(count),
                                                 [](unsigned char page) { return (page & 1) != 0; }));
    return 0;
}

// Windows spread evenly over a file.
struct Windows {
    Windows(std::uint64_t file_bytes, std::uint32_t most)
        : size(file_bytes), in_file((file_bytes + kWindowBytes - 1) / kWindowBytes),
          asked(std::min<std::uint64_t>(in_file, std::max<std::uint32_t>(most, 1))) {}
    std::uint64_t size, in_file, asked;

    template <class Ask>
    Residency ask(int fd, Ask ask_one) const {
        const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
        Residency sum;
        for (std::uint64_t i = 0; i < asked; ++i) {
            const std::uint64_t offset = i * in_file / asked * kWindowBytes;
            const int failed = ask_one(fd, offset, std::min(kWindowBytes, size - offset), page_bytes, sum);
            if (failed != 0) return no_answer(std::string("cannot be asked: ") + std::strerror(failed));
        }
        return sum;
    }
};

} // namespace

Residency file_residency(const std::string& path, std::uint32_t window_count, ResidencyMethod method) {
    const Descriptor file(path);
    if (file.fd < 0) return no_answer(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat facts {};
    if (fstat(file.fd, &facts) != 0)
        return no_answer(std::string("cannot be asked for its size: ") + std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) return no_answer("is not a regular file");
    if (facts.st_size == 0) return no_answer("is empty");

    const Windows windows(static_cast<std::uint64_t>(facts.st_size), window_count);
    if (method == ResidencyMethod::best) {
        Residency found = windows.ask(file.fd, ask_cachestat);
        found.method = "cachestat";
        // An older kernel; a sandbox that forbids what it does not know; a kernel that asks for the right to write.
        if (found.null_reason.empty()) return found;
    }
    // The kernel's own condition (can_do_mincore); without it every page would be called resident.
    if (facts.st_uid != geteuid() && access(path.c_str(), W_OK) != 0)
        return no_answer("the kernel tells residency only to the owner of a file or to who may write it");
    Residency found = windows.ask(file.fd, ask_mincore);
    if (found.null_reason.empty()) found.method = "mincore";
    return found;
}

std::optional<std::uint64_t> cached_bytes(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/meminfo");
    return content ? field_kib_as_bytes(*content, "Cached") : std::nullopt;
}

std::vector<Fact> page_cache_facts(const Machine& machine) {
    const auto bytes = cached_bytes(machine);
    if (!bytes) return {{"page_cache_bytes", {}, {}, "/proc/meminfo has no Cached"}};
    return {{"page_cache_bytes", static_cast<double>(*bytes), {}, {}}};
}

} // namespace feedbench::probes
