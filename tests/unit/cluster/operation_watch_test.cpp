// What the watchdog sees and says of operations and pool jobs that do not end.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>

#include "harness/cluster/stall_watch.hpp"
#include "harness/types/units.hpp"
#include "tests/support/scripted_target.hpp"

using namespace feedbench;
using namespace feedbench::test;
using cluster::OperationWatch;

namespace {

struct Waiting {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    ScriptedTarget target{*reactor};
};

engine::Task<void> perform(Waiting& w, std::string path, std::uint64_t bytes) {
    engine::IoOp op;
    op.path = path;
    op.offset = 4096;
    op.bytes = bytes;
    co_await w.reactor->perform(w.target, op);
}
engine::Task<void> sleep_until(Waiting& w, std::uint64_t time_ns) { co_await w.reactor->sleep_until(time_ns); }

} // namespace

TEST_CASE("operations: the watchdog barks when nothing completes for its time, and says what is outstanding") {
    Waiting w;
    OperationWatch watchdog(*w.reactor, 10 * kNsPerS);
    w.target.delay_ns = [](const engine::IoOp& op) { return op.path == "train/slow.npz" ? 100 * kNsPerS : kNsPerS; };
    engine::Task<void> slow = perform(w, "train/slow.npz", 777);
    slow.start();
    // Others complete: all is well, though one read takes long.
    for (std::uint64_t second = 0; second < 30; ++second) {
        (void)w.reactor->run(perform(w, "train/fast.npz", 1)).has_value();
        CHECK(watchdog.check(w.reactor->now_ns()).empty());
    }
    // Now nothing does.
    CHECK(watchdog.check(39 * kNsPerS).empty());
    CHECK(watchdog.quiet_ns() == 9 * kNsPerS);
    const std::string bark = watchdog.check(41 * kNsPerS);
    INFO(bark);
    CHECK(bark.find("train/slow.npz") != std::string::npos);
    CHECK(bark.find("offset 4096") != std::string::npos);
    CHECK(bark.find("777 bytes") != std::string::npos);
    CHECK(bark.find("1 outstanding") != std::string::npos);
    CHECK(bark.find("41.0 s") != std::string::npos); // since its submission
    (void)w.reactor->run(sleep_until(w, 101 * kNsPerS)).has_value();
    CHECK(watchdog.check(w.reactor->now_ns()).empty()); // it came after all
    CHECK(slow.finished());
}

TEST_CASE("operations: the watchdog is silent where nothing is outstanding, however long") {
    Waiting w;
    OperationWatch watchdog(*w.reactor, 10 * kNsPerS);
    for (std::uint64_t second = 0; second < 100; second += 5) CHECK(watchdog.check(second * kNsPerS).empty());
}

TEST_CASE("operations: a long pause in which nobody looked is not a stall") {
    Waiting w;
    // The clock has run for long when the watchdog is made, and nobody looks at it for long afterwards.
    (void)w.reactor->run(sleep_until(w, 1000 * kNsPerS)).has_value();
    OperationWatch watchdog(*w.reactor, 10 * kNsPerS);
    w.target.delay_ns = [](const engine::IoOp&) { return 20 * kNsPerS; };
    engine::Task<void> first = perform(w, "train/a.npz", 1);
    first.start();
    CHECK(watchdog.check(1001 * kNsPerS).empty());
    CHECK_FALSE(watchdog.check(1011 * kNsPerS).empty());
    (void)w.reactor->run(sleep_until(w, 1021 * kNsPerS)).has_value();
    CHECK(watchdog.check(w.reactor->now_ns()).empty());
    (void)w.reactor->run(sleep_until(w, 2000 * kNsPerS)).has_value(); // caches are dropped, say
    engine::Task<void> second = perform(w, "train/b.npz", 1);
    second.start();
    CHECK(watchdog.check(2001 * kNsPerS).empty());
    CHECK_FALSE(watchdog.check(2010 * kNsPerS).empty());
    (void)w.reactor->run(sleep_until(w, 2021 * kNsPerS)).has_value();
}

TEST_CASE("operations: the watchdog names a few only, the oldest first") {
    Waiting w;
    OperationWatch watchdog(*w.reactor, kNsPerS);
    w.target.delay_ns = [](const engine::IoOp&) { return 10 * kNsPerS; };
    std::vector<engine::Task<void>> tasks;
    for (int i = 0; i < 50; ++i) {
        tasks.push_back(perform(w, "train/f" + std::to_string(i), 1));
        tasks.back().start();
        (void)w.reactor->run(sleep_until(w, w.reactor->now_ns() + 1000)).has_value();
    }
    CHECK(watchdog.check(w.reactor->now_ns()).empty());
    const std::string bark = watchdog.check(2 * kNsPerS);
    INFO(bark);
    CHECK(bark.find("50 outstanding") != std::string::npos);
    CHECK(std::count(bark.begin(), bark.end(), '\n') == 5);
    CHECK(bark.find("train/f0 ") != std::string::npos);
    CHECK(bark.find("train/f40") == std::string::npos);
    (void)w.reactor->run(sleep_until(w, 11 * kNsPerS)).has_value();
}

TEST_CASE("a job in the thread pool that does not come back is outstanding like an operation") {
    auto clock = engine::make_real_clock();
    auto reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    OperationWatch watchdog(*reactor, kNsPerS);
    std::atomic<bool> let_go{false};
    std::string said;
    const std::uint64_t start = reactor->now_ns();
    // The job blocks as a read of libhdf5 does; the heartbeat looks with a time of its own, so that nobody waits.
    reactor->set_heartbeat(1'000'000, [&] {
        if (said.empty()) said = watchdog.check(start + (said.empty() ? 3 * kNsPerS : 0));
        if (!said.empty()) let_go = true;
    });
    const auto body = [](engine::Reactor& r, std::atomic<bool>& go) -> engine::Task<void> {
        std::function<void()> work = [&go] {
            while (!go) engine::nap_ns(100'000);
        };
        co_await r.run_in_pool(std::move(work), {"libhdf5 read", "/data/train/img_3.hdf5"});
    };
    (void)watchdog.check(start).empty();
    REQUIRE(reactor->run(body(*reactor, let_go)));
    INFO(said);
    CHECK(said.find("1 outstanding") != std::string::npos);
    CHECK(said.find("libhdf5 read /data/train/img_3.hdf5, for ") != std::string::npos);
    CHECK(reactor->outstanding_count() == 0);
}
