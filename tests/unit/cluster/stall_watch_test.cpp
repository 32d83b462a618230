// What the watchdog sees and says of processes: a blocked main thread, frozen ranks, silent hosts, ranks that wait for
// each other.
#include "harness/cluster/stall_watch.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/types/units.hpp"
#include "tests/unit/cluster/silent_ranks.hpp"

using namespace feedbench;
using cluster::LifeSigns;
using cluster::SignReader;

namespace {

// Ranks of one host, as every one of them sees the others; several hosts that say what the test wants.
class SeenRanks final : public test::SilentRanks {
  public:
    SeenRanks(void* memory, int ranks, int local_rank, std::uint64_t host_count = 1)
        : SilentRanks(layout(ranks, host_count), local_rank) {
        life_ = std::make_unique<LifeSigns>(memory, ranks, local_rank);
    }
    std::uint64_t heard = 0, all_wait_ns = 0, host_waits_ns = 0;

    std::uint64_t signs_heard(int) const override { return heard; }
    void show_host_waits(std::uint64_t waited_ns) override { host_waits_ns = waited_ns; }
    std::uint64_t all_hosts_wait_ns() const override { return all_wait_ns; }

  private:
    static std::vector<cluster::HostLayout> layout(int ranks, std::uint64_t host_count) {
        std::vector<cluster::HostLayout> hosts;
        int next = 0;
        for (std::uint64_t h = 0; h < host_count; ++h) {
            hosts.push_back({"h" + std::to_string(h + 1), {}});
            for (int i = 0; i < ranks; ++i) hosts.back().ranks.push_back(next++);
        }
        return hosts;
    }
};

struct Memory {
    explicit Memory(int ranks) : data(std::aligned_alloc(64, (LifeSigns::memory_bytes(ranks) + 63) / 64 * 64)) {
        std::memset(data, 0, LifeSigns::memory_bytes(ranks));
    }
    ~Memory() { std::free(data); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* data;
};

constexpr std::uint64_t kTimeout = 10 * kNsPerS;
const std::uint64_t kGrace = SignReader::grace_ns(kTimeout);

// Looks once a second; the second at which something was said, and what. `each` does what ranks do in that second.
std::pair<int, std::string> look_until(SignReader& reader, int seconds, const std::function<void()>& each) {
    for (int second = 1; second <= seconds; ++second) {
        each();
        if (std::string said = reader.look(kNsPerS); !said.empty()) return {second, said};
    }
    return {0, {}};
}

} // namespace

TEST_CASE("a main thread that does not come back is noticed, with what it said it was doing") {
    Memory memory(1);
    SeenRanks one(memory.data, 1, 0);
    SignReader reader(one, kTimeout);
    // As long as it gets on, all is well.
    CHECK(look_until(reader, 100, [&] { one.life().progress(); }).first == 0);
    cluster::Doing doing(one.life(), "reading the manifest of /data");
    const auto [second, said] = look_until(reader, 100, [] {});
    CHECK(second == 11); // one look saw the beginning
    CHECK(said.find("10.0 s in: reading the manifest of /data") != std::string::npos);
    CHECK(said.find("rank") == std::string::npos); // it is alone
}

TEST_CASE("what was said is said again after something inside it has ended") {
    Memory memory(1);
    SeenRanks one(memory.data, 1, 0);
    cluster::Doing outer(one.life(), "epoch 3");
    {
        cluster::Doing inner(one.life(), std::string(1000, 'x'));
        CHECK(one.life().doing_of(0) == std::string(255, 'x')); // cut to what fits
    }
    CHECK(one.life().doing_of(0) == "epoch 3");
}

TEST_CASE("a rank of this host that gives no sign of life is named; it cannot speak for itself") {
    Memory memory(3);
    SeenRanks mine(memory.data, 3, 0), frozen(memory.data, 3, 1), other(memory.data, 3, 2);
    frozen.life().say("epoch 2");
    frozen.life().show_outstanding("\n  read /data/x at offset 0, 5 bytes, for 9.0 s");
    SignReader reader(mine, kTimeout);
    const auto live = [&](SeenRanks& rank) {
        rank.life().live();
        rank.life().progress();
    };
    CHECK(look_until(reader, 50, [&] { live(mine), live(frozen), live(other); }).first == 0);
    const auto [second, said] = look_until(reader, 100, [&] { live(mine), live(other); });
    INFO(said);
    CHECK(second == static_cast<int>((kTimeout + kGrace + kNsPerS - 1) / kNsPerS)); // after its own time-out
    CHECK(said.find("rank 1 on host h1 has given no sign of life") != std::string::npos);
    CHECK(said.find("rank 1 (host h1): epoch 2") != std::string::npos);
    CHECK(said.find("read /data/x") != std::string::npos);
}

TEST_CASE("waiting for a rank that gets on is not a stall, however long; all waiting for each other is one") {
    Memory memory(2);
    SeenRanks mine(memory.data, 2, 0), other(memory.data, 2, 1);
    SignReader reader(mine, kTimeout);
    const auto both_live = [&] {
        for (SeenRanks* rank : {&mine, &other}) {
            rank->life().live();
            rank->life().progress();
        }
        mine.all_wait_ns = mine.host_waits_ns; // one host: its word is that of all
    };
    mine.life().wait_begins();
    CHECK(look_until(reader, 500, both_live).first == 0);
    // Many meetings, at each of which both are seen waiting: nothing is wrong either.
    CHECK(look_until(reader, 500, [&] {
              both_live();
              for (SeenRanks* rank : {&mine, &other}) {
                  rank->life().wait_ends();
                  rank->life().wait_begins();
              }
          }).first == 0);
    const auto [second, said] = look_until(reader, 500, both_live);
    INFO(said);
    CHECK(second > 20);
    CHECK(second < 30);
    CHECK(said.find("all ranks have waited for each other") != std::string::npos);
    CHECK(said.find("rank 0 (host h1)") != std::string::npos);
    CHECK(said.find("rank 1 (host h1)") != std::string::npos);
}

TEST_CASE("a host that has been heard of and falls silent is named with its ranks") {
    Memory memory(2);
    SeenRanks mine(memory.data, 2, 0, 2);
    SeenRanks other(memory.data, 2, 1, 2);
    SignReader reader(mine, kTimeout);
    const auto live = [&] {
        for (SeenRanks* rank : {&mine, &other}) {
            rank->life().live();
            rank->life().progress();
        }
    };
    CHECK(look_until(reader, 100, live).first == 0); // never heard of: it may be starting
    CHECK(look_until(reader, 100, [&] { live(), ++mine.heard; }).first == 0);
    const auto [second, said] = look_until(reader, 100, live);
    INFO(said);
    CHECK(second == static_cast<int>((2 * kTimeout + kGrace + kNsPerS - 1) / kNsPerS));
    CHECK(said.find("host h2 (ranks 2 to 3)") != std::string::npos);
}

TEST_CASE("only the first rank of a host has the last word") {
    Memory memory(2);
    LifeSigns a(memory.data, 2, 0), b(memory.data, 2, 1);
    CHECK(b.claim_last_word());
    CHECK_FALSE(a.claim_last_word());
    CHECK_FALSE(b.claim_last_word());
}

TEST_CASE("the thread ends a process whose main thread hangs, with the message and exit code 3") {
    int out[2];
    REQUIRE(pipe(out) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        auto single = cluster::make_single();
        cluster::StallWatch watch(*single, 200 * kNsPerMs);
        cluster::Doing doing(single->life(), "opening /mnt/gone");
        for (;;) engine::nap_ns(kNsPerS);
    }
    close(out[1]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    char text[512] = "";
    const ssize_t size = read(out[0], text, sizeof text - 1);
    close(out[0]);
    CHECK(size > 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
    CHECK(std::string(text).find("feedbench: error: ") == 0);
    CHECK(std::string(text).find("opening /mnt/gone") != std::string::npos);
}
