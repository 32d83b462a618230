#include "harness/probes/page_cache.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace feedbench::probes;

namespace {

struct TemporaryFile {
    explicit TemporaryFile(std::size_t bytes) {
        char name[] = "/var/tmp/feedbench-residency-XXXXXX"; // /tmp may be a tmpfs, whose pages cannot be dropped
        fd = mkstemp(name);
        REQUIRE(fd >= 0);
        path = name;
        const std::vector<char> block(1 << 20, 'x');
        for (std::size_t left = bytes; left > 0;) {
            const auto n = write(fd, block.data(), std::min(left, block.size()));
            REQUIRE(n > 0);
            left -= static_cast<std::size_t>(n);
        }
    }
    ~TemporaryFile() {
        close(fd);
        std::filesystem::remove(path);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    int fd = -1;
    std::string path;
};

} // namespace

TEST_CASE("what was just written is resident, also after fsync") { // case C9
    const TemporaryFile file((3 << 20) + 5000);
    REQUIRE(fsync(file.fd) == 0);
    const Residency found = file_residency(file.path);
    INFO(found.null_reason);
    const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    CHECK(found.page_count == ((3 << 20) + 5000 + page_bytes - 1) / page_bytes);
    CHECK(found.fraction() == Approx(1.0));
}

TEST_CASE("what was dropped is not, and asking does not read it in again") {
    const TemporaryFile file(4 << 20);
    REQUIRE(fsync(file.fd) == 0);
    REQUIRE(posix_fadvise(file.fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
    const Residency first = file_residency(file.path), second = file_residency(file.path);
    if (first.fraction() == 1.0) { // tmpfs and some overlays keep their pages whatever one advises
        WARN("skipped: this filesystem does not drop pages");
        return;
    }
    CHECK(first.fraction() < 0.05);
    CHECK(second.resident_count <= first.resident_count);
}

TEST_CASE("a large file is asked about in a bounded number of windows") {
    const TemporaryFile file(0);
    REQUIRE(ftruncate(file.fd, off_t{1} << 34) == 0); // 16 GiB of hole
    const Residency found = file_residency(file.path, 8);
    INFO(found.null_reason);
    CHECK(found.page_count == 8u * ((1u << 20) / static_cast<unsigned>(sysconf(_SC_PAGESIZE))));
    CHECK(found.resident_count == 0);
}

TEST_CASE("what cannot be asked says why") {
    CHECK(file_residency("/nonexistent/file").null_reason.find("cannot be opened") != std::string::npos);
    CHECK(file_residency("/tmp").null_reason == "is not a regular file");
    const TemporaryFile empty(0);
    CHECK(file_residency(empty.path).null_reason == "is empty");
    CHECK(file_residency(empty.path).page_count == 0);
    CHECK(file_residency(empty.path).fraction() == 0.0);
}

TEST_CASE("the host says how much it caches") {
    const auto bytes = cached_bytes(Machine{});
    REQUIRE(bytes);
    CHECK(*bytes > 0);
    CHECK_FALSE(cached_bytes({"/nonexistent", "/nonexistent"}));
}

TEST_CASE("cachestat and mincore agree about a file half of which is resident") {
    const TemporaryFile file(8 << 20);
    REQUIRE(fsync(file.fd) == 0);
    REQUIRE(posix_fadvise(file.fd, 0, 4 << 20, POSIX_FADV_DONTNEED) == 0);
    const Residency best = file_residency(file.path);
    const Residency old = file_residency(file.path, 16, ResidencyMethod::mincore);
    INFO(best.null_reason << old.null_reason);
    CHECK(old.method == "mincore");
    CHECK((best.method == "cachestat" || best.method == "mincore")); // by the kernel's age
    CHECK(best.page_count == old.page_count);
    if (old.fraction() == 1.0) {
        WARN("skipped: this filesystem does not drop pages");
        return;
    }
    CHECK(old.fraction() == Approx(0.5).margin(0.05));
    CHECK(best.fraction() == Approx(old.fraction()).margin(0.05));
}
