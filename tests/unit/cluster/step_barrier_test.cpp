#include "harness/cluster/step_barrier.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <vector>

#include "harness/engine/sync.hpp"
#include "tests/unit/cluster/silent_ranks.hpp"

using namespace feedbench;
using cluster::StepBarrier;

namespace {

// A job of two ranks of which the other one is played by the test: it agrees when told to.
class Scripted final : public test::SilentRanks {
  public:
    Scripted() : SilentRanks({{"h", {0, 1}}}, 0) {}
    void start_agreement(std::uint64_t value) override {
        REQUIRE_FALSE(agreeing);
        agreeing = true;
        said.push_back(value);
    }
    bool test_agreement(std::uint64_t& result) override {
        REQUIRE(agreeing);
        if (others.empty()) return false;
        result = std::max(said.back(), others.front());
        others.pop_front();
        agreeing = false;
        return true;
    }
    void announce_stop(std::uint64_t value) override { announced = std::max(announced, value); }
    std::uint64_t announced_stop() override { return announced; }

    std::deque<std::uint64_t> others; // what the other rank says, one a step, once it has arrived
    std::vector<std::uint64_t> said;  // what this rank said
    bool agreeing = false;
    std::uint64_t announced = 0;
};

struct Bench {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = engine::Reactor::make(*clock, {}).value();
};

struct Log {
    std::vector<std::uint64_t> answers; // in order of leaving
    std::vector<std::uint64_t> left_ns;
};

engine::Task<void> accelerator(engine::Reactor& reactor, StepBarrier& barrier, std::uint64_t think_ns, int steps,
                               std::uint64_t stop_at_last, Log& log) {
    for (int step = 0; step < steps; ++step) {
        co_await reactor.sleep_until(reactor.now_ns() + think_ns);
        const std::uint64_t agreed = co_await barrier.arrive(step == steps - 1 ? stop_at_last : 0);
        log.answers.push_back(agreed);
        log.left_ns.push_back(reactor.now_ns());
        if (agreed != 0) co_return;
    }
}

engine::Task<void> arrive_once(engine::Reactor&, StepBarrier& barrier, Log& log) {
    log.answers.push_back(co_await barrier.arrive());
}

engine::Task<void> run_all(engine::Reactor& reactor, std::vector<engine::Task<void>>& tasks) {
    for (auto& task : tasks) task.start();
    co_await reactor.yield(); // whoever was freed before runs first
    for (auto& task : tasks)
        while (!task.finished()) co_await reactor.sleep_until(reactor.now_ns() + 1'000'000'000);
}

} // namespace

TEST_CASE("everybody leaves a step when its slowest accelerator has arrived") {
    Bench bench;
    auto single = cluster::make_single();
    StepBarrier barrier(*bench.reactor, *single, 3);
    Log log;
    std::vector<engine::Task<void>> tasks;
    for (const std::uint64_t think_ns : {1'000u, 5'000u, 3'000u})
        tasks.push_back(accelerator(*bench.reactor, barrier, think_ns, 2, 0, log));
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, tasks)).has_value());
    CHECK(barrier.step_count() == 2);
    CHECK(log.answers == std::vector<std::uint64_t>(6, 0));
    CHECK(log.left_ns == std::vector<std::uint64_t>{5'000, 5'000, 5'000, 10'000, 10'000, 10'000});
    CHECK(barrier.agreed_stop() == 0);
    CHECK_FALSE(barrier.is_active());
}

TEST_CASE("one accelerator alone never waits") {
    Bench bench;
    auto single = cluster::make_single();
    StepBarrier barrier(*bench.reactor, *single, 1);
    Log log;
    std::vector<engine::Task<void>> tasks;
    tasks.push_back(accelerator(*bench.reactor, barrier, 7, 100'000, 0, log));
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, tasks)).has_value());
    CHECK(barrier.step_count() == 100'000);
    CHECK(log.left_ns.back() == 700'000);
}

TEST_CASE("a stop is heard by all at the end of the step, the largest wins, and is final") {
    Bench bench;
    auto single = cluster::make_single();
    StepBarrier barrier(*bench.reactor, *single, 3);
    Log log;
    std::vector<engine::Task<void>> tasks;
    tasks.push_back(accelerator(*bench.reactor, barrier, 10, 5, 0, log));
    tasks.push_back(accelerator(*bench.reactor, barrier, 20, 2, 4, log)); // stops in its second step
    tasks.push_back(accelerator(*bench.reactor, barrier, 30, 2, 9, log));
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, tasks)).has_value());
    CHECK(log.answers == std::vector<std::uint64_t>{0, 0, 0, 9, 9, 9});
    CHECK(barrier.agreed_stop() == 9);
    // Whoever comes later gets the same answer at once.
    auto late = arrive_once(*bench.reactor, barrier, log);
    late.start();
    REQUIRE(late.finished());
    CHECK(log.answers.back() == 9);
}

TEST_CASE("the other ranks are waited for, and their stop counts") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 2);
    Log log;
    auto a = arrive_once(*bench.reactor, barrier, log), b = arrive_once(*bench.reactor, barrier, log);
    a.start();
    CHECK_FALSE(barrier.is_active()); // an accelerator of this rank is still out: nothing to ask the others
    CHECK(ranks.said.empty());
    b.start();
    CHECK(barrier.is_active());
    CHECK(ranks.said == std::vector<std::uint64_t>{0});
    CHECK_FALSE(barrier.poll());
    CHECK_FALSE(a.finished());
    ranks.others = {6};
    CHECK(barrier.poll());
    CHECK_FALSE(barrier.is_active());
    CHECK(barrier.agreed_stop() == 6);
    std::vector<engine::Task<void>> none;
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, none)).has_value());
}

