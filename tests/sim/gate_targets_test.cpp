// The targets of the gate on seeded synthetic pairs: hundreds of whole judgements, which would take a minute under a
// sanitizer; the pieces are in tests/unit/gate.
#include <catch2/catch.hpp>

#include "tests/unit/gate/synthetic.hpp"

using namespace feedbench::gate;
using namespace feedbench::gate::test;

TEST_CASE("200 pairs without change: at most 2 % are called regressed, whatever the scatter", "[gate][long]") {
    const auto [spread, tail] = GENERATE(table<double, Tail>({{0.003, Tail::normal},
                                                              {0.01, Tail::normal},
                                                              {0.03, Tail::normal},
                                                              {0.10, Tail::normal},
                                                              {0.03, Tail::heavy}}));
    const Answers answers = answers_of(200, {spread, tail}, 0, {5, 5});
    INFO("spread " << spread << ": " << answers.regressed << " regressed, " << answers.pass << " pass, "
                   << answers.not_enough_data << " not enough data");
    CHECK(answers.regressed <= 4);
    CHECK(answers.pass + answers.regressed + answers.not_enough_data == 200);
    if (spread <= 0.01) CHECK(answers.pass >= 190); // a gate that never passes would have no false alarms either
}

TEST_CASE("A loss of 5 % at 1 % spread with 5 runs each is found in at least 95 % of the pairs", "[gate][long]") {
    const Answers answers = answers_of(200, {0.01, Tail::normal}, 0.05, {5, 5});
    INFO(answers.regressed << " regressed, " << answers.pass << " pass, " << answers.not_enough_data
                           << " not enough data");
    CHECK(answers.regressed >= 190);
}

TEST_CASE("Fewer runs: no more false alarms, and a single candidate still finds what is large", "[gate][long]") {
    const auto [baseline, candidate] = GENERATE(table<std::size_t, std::size_t>({{3, 3}, {5, 1}, {3, 1}, {10, 2}}));
    const Answers quiet = answers_of(200, {0.01, Tail::normal}, 0, {baseline, candidate});
    INFO(baseline << " against " << candidate << ": " << quiet.regressed << " regressed");
    CHECK(quiet.regressed <= 4);
    if (baseline == 5) CHECK(answers_of(200, {0.01, Tail::normal}, 0.15, {baseline, candidate}).regressed >= 190);
}
