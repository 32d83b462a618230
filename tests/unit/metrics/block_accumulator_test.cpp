#include "harness/metrics/block_accumulator.hpp"

#include <catch2/catch.hpp>

#include "harness/types/random.hpp"
#include "step_log.hpp"

using namespace feedbench;
using namespace feedbench::metrics;
using namespace feedbench::metrics::test;

namespace {
std::vector<Step> random_steps(std::uint64_t seed, int count) {
    Random random(seed);
    std::vector<Step> steps;
    for (int i = 0; i < count; ++i) {
        Step s;
        s.wait_s = random.uniform();
        s.client_s = random.uniform() * s.wait_s * 1.2; // sometimes more than the wait: clamped
        s.storage_s = random.uniform() * s.wait_s;
        s.think_s = 0.1 + random.uniform();
        s.oversleep_s = random.uniform() * 0.01 - 0.002; // a clock that ends early now and then
        s.barrier_s = random.uniform() * 0.1;
        s.gap_s = random.uniform() * 0.001;
        s.bytes = random.below(1'000'000);
        s.samples = 7;
        steps.push_back(s);
    }
    return steps;
}

std::uint64_t explained_ns(const BlockTotals& t) {
    return t.storage_wait_ns + t.client_wait_ns + t.unexplained_wait_ns() + t.think_ns - t.undersleep_ns +
           t.oversleep_ns + t.barrier_wait_ns + t.gap_ns;
}
} // namespace

TEST_CASE("the sums of three steps by hand") {
    // wait 3, 1, 1; think 2 each; oversleep 0, 0.5, 0; barrier 0, 1, 0.5; gap 0, 0.25, 0; starts at 10
    const BlockTotals t = block(
        {3, 1, 2}, 10,
        {{.wait_s = 3, .think_s = 2, .bytes = 100, .samples = 7},
         {.wait_s = 1, .think_s = 2, .oversleep_s = 0.5, .barrier_s = 1, .gap_s = 0.25, .bytes = 200, .samples = 7},
         {.wait_s = 1, .think_s = 2, .barrier_s = 0.5, .client_s = 0.25, .bytes = 300, .samples = 7}});
    CHECK(t.accelerator_index == 3);
    CHECK(t.epoch_index == 1);
    CHECK(t.block() == 2);
    CHECK_FALSE(t.evaluation());
    CHECK(t.step_count == 3);
    CHECK(t.sample_count == 21);
    CHECK(t.bytes == 600);
    CHECK(t.bytes_first == 100);
    CHECK(t.think_ns == ns(6));
    CHECK(t.think_ns_first == ns(2));
    CHECK(t.think_ns_measured == ns(6.5));
    CHECK(t.request_ns_first == ns(10));
    CHECK(t.think_end_ns_first == ns(15));
    CHECK(t.barrier_end_ns_last == ns(10 + 5 + 4.75 + 3.5));
    CHECK(t.wait_ns == ns(5));
    CHECK(t.storage_wait_ns == ns(4.75));
    CHECK(t.client_wait_ns == ns(0.25));
    CHECK(t.oversleep_ns == ns(0.5));
    CHECK(t.barrier_wait_ns == ns(1.5));
    CHECK(t.gap_ns == ns(0.25));
}

TEST_CASE("whatever the steps, the parts add up to the block's duration to the nanosecond") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const BlockTotals t = block({}, 5, random_steps(seed, 40));
        CHECK(explained_ns(t) == t.duration_ns());
    }
}

TEST_CASE("parts of a block merge in either order into the whole") {
    const auto log = step_log({1, 2, 3}, 7, random_steps(99, 30));
    const BlockTotals whole = totals(log);
    BlockTotals early = totals({log.begin(), log.begin() + 11}), late = totals({log.begin() + 11, log.end()});
    BlockTotals forward = early, backward = late;
    forward.merge(late);
    backward.merge(early);
    CHECK(serialise({forward}) == serialise({whole}));
    CHECK(serialise({backward}) == serialise({whole}));
    BlockTotals empty;
    empty.merge(whole);
    CHECK(serialise({empty}) == serialise({whole}));
}

TEST_CASE("totals travel as bytes") {
    const std::vector<BlockTotals> sent{block({0, 0, 0}, 1, random_steps(1, 3)),
                                        block({1, 0, kEvaluationBlock | 1}, 2, random_steps(2, 3))};
    const auto received = parse_totals(serialise(sent));
    REQUIRE(received.size() == 2);
    CHECK(serialise(received) == serialise(sent));
    CHECK(received[1].evaluation());
    CHECK(received[1].block() == 1);
    CHECK(parse_totals("").empty());
}

TEST_CASE("shifting to another clock moves times and no duration") {
    const BlockTotals before = block({}, 100, random_steps(5, 4));
    BlockTotals after = before;
    after.shift(-static_cast<std::int64_t>(ns(30)));
    CHECK(after.request_ns_first == before.request_ns_first - ns(30));
    CHECK(after.barrier_end_ns_last == before.barrier_end_ns_last - ns(30));
    CHECK(after.duration_ns() == before.duration_ns());
    CHECK(after.think_ns == before.think_ns);
}