TEST_CASE("a raised stop speaks for accelerators that have not arrived") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 2);
    Log log;
    auto a = arrive_once(*bench.reactor, barrier, log), b = arrive_once(*bench.reactor, barrier, log);
    a.start();
    barrier.raise_stop(3);
    CHECK(ranks.announced == 3);
    CHECK(ranks.said == std::vector<std::uint64_t>{3});
    CHECK(barrier.check_stop() == 3);
    ranks.others = {0};
    CHECK(barrier.poll());
    CHECK(barrier.agreed_stop() == 3);
    b.start(); // its read was cancelled; it must not start another agreement
    CHECK(b.finished());
    CHECK(ranks.said.size() == 1);
    std::vector<engine::Task<void>> none;
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, none)).has_value());
    CHECK(a.finished());
    CHECK(log.answers == std::vector<std::uint64_t>{3, 3});
}

TEST_CASE("a stop raised after this rank gave its word for the step is said in the next one") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 1);
    Log log;
    auto a = arrive_once(*bench.reactor, barrier, log);
    a.start();
    barrier.raise_stop(2);
    CHECK(ranks.said == std::vector<std::uint64_t>{0}); // one agreement at a time
    ranks.others = {0};
    CHECK(barrier.poll());
    CHECK(barrier.agreed_stop() == 0); // that step was agreed as going on, on every rank
    CHECK(ranks.said == std::vector<std::uint64_t>{0, 2});
    ranks.others = {0};
    CHECK(barrier.poll());
    CHECK(barrier.agreed_stop() == 2);
    std::vector<engine::Task<void>> none;
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, none)).has_value());
    CHECK(log.answers == std::vector<std::uint64_t>{0});
}

TEST_CASE("what another rank announced is taken up by the heartbeat") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 1);
    CHECK(barrier.check_stop() == 0);
    CHECK(ranks.said.empty());
    ranks.announced = 8;
    CHECK(barrier.check_stop() == 8);
    CHECK(ranks.said == std::vector<std::uint64_t>{8});
    CHECK(barrier.check_stop() == 8); // not said twice
    CHECK(ranks.said.size() == 1);
    ranks.others = {8};
    CHECK(barrier.poll());
    CHECK(barrier.agreed_stop() == 8);
    CHECK(barrier.check_stop() == 8);
}

TEST_CASE("the loop may never sleep long while an agreement is out, and not at all at first") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 1);
    CHECK(barrier.max_sleep_ns() == engine::kNever);
    Log log;
    auto a = arrive_once(*bench.reactor, barrier, log);
    a.start();
    CHECK(barrier.max_sleep_ns() == 0);
    std::uint64_t previous = 0;
    for (const std::uint64_t waited_ns : {1'000'000u, 4'000'000u, 1'000'000'000u}) {
        bench.clock->wait_until(waited_ns);
        CHECK(barrier.max_sleep_ns() >= previous);
        CHECK(barrier.max_sleep_ns() > 0);
        CHECK(barrier.max_sleep_ns() <= 250'000);
        previous = barrier.max_sleep_ns();
    }
    ranks.others = {0};
    CHECK(barrier.poll());
    std::vector<engine::Task<void>> none;
    REQUIRE(bench.reactor->run(run_all(*bench.reactor, none)).has_value());
}

namespace {
engine::Task<void> whole_rank(StepBarrier& barrier, std::uint64_t stop, std::vector<std::uint64_t>& answers) {
    answers.push_back(co_await barrier.arrive_for_all());
    answers.push_back(co_await barrier.arrive_for_all(stop));
    answers.push_back(co_await barrier.arrive()); // after an agreed stop nobody waits any more
}
} // namespace

TEST_CASE("a rank meets the others as a whole between steps, and its stop is everybody's") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 5);
    std::vector<std::uint64_t> answers;
    ranks.others = {0, 1};
    auto rank = whole_rank(barrier, 3, answers);
    rank.start();
    REQUIRE(rank.finished());
    CHECK(ranks.said == std::vector<std::uint64_t>{0, 3});
    CHECK(answers == std::vector<std::uint64_t>{0, 3, 3});
}

TEST_CASE("a word that is no stop is heard by all in its step, and the meetings go on") {
    Bench bench;
    Scripted ranks;
    StepBarrier barrier(*bench.reactor, ranks, 5, 2);
    std::vector<std::uint64_t> answers;
    ranks.others = {1, 0, 0};
    auto rank = whole_rank(barrier, 3, answers);
    rank.start();
    REQUIRE(rank.finished());
    CHECK(answers == std::vector<std::uint64_t>{1, 3, 3});
    CHECK(barrier.agreed_stop() == 3);
    CHECK(barrier.last_word() == 3);
}

TEST_CASE("a stop that every rank comes to by itself is told to nobody") {
    Bench bench;
    Scripted ranks;
    {
        StepBarrier barrier(*bench.reactor, ranks, 1);
        barrier.raise_own_stop(4);
        CHECK(ranks.said == std::vector<std::uint64_t>{4});
        CHECK(ranks.announced == 0);
        ranks.others = {0};
        CHECK(barrier.poll());
        CHECK(barrier.agreed_stop() == 4);
    }
    StepBarrier next(*bench.reactor, ranks, 1); // of the job's next run
    CHECK(next.check_stop() == 0);
}
