#include "harness/metrics/steadiness.hpp"

#include <catch2/catch.hpp>

#include "step_log.hpp"

using namespace feedbench;
using namespace feedbench::metrics;
using namespace feedbench::metrics::test;

namespace {
std::vector<TimedRate> each_second(std::vector<double> rates) {
    std::vector<TimedRate> timed;
    for (const double rate : rates) timed.push_back({static_cast<double>(timed.size()), rate});
    return timed;
}
const FormulaValue kEighty = FormulaValue::of(80);
} // namespace

TEST_CASE("spread over the mean: the worked example") {
    CHECK(*coefficient_of_variation(each_second({100, 120, 20})).number == Approx(0.5400617));
    CHECK(*coefficient_of_variation(each_second({7, 7, 7})).number == 0);
    CHECK(coefficient_of_variation({}).reason == kNoSlices);
    CHECK(coefficient_of_variation(each_second({7})).reason == kFewSlices); // not "perfectly steady"
    CHECK(coefficient_of_variation(each_second({0, 0})).reason == kNoBytes);
}

TEST_CASE("drift: the worked example, noise that leads nowhere, and too little to say") {
    CHECK(*relative_drift(each_second({100, 98, 96, 94, 92})).number == Approx(-8.0 / 96));
    CHECK(*relative_drift(each_second({100, 120, 100, 120, 100})).number == Approx(0).margin(1e-12));
    CHECK(*relative_drift(each_second({50, 60, 70, 80, 90, 100})).number == Approx(50.0 / 75));
    // A checkpoint of 100 s between the third slice and the fourth: time counts, not the number of the slice.
    CHECK(*relative_drift(std::vector<TimedRate>{{0, 100}, {1, 99}, {2, 98}, {102, 0}, {103, -1}}).number ==
          Approx(-101 / 59.2).epsilon(0.01));
    CHECK(relative_drift(each_second({1, 2, 3, 4})).reason == kFewSlices);
    CHECK(relative_drift(each_second({0, 0, 0, 0, 0})).reason == kNoBytes);
}

TEST_CASE("T7: rate and AU of the same steps are one figure; samples that are missing contradict it") {
    std::vector<BlockTotals> blocks;
    std::vector<Step> steps(9, {.wait_s = 0.025, .think_s = 0.1, .samples = 4}); // AU 80 %
    steps[0].wait_s = 3;                                                         // as always: not counted by either
    for (std::uint32_t a = 0; a < 2; ++a) blocks.push_back(block({a, 0, 0}, 0, steps));
    CHECK(*au_identity_deviation(blocks, kEighty, 4).number == Approx(0).margin(1e-9));
    blocks[1].sample_count -= 9; // of 36
    CHECK(*au_identity_deviation(blocks, kEighty, 4).number == Approx(64.0 / 56 - 1));
    CHECK(*au_identity_deviation(blocks, FormulaValue::of(40), 4).number == Approx(24.0 / 56));
}

TEST_CASE("T7 says nothing where think time varies or is none, or where there is no AU") {
    std::vector<BlockTotals> one{block({}, 0, {{.think_s = 0.1}, {.think_s = 0.2}, {.think_s = 0.1}})};
    CHECK(au_identity_deviation(one, kEighty, 1).reason == kThinkVaries);
    one = {block({}, 0, std::vector<Step>(3, {.wait_s = 0.1}))};
    CHECK(au_identity_deviation(one, FormulaValue::of(0), 1).reason == kThinkIsZero);
    CHECK(au_identity_deviation(one, FormulaValue::none(kWindowEmpty), 1).reason == kWindowEmpty);
}
