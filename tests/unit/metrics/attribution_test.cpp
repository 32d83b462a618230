#include "harness/metrics/attribution.hpp"

#include <catch2/catch.hpp>

#include "step_log.hpp"

using namespace feedbench;
using namespace feedbench::metrics;
using namespace feedbench::metrics::test;

namespace {
double sum(const Attribution& a) {
    return a.think_s + a.storage_wait_s + a.client_wait_s + a.barrier_wait_s + a.outside_s;
}
} // namespace

TEST_CASE("the worked example of the attribution") {
    const std::vector blocks{
        block({}, 1, {{.wait_s = 4, .think_s = 2, .oversleep_s = 0.5, .barrier_s = 1.5, .client_s = 1}})};
    const Attribution a = attribute(blocks, 1, ns(10));
    CHECK(a.think_s == Approx(2));
    CHECK(a.storage_wait_s == Approx(3));
    CHECK(a.client_wait_s == Approx(1.5));
    CHECK(a.barrier_wait_s == Approx(1.5));
    CHECK(a.outside_s == Approx(2));
    CHECK(a.total_s == Approx(10));
    CHECK(sum(a) == Approx(a.total_s));
}

TEST_CASE("T14: the loss of an overloaded client is the client's") {
    const std::vector blocks{block({}, 0, std::vector<Step>(100, {.think_s = 0.0035, .oversleep_s = 0.0024}))};
    const Attribution a = attribute(blocks, 1, ns(0.59));
    CHECK(a.client_wait_s == Approx(0.24));
    CHECK(a.storage_wait_s == 0);
    CHECK(a.think_s == Approx(0.35));
}

TEST_CASE("waiting with nothing in flight is not charged to the storage") {
    const std::vector blocks{block({}, 0, {{.wait_s = 1, .think_s = 1, .storage_s = 0.25}})};
    const Attribution a = attribute(blocks, 1, ns(2));
    CHECK(a.storage_wait_s == Approx(0.25));
    CHECK(a.client_wait_s == Approx(0.75));
}

TEST_CASE("several accelerators and blocks add up to accelerators x wall time") {
    std::vector<BlockTotals> blocks;
    for (std::uint32_t accelerator = 0; accelerator < 5; ++accelerator)
        for (std::uint16_t b = 0; b < 2; ++b)
            blocks.push_back(
                block({accelerator, 0, b}, 1 + 4 * b,
                      {{.wait_s = 0.3, .think_s = 0.5, .oversleep_s = 0.01 * accelerator, .barrier_s = 0.1},
                       {.wait_s = 0.2, .think_s = 0.5, .oversleep_s = -0.001, .barrier_s = 0.1, .gap_s = 0.01}}));
    const Attribution a = attribute(blocks, 5, ns(9));
    CHECK(a.total_s == Approx(45));
    CHECK(sum(a) == Approx(a.total_s).epsilon(1e-12));
    CHECK(a.outside_s > 0);
    Attribution twice = a;
    add(twice, a);
    CHECK(twice.total_s == Approx(90));
    CHECK(sum(twice) == Approx(90));
}

TEST_CASE("an epoch noted as shorter than its blocks never gives a negative part") {
    const std::vector blocks{block({}, 0, {{.wait_s = 1, .think_s = 1}})};
    const Attribution a = attribute(blocks, 1, ns(1.5));
    CHECK(a.outside_s == 0);
    CHECK(sum(a) == Approx(a.total_s));
}
