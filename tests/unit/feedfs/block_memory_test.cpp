// Memory of chunks and records: what lies where, and what is used again.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "storage/feedfs/block_memory.hpp"
#include "storage/feedfs/by_chunk.hpp"

namespace {

using namespace feedbench::feedfs;

bool is_aligned(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data) % 4096 == 0; }

TEST_CASE("block memory: what one thread takes in a row lies in a row, and is used again when it is back") {
    BlockMemory memory;
    std::vector<BlockBuffer> buffers;
    for (int i = 0; i < 341; ++i) { // as many as a row of 4 MiB holds
        buffers.push_back(memory.take_in_row(10'304));
        CHECK(is_aligned(buffers.back().data()));
        CHECK(buffers.back().size() == 12'288);
        if (i > 0) CHECK(buffers[i].data() == buffers[i - 1].data() + 12'288);
    }
    const std::byte* const first = buffers.front().data();
    const BlockBuffer other = memory.take_in_row(8192); // 4096 bytes are left in the row
    CHECK(other.data() != buffers.back().data() + 12'288);
    buffers.clear();
    // All of the first row is back, which the next row that is begun is made of.
    std::vector<BlockBuffer> again;
    while (again.empty() || again.back().data() != first) {
        REQUIRE(again.size() < 600);
        again.push_back(memory.take_in_row(8192));
    }
    CHECK(again.size() == 512); // the second row held one, and had room for 511 more
}

TEST_CASE("block memory: a row of which all is back is begun anew, while it is still warm") {
    BlockMemory memory;
    BlockBuffer one = memory.take_in_row(4096);
    const std::byte* const place = one.data();
    one.release();
    CHECK(memory.take_in_row(4096).data() == place);
}

TEST_CASE("block memory: no two threads are given the same bytes") {
    BlockMemory memory(4 << 20); // less than is in use, so that some of it goes back to the system
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (unsigned number = 1; number <= 12; ++number) // more than there are lanes
        threads.emplace_back([&memory, &wrong, number] {
            std::mt19937 random(number);
            std::vector<std::pair<BlockBuffer, std::byte>> held;
            for (int step = 0; step < 2000; ++step) {
                const std::size_t bytes = 1 + random() % 200'000;
                BlockBuffer buffer = step % 3 == 0 ? memory.take(bytes) : memory.take_in_row(bytes);
                if (buffer.size() < bytes || !is_aligned(buffer.data())) ++wrong;
                const auto mark = static_cast<std::byte>(random());
                std::memset(buffer.data(), static_cast<int>(mark), bytes);
                held.emplace_back(std::move(buffer), mark);
                if (held.size() > 20) {
                    auto& [oldest, written] = held.front();
                    if (oldest.data()[0] != written) ++wrong;
                    held.erase(held.begin());
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("block memory: sizes, and a record of a whole chunk in the class of its chunk") {
    BlockMemory memory;
    CHECK(memory.take(1).size() == 16'384);
    CHECK(memory.take(16'385).size() == 32'768);
    CHECK(memory.take((4 << 20) + 4096).size() == (4 << 20) + 4096);
    CHECK(memory.take((4 << 20) + 4097).size() == (8 << 20) + 4096);
    CHECK(memory.take((20 << 20) + 1).size() == (20 << 20) + 4096);
}

TEST_CASE("by chunk: the first lies in place and is one of them like the others") {
    ByChunk<int> values;
    CHECK(values.size() == 0);
    CHECK(values.find(0) == nullptr);
    values.make(3) = 30;
    values.make(0) = 7;
    values.make(5) = 50;
    CHECK(values.size() == 3);
    CHECK(values.lowest() == 0);
    CHECK(values.make(3) == 30);
    std::vector<std::pair<std::uint64_t, int>> seen;
    CHECK(values.every([&](std::uint64_t chunk, int value) {
        seen.emplace_back(chunk, value);
        return true;
    }));
    CHECK(seen == std::vector<std::pair<std::uint64_t, int>>{{0, 7}, {3, 30}, {5, 50}});
    CHECK(!values.every([](std::uint64_t chunk, int) { return chunk < 3; }));
    values.erase(0);
    CHECK(values.lowest() == 3);
    CHECK(!values.contains(0));
    values.erase_from(4);
    CHECK(values.contains(3));
    CHECK(!values.contains(5));
    values.make(0);
    values.erase_from(0);
    CHECK(values.size() == 0);
}

} // namespace
