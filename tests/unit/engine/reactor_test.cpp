#include <catch2/catch.hpp>

#include "harness/engine/sync.hpp"
#include "harness/types/random.hpp"
#include "tests/support/scripted_target.hpp"

using namespace feedbench;
using namespace feedbench::engine;

namespace {

struct World {
    std::unique_ptr<Clock> clock = make_virtual_clock();
    std::unique_ptr<Reactor> reactor = std::move(*Reactor::make(*clock, {.use_uring = false}));
    test::ScriptedTarget target{*reactor};
};

Task<void> sleeper(Reactor& reactor, std::uint64_t until, std::vector<std::uint64_t>& woken) {
    co_await reactor.sleep_until(until);
    woken.push_back(until);
}

Task<void> reader(Reactor& reactor, IoTarget& target, int count, std::uint64_t& latency_ns_max) {
    for (int i = 0; i < count; ++i) {
        IoOp op;
        op.bytes = 8;
        co_await reactor.perform(target, op);
        latency_ns_max = std::max(latency_ns_max, op.complete_ns - op.submit_ns);
    }
}

} // namespace

TEST_CASE("timers fire in order of deadline, equal ones in order of setting, and virtual time lands on them exactly") {
    World w;
    std::vector<std::uint64_t> woken;
    auto main = [](Reactor& r, std::vector<std::uint64_t>& out) -> Task<void> {
        TaskGroup group(r);
        Random random(7);
        for (int i = 0; i < 500; ++i) group.spawn(sleeper(r, 1 + random.below(1000), out));
        co_await group.join();
    };
    REQUIRE(w.reactor->run(main(*w.reactor, woken)));
    CHECK(woken.size() == 500);
    CHECK(std::is_sorted(woken.begin(), woken.end()));
    CHECK(w.clock->now_ns() == woken.back());
}

TEST_CASE("a cancelled timer does not fire, and the others still do") {
    World w;
    struct Counting : Timer {
        int fired = 0;
    };
    std::vector<Counting> timers(100);
    for (std::size_t i = 0; i < timers.size(); ++i) {
        timers[i].deadline_ns = (i * 37) % 100 + 1;
        timers[i].fire = [](Timer& t) { ++static_cast<Counting&>(t).fired; };
        w.reactor->set_timer(timers[i]);
    }
    for (std::size_t i = 0; i < timers.size(); i += 3) w.reactor->cancel_timer(timers[i]);
    auto main = [](Reactor& r) -> Task<void> { co_await r.sleep_until(200); };
    REQUIRE(w.reactor->run(main(*w.reactor)));
    for (std::size_t i = 0; i < timers.size(); ++i) CHECK(timers[i].fired == (i % 3 == 0 ? 0 : 1));
}

TEST_CASE("an operation answered busy is tried again after another has completed, and its queueing is not the "
          "storage's latency") {
    World w;
    w.target.limit = 2;
    w.target.delay_ns = [](const IoOp&) { return std::uint64_t{100}; };
    std::uint64_t latency_ns_max = 0;
    auto main = [](Reactor& r, IoTarget& t, std::uint64_t& latency) -> Task<void> {
        TaskGroup group(r);
        for (int i = 0; i < 8; ++i) group.spawn(reader(r, t, 5, latency));
        co_await group.join();
    };
    REQUIRE(w.reactor->run(main(*w.reactor, w.target, latency_ns_max)));
    CHECK(w.target.submitted == 40);
    CHECK(w.target.most_in_flight == 2);
    CHECK(w.target.busy_answers > 0);
    CHECK(latency_ns_max == 100);
    CHECK(w.clock->now_ns() == 40 / 2 * 100);
}

TEST_CASE("nothing can ever come: a deadlock is reported at once, not waited for") {
    World w;
    auto main = [](Reactor&) -> Task<void> { co_await std::suspend_always{}; };
    auto status = w.reactor->run(main(*w.reactor));
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("deadlock") != std::string::npos);
}

TEST_CASE("the heartbeat beats with virtual time") {
    World w;
    int beats = 0;
    w.reactor->set_heartbeat(10, [&beats] { ++beats; });
    auto main = [](Reactor& r) -> Task<void> {
        for (std::uint64_t t = 5; t <= 100; t += 5) co_await r.sleep_until(t);
    };
    REQUIRE(w.reactor->run(main(*w.reactor)));
    CHECK(beats >= 9);
    CHECK(beats <= 10);
}
