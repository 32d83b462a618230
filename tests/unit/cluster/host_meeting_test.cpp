#include "harness/cluster/host_meeting.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "harness/engine/clock.hpp"

using feedbench::cluster::HostMeeting;

namespace {

struct Memory {
    explicit Memory(int ranks) : bytes(HostMeeting::memory_bytes(ranks)) {
        data = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
        std::fill_n(data, bytes, std::byte{0});
    }
    ~Memory() { std::free(data); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    std::size_t bytes;
    std::byte* data;
};

} // namespace

TEST_CASE("a meeting ends when its last rank has arrived, with the largest value") {
    Memory memory(3);
    HostMeeting a(memory.data, 3, 0), b(memory.data, 3, 1), c(memory.data, 3, 2);
    std::uint64_t value = 99;
    a.arrive(1);
    CHECK_FALSE(a.all_here(value));
    c.arrive(7);
    CHECK_FALSE(a.all_here(value));
    CHECK_FALSE(c.all_here(value));
    b.arrive(0);
    REQUIRE(a.all_here(value));
    CHECK(value == 7);
    REQUIRE(c.all_here(value));
    CHECK(value == 7);

    SECTION("a rank that is a meeting ahead does not change what a slower one reads") {
        a.arrive(50);
        CHECK_FALSE(a.all_here(value));
        REQUIRE(b.all_here(value)); // still looks at the first meeting
        CHECK(value == 7);
        b.arrive(0);
        c.arrive(0);
        REQUIRE(b.all_here(value));
        CHECK(value == 50);
    }
}

TEST_CASE("with several hosts only what was published counts") {
    Memory memory(2);
    HostMeeting leader(memory.data, 2, 0), other(memory.data, 2, 1);
    std::uint64_t value = 0;
    leader.arrive(2);
    other.arrive(3);
    REQUIRE(leader.all_here(value));
    CHECK(value == 3);
    CHECK_FALSE(other.result(value));
    leader.publish(11); // another host said 11
    REQUIRE(other.result(value));
    CHECK(value == 11);
    other.arrive(0);
    CHECK_FALSE(other.result(value)); // the next meeting has no result yet
}

TEST_CASE("announcements keep the largest value") {
    Memory memory(2);
    HostMeeting a(memory.data, 2, 0), b(memory.data, 2, 1);
    CHECK(b.announced() == 0);
    a.announce(4);
    b.announce(2);
    CHECK(a.announced() == 4);
    CHECK(b.announced() == 4);
}

TEST_CASE("no rank leaves a meeting early or with a wrong value, whatever the timing") {
    constexpr int kRanks = 4;
    constexpr std::uint64_t kMeetings = 20'000;
    Memory memory(kRanks);
    std::array<std::atomic<std::uint64_t>, kRanks> entered{};
    std::atomic<std::uint64_t> wrong_count = 0, early_count = 0;
    auto body = [&](int rank) {
        HostMeeting meeting(memory.data, kRanks, rank);
        for (std::uint64_t i = 1; i <= kMeetings; ++i) {
            entered[static_cast<std::size_t>(rank)] = i;
            meeting.arrive(i * 10 + static_cast<std::uint64_t>(rank));
            std::uint64_t value = 0;
            while (!meeting.all_here(value)) feedbench::engine::yield_processor();
            for (auto& other : entered) early_count += other.load() < i;
            wrong_count += value != i * 10 + kRanks - 1;
        }
    };
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) threads.emplace_back(body, rank);
    for (auto& thread : threads) thread.join();
    CHECK(early_count == 0);
    CHECK(wrong_count == 0);
}
