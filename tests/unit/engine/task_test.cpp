// The specification of Task: lazy, one parent, no stack growth, frames freed.
#include <catch2/catch.hpp>

#include "harness/engine/sync.hpp"
#include "tests/support/scripted_target.hpp"

using namespace feedbench;
using namespace feedbench::engine;

namespace {

int living = 0;
struct Counted {
    Counted() { ++living; }
    Counted(const Counted&) { ++living; }
    ~Counted() { --living; }
};

Task<int> answer(bool& started) {
    started = true;
    co_return 42;
}
Task<void> wait_for_ever(Event& event, Counted) { co_await event.wait(); }
Task<std::uint64_t> many_synchronous(Reactor& reactor, IoTarget& target, std::uint64_t count) {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        IoOp op;
        op.bytes = 3;
        co_await reactor.perform(target, op);
        bytes += static_cast<std::uint64_t>(op.result);
    }
    co_return bytes;
}
Task<std::uint64_t> one_read(Reactor& reactor, IoTarget& target) {
    IoOp op;
    op.bytes = 1;
    co_await reactor.perform(target, op);
    co_return static_cast<std::uint64_t>(op.result);
}
Task<std::uint64_t> many_children(Reactor& reactor, IoTarget& target, std::uint64_t count) {
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < count; ++i) total += co_await one_read(reactor, target);
    co_return total;
}

std::unique_ptr<Reactor> make_reactor(Clock& clock) {
    auto reactor = Reactor::make(clock, {.use_uring = false});
    REQUIRE(reactor);
    return std::move(*reactor);
}

} // namespace

TEST_CASE("a task is lazy and hands over its value") {
    auto clock = make_virtual_clock();
    auto reactor = make_reactor(*clock);
    bool started = false;
    auto task = answer(started);
    CHECK_FALSE(started);
    int value = 0;
    auto outer = [](Task<int> inner, int& out) -> Task<void> { out = co_await std::move(inner); };
    REQUIRE(reactor->run(outer(std::move(task), value)));
    CHECK(started);
    CHECK(value == 42);
}

TEST_CASE("a task destroyed without having been awaited frees its arguments") {
    auto clock = make_virtual_clock();
    auto reactor = make_reactor(*clock);
    {
        Event event(*reactor);
        auto task = wait_for_ever(event, Counted{});
        CHECK(living == 1);
    }
    CHECK(living == 0);
}

TEST_CASE("a million reads that complete at once do not grow the stack") {
    auto clock = make_virtual_clock();
    auto reactor = make_reactor(*clock);
    test::ScriptedTarget target(*reactor);
    std::uint64_t bytes = 0, children = 0;
    auto main = [](Reactor& r, IoTarget& t, std::uint64_t& b, std::uint64_t& c) -> Task<void> {
        b = co_await many_synchronous(r, t, 1'000'000);
        c = co_await many_children(r, t, 1'000'000);
    };
    REQUIRE(reactor->run(main(*reactor, target, bytes, children)));
    CHECK(bytes == 3'000'000);
    CHECK(children == 1'000'000);
}

TEST_CASE("children that suspend a hundred thousand times do not grow the stack either") {
    auto clock = make_virtual_clock();
    auto reactor = make_reactor(*clock);
    test::ScriptedTarget target(*reactor);
    target.delay_ns = [](const IoOp&) { return std::uint64_t{10}; };
    std::uint64_t children = 0;
    auto main = [](Reactor& r, IoTarget& t, std::uint64_t& c) -> Task<void> {
        c = co_await many_children(r, t, 100'000);
    };
    REQUIRE(reactor->run(main(*reactor, target, children)));
    CHECK(children == 100'000);
    CHECK(clock->now_ns() == 1'000'000);
}
