#include "harness/accelerator/accelerator.hpp"

#include <catch2/catch.hpp>

#include "harness/metrics/attribution.hpp"
#include "harness/metrics/editions.hpp"
#include "harness/types/units.hpp"
#include "tests/support/fake_ranks.hpp"

using namespace feedbench;
using namespace feedbench::accelerator;

namespace {

// Batches that come at once, or an error.
class ScriptedLoader final : public loader::Loader {
  public:
    explicit ScriptedLoader(std::optional<Error> error) : error_(std::move(error)) {}
    void start(const EpochPlan&, std::uint32_t) override {}
    engine::Task<loader::Batch> next() override {
        loader::Batch batch;
        batch.sample_count = 1;
        if (error_) batch.error = *error_;
        co_return batch;
    }
    void stop(const Error& reason) override { error_ = reason; }
    engine::Task<void> close() override { co_return; }

  private:
    std::optional<Error> error_;
};

// Rank 0 of two, each on a host of its own; the other one is played by the test.
struct Bench {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();
    test::FakeRanks ranks{{1, 1}};
    std::unique_ptr<cluster::Communicator> here = ranks.rank(0), there = ranks.rank(1);
    cluster::StepBarrier barrier{*reactor, *here, 1};
    StepLog log{false};
    loader::LoaderCounters counters;
    Shared shared;
    TimeDistribution think;

    Bench() {
        shared.reactor = reactor.get();
        shared.barrier = &barrier;
        shared.log = &log;
        shared.counters = &counters;
        think.mean_s = 0.01;
    }
    // The other rank arrives at this time, with this word.
    engine::Task<void> other(std::uint64_t time_ns, std::uint64_t word) {
        co_await reactor->sleep_until(time_ns);
        there->start_agreement(word);
    }
    engine::Task<void> both(Accelerator& one, Block block, std::uint64_t time_ns, std::uint64_t word) {
        engine::TaskGroup group(*reactor);
        group.spawn(other(time_ns, word));
        co_await one.run(block);
        left_ns = reactor->now_ns();
        co_await group.join();
    }
    void run(std::optional<Error> error, std::uint64_t time_ns, std::uint64_t word) {
        Accelerator one(shared, 0, 0, std::make_unique<ScriptedLoader>(std::move(error)));
        const std::uint32_t indices[] = {0};
        log.begin_block(indices, 0, 0);
        const Block block{0, 0, 0, 1, &think};
        REQUIRE(reactor->run(both(one, block, time_ns, word)));
    }
    std::uint64_t left_ns = 0; // when the accelerator left the block
};

} // namespace

TEST_CASE("an accelerator whose batch failed leaves the block with the others, not before", "[accelerator]") {
    // It left at once; then the rank went on to a collective call, its host's word was never handed on, and the ranks
    // of the other hosts waited for ever.
    Bench bench;
    bench.run(storage_error("read", "/data/x.npz", 5), kNsPerS, kGoOn);
    CHECK(bench.left_ns == kNsPerS);
    CHECK(bench.barrier.agreed_stop() == kFailed);
    REQUIRE(bench.shared.first_error);
    CHECK(bench.shared.first_error->accelerator == 0);
    CHECK(bench.log.take_totals().empty());
}

TEST_CASE("a step that another rank's stop cut short is not logged; one that ended is", "[accelerator]") {
    Bench stopped;
    stopped.run({}, kNsPerS, kInterrupted);
    CHECK(stopped.log.take_totals().empty());

    Bench whole;
    whole.run({}, kNsPerS, kGoOn);
    const auto totals = whole.log.take_totals();
    REQUIRE(totals.size() == 1);
    CHECK(totals[0].step_count == 1);
    CHECK(totals[0].barrier_wait_ns == kNsPerS - 10 * kNsPerMs);
}

namespace {

// Virtual time of a client that is so busy that it always wakes up late.
class LateClock final : public engine::Clock {
  public:
    explicit LateClock(std::uint64_t late_ns) : late_ns_(late_ns) {}
    std::uint64_t now_ns() const override { return now_ns_; }
    bool is_virtual() const override { return true; }
    std::uint64_t spin_window_ns() const override { return 0; }
    void wait_until(std::uint64_t time_ns) override { now_ns_ = std::max(now_ns_, time_ns + late_ns_); }

  private:
    std::uint64_t late_ns_, now_ns_ = 0;
};

} // namespace

TEST_CASE("case T14: sleeps of 3.5 ms that take 5.9 ms lower AU, and the loss is the client's", "[accelerator]") {
    LateClock clock(2'400'000);
    auto reactor = engine::Reactor::make(clock, {.use_uring = false}).value();
    test::FakeRanks ranks{{1}};
    auto here = ranks.rank(0);
    cluster::StepBarrier barrier{*reactor, *here, 1, kFirstStop};
    StepLog log{false};
    loader::LoaderCounters counters;
    Shared shared;
    shared.reactor = reactor.get();
    shared.barrier = &barrier;
    shared.log = &log;
    shared.counters = &counters;
    TimeDistribution think;
    think.mean_s = 0.0035;
    Accelerator one(shared, 0, 0, std::make_unique<ScriptedLoader>(std::nullopt));
    const std::uint32_t indices[] = {0};
    log.begin_block(indices, 0, 0);
    REQUIRE(reactor->run(one.run(Block{0, 0, 0, 100, &think})));
    const auto totals = log.take_totals();
    REQUIRE(totals.size() == 1);
    CHECK(totals[0].step_count == 100);
    CHECK(totals[0].duration_ns() == 100 * 5'900'000);
    const Attribution a = metrics::attribute(totals, 1, totals[0].duration_ns());
    CHECK(a.think_s == Approx(0.35));
    CHECK(a.client_wait_s == Approx(0.24));
    CHECK(a.storage_wait_s == 0);
    const auto au =
        metrics::find_formula("rules")->au_percentage(metrics::block_input(totals[0], 1, metrics::ThinkTime::drawn));
    CHECK(*au.number == Approx(100 * 3.5 / 5.9).epsilon(1e-6));
    CHECK(counters.epoch.think_error.count() == 100);
    CHECK(counters.epoch.think_error.min_ns() == 2'400'000);
    CHECK(counters.epoch.think_error.max_ns() == 2'400'000);
    CHECK(counters.epoch.batch_wait.max_ns() == 0);
}
