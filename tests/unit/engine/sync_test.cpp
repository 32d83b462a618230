#include <catch2/catch.hpp>

#include "harness/engine/sync.hpp"

using namespace feedbench;
using namespace feedbench::engine;

namespace {
struct World {
    std::unique_ptr<Clock> clock = make_virtual_clock();
    std::unique_ptr<Reactor> reactor = std::move(*Reactor::make(*clock, {.use_uring = false}));
};

Task<void> hold(Reactor& reactor, Semaphore& semaphore, int& inside, int& most) {
    co_await semaphore.acquire();
    most = std::max(most, ++inside);
    co_await reactor.sleep_until(reactor.now_ns() + 10);
    --inside;
    semaphore.release();
}
} // namespace

TEST_CASE("a semaphore never lets more in than it has permits") {
    World w;
    int inside = 0, most = 0;
    auto main = [](Reactor& r, int& in, int& m) -> Task<void> {
        Semaphore semaphore(r, 3);
        TaskGroup group(r);
        for (int i = 0; i < 30; ++i) group.spawn(hold(r, semaphore, in, m));
        co_await group.join();
        group.clear();
    };
    REQUIRE(w.reactor->run(main(*w.reactor, inside, most)));
    CHECK(most == 3);
    CHECK(inside == 0);
    CHECK(w.clock->now_ns() == 100);
}

TEST_CASE("an event wakes all its waiters, and those who come later do not wait") {
    World w;
    int woken = 0;
    auto main = [](Reactor& r, int& n) -> Task<void> {
        Event event(r);
        TaskGroup group(r);
        auto waiter = [](Event& e, int& count) -> Task<void> {
            co_await e.wait();
            ++count;
        };
        for (int i = 0; i < 5; ++i) group.spawn(waiter(event, n));
        CHECK(n == 0);
        event.set();
        co_await group.join();
        CHECK(n == 5);
        co_await event.wait();
        group.spawn(waiter(event, n));
        co_await group.join();
    };
    REQUIRE(w.reactor->run(main(*w.reactor, woken)));
    CHECK(woken == 6);
}

TEST_CASE("joining a group that never had a task returns at once; a group can be filled again") {
    World w;
    int ran = 0;
    auto main = [](Reactor& r, int& n) -> Task<void> {
        TaskGroup group(r);
        co_await group.join();
        auto job = [](Reactor& rr, int& count) -> Task<void> {
            co_await rr.yield();
            ++count;
        };
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 4; ++i) group.spawn(job(r, n));
            co_await group.join();
            group.clear();
        }
    };
    REQUIRE(w.reactor->run(main(*w.reactor, ran)));
    CHECK(ran == 12);
}
