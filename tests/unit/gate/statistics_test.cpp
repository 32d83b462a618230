// The pieces of the gate's statistics against known values. Its targets on hundreds of pairs:
// tests/sim/gate_targets_test.cpp.
#include "reporters/gate/statistics.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/gate/synthetic.hpp"

using namespace feedbench::gate;
using namespace feedbench::gate::test;

namespace {

Repetitions repetitions(std::vector<double> figures) {
    Repetitions side;
    side.parts.resize(figures.size());
    side.figures = std::move(figures);
    return side;
}

} // namespace

TEST_CASE("Single runs are never enough for a claim, however different they are", "[gate]") {
    for (const double slower : {0.0, 0.05, 0.5}) {
        const Answers answers = answers_of(10, {0.01, Tail::normal}, slower, {1, 1});
        CHECK(answers.not_enough_data == 10);
    }
    Pair pair = pair_of(1, {}, 0.05, {1, 1});
    const GateReport report = judge(pair.baseline, pair.candidate, built_in_policy());
    REQUIRE(report.metrics.size() == 7);
    CHECK_FALSE(report.metrics[0].worse_low);
    CHECK(report.metrics[0].within_low); // what the parts tell is said, as what it is
    CHECK(report.metrics[0].words.find("leaves out what differs from run to run") != std::string::npos);
    CHECK(report.reason == "the baseline has 1 run and the candidate 1; policy default asks for at least 3 and 1");
}

TEST_CASE("Student's quantiles are those of the tables", "[gate]") {
    CHECK(student_quantile(0.975, 1) == Approx(12.7062).epsilon(1e-5));
    CHECK(student_quantile(0.975, 2) == Approx(4.30265).epsilon(1e-5));
    CHECK(student_quantile(0.99, 4) == Approx(3.74695).epsilon(1e-5));
    CHECK(student_quantile(0.995, 8) == Approx(3.35539).epsilon(1e-5));
    CHECK(student_quantile(0.975, 30) == Approx(2.04227).epsilon(1e-5));
    CHECK(student_quantile(0.975, 1000) == Approx(1.96234).epsilon(1e-5));
}

TEST_CASE("The ratio of medians and its interval", "[gate]") {
    const RatioEstimate e = estimate_ratio(repetitions({98, 100, 102, 500, 99}), repetitions({50, 51, 49, 50, 48}), {});
    CHECK(e.ratio == Approx(0.5)); // the outlier does not move the median, but widens the interval
    REQUIRE(e.low);
    CHECK(*e.low < 0.5);
    CHECK(*e.high > 0.5);
    CHECK(*e.high / e.ratio == Approx(e.ratio / *e.low)); // on a logarithmic scale, so that A/B and B/A agree
    CHECK(e.freedom == 8);

    // The same numbers again, and others from another seed.
    const RatioEstimate again =
        estimate_ratio(repetitions({98, 100, 102, 500, 99}), repetitions({50, 51, 49, 50, 48}), {});
    CHECK(*again.low == *e.low);
    const RatioEstimate other =
        estimate_ratio(repetitions({98, 100, 102, 500, 99}), repetitions({50, 51, 49, 50, 48}), {0.99, 1000, 2});
    CHECK(*other.low != *e.low);
    CHECK(*other.low == Approx(*e.low).epsilon(0.2));

    // More runs of the same scatter: a narrower interval. Two and one: none at all.
    const RatioEstimate twice =
        estimate_ratio(repetitions({98, 100, 102, 99, 101, 98, 100, 102, 99, 101}), repetitions({50}), {});
    const RatioEstimate once = estimate_ratio(repetitions({98, 100, 102, 99, 101}), repetitions({50}), {});
    CHECK(*twice.high - *twice.low < *once.high - *once.low);
    CHECK_FALSE(estimate_ratio(repetitions({98, 100}), repetitions({50}), {}).low);
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("Few runs that agree by luck are no steadier than they are within themselves", "[gate]") {
    Repetitions baseline = repetitions({100, 100.01, 99.99}), candidate = repetitions({100});
    const RatioEstimate lucky = estimate_ratio(baseline, candidate, {});
    for (Repetitions* side : {&baseline, &candidate})
        for (auto& parts : side->parts)
            for (int i = 0; i < 16; ++i) parts.push_back({i % 4 < 2 ? 60.0 : 140.0, 1});
    const RatioEstimate known = estimate_ratio(baseline, candidate, {});
    CHECK(*lucky.high - *lucky.low < 0.01);
    CHECK(*known.high - *known.low > 0.1);
}
