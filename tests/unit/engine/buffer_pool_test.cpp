#include "harness/engine/buffer_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace {

using namespace feedbench::engine;

TEST_CASE("buffer pool: aligned, apart from each other, resident from the start") {
    for (const bool huge : {false, true}) {
        auto made =
            BufferPool::make({.buffer_bytes = 5000, .buffer_count = 700, .alignment_bytes = 4096, .huge_pages = huge});
        REQUIRE(made);
        const auto buffers = (*made)->buffers();
        REQUIRE(buffers.size() == 700);
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            REQUIRE(reinterpret_cast<std::uintptr_t>(buffers[i].data()) % 4096 == 0);
            REQUIRE(buffers[i].size() == 5000);
            if (i > 0) REQUIRE(buffers[i].data() >= buffers[i - 1].data() + 5000);
        }
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        std::byte* begin = buffers.front().data();
        const std::size_t bytes = static_cast<std::size_t>(buffers.back().data() - begin) + 5000;
        std::vector<unsigned char> resident((bytes + page - 1) / page);
        REQUIRE(::mincore(begin, bytes, resident.data()) == 0);
        for (const unsigned char r : resident) REQUIRE((r & 1) == 1);
    }
}

TEST_CASE("buffer pool: hands out the buffer that has rested longest, and nothing when all are out") {
    auto made = BufferPool::make({.buffer_bytes = 4096, .buffer_count = 3});
    REQUIRE(made);
    BufferPool& pool = **made;
    BufferLease a = pool.try_lease(), b = pool.try_lease(), c = pool.try_lease();
    CHECK(std::set<int>{a.index(), b.index(), c.index()} == std::set<int>{0, 1, 2});
    CHECK(pool.free_count() == 0);
    CHECK_FALSE(pool.try_lease());
    const int first = b.index(), second = a.index();
    b.release();
    CHECK_FALSE(b);
    CHECK(b.data() == nullptr);
    b.release(); // again: nothing
    a = BufferLease{};
    CHECK(pool.free_count() == 2);
    const BufferLease d = pool.try_lease(), e = pool.try_lease();
    CHECK(d.index() == first);
    CHECK(e.index() == second);
    // A lone user walks through all of the memory instead of warming one buffer.
    c.release();
    BufferLease moved = pool.try_lease();
    BufferLease target = std::move(moved);
    CHECK_FALSE(moved);
    CHECK(target);
    CHECK(pool.free_count() == 0);
}

TEST_CASE("buffer pool: rotation over a hundred leases touches every buffer equally often") {
    auto made = BufferPool::make({.buffer_bytes = 100, .buffer_count = 10});
    REQUIRE(made);
    std::vector<int> times(10);
    for (int i = 0; i < 100; ++i) ++times[static_cast<std::size_t>((*made)->try_lease().index())];
    CHECK(times == std::vector<int>(10, 10));
}

TEST_CASE("buffer pool: memory that cannot be had and layouts that make no sense are errors") {
    const auto too_large = BufferPool::make({.buffer_bytes = std::uint64_t{1} << 40, .buffer_count = 64});
    REQUIRE_FALSE(too_large);
    CHECK(too_large.error().describe().find("MiB") != std::string::npos);
    CHECK_FALSE(BufferPool::make({.buffer_bytes = ~std::uint64_t{0} / 2, .buffer_count = 4096}));
    CHECK_FALSE(BufferPool::make({.buffer_bytes = 0, .buffer_count = 4}));
    CHECK_FALSE(BufferPool::make({.buffer_bytes = 4096, .buffer_count = 0}));
    CHECK_FALSE(BufferPool::make({.buffer_bytes = 4096, .buffer_count = 1, .alignment_bytes = 3000}));
}

TEST_CASE("buffer pool: layout_for covers the users and the rotation") {
    CHECK(BufferPool::layout_for(262144, 4, 64 << 20).buffer_count == 256);
    CHECK(BufferPool::layout_for(262144, 1000, 64 << 20).buffer_count == 1000);
    CHECK(BufferPool::layout_for(1 << 30, 1, 64 << 20).buffer_count == 1);
    const std::uint64_t cache = BufferPool::last_level_cache_bytes();
    CHECK(cache >= 256 * 1024);
    const auto by_default = BufferPool::layout_for(262144, 1, 0);
    CHECK(by_default.buffer_bytes * by_default.buffer_count >= 2 * cache);
}

} // namespace
