#include "harness/metrics/editions.hpp"

#include <catch2/catch.hpp>

#include "step_log.hpp"

using namespace feedbench::metrics;
using namespace feedbench::metrics::test;

namespace {
const Formula& rules() { return *find_formula("rules"); }
AcceleratorBlock input(const BlockTotals& t, double batch, const Formula& f) {
    return {t.accelerator_index, block_input(t, batch, f.think)};
}
} // namespace

TEST_CASE("every edition has its formula, and unknown names have none") {
    for (const char* name : {"1.0", "2.0", "3.0"}) {
        REQUIRE(find_edition(name) != nullptr);
        CHECK(find_edition(name)->training->name == "rules");
    }
    CHECK(find_edition(kDefaultEdition) != nullptr);
    CHECK(find_edition("0.5") == nullptr);
    CHECK(find_formula("other") == nullptr);
    for (const Formula& f : formulas()) {
        CHECK(find_formula(f.name) == &f);
        CHECK_FALSE(f.text.empty());
        CHECK_FALSE(f.source.empty());
    }
}

TEST_CASE("worked examples of the formulas") {
    const BlockInput three{.step_count = 3, .batch_size = 7, .block_s = 10, .first_step_s = 5, .compute_window_s = 4};
    CHECK(*rules().au_percentage(three).number == Approx(80));
    CHECK(*rules().samples_per_second(three).number == Approx(2.1));
    const BlockInput four{.step_count = 4, .batch_size = 7, .block_s = 12, .first_step_s = 5, .compute_window_s = 6};
    CHECK(*find_formula("dlio_current")->samples_per_second(four).number == Approx(2));
}

TEST_CASE("T1: an epoch of one step has no figure, and says why") {
    for (const Formula& f : formulas()) {
        const BlockTotals one = block({}, 0, {{.wait_s = 1, .think_s = 2}});
        const std::vector blocks{input(one, 7, f)};
        const Figures figures = combine(f, blocks);
        CHECK_FALSE(figures.au_percentage);
        CHECK_FALSE(figures.samples_per_second);
        CHECK(figures.au_percentage.reason == "metric_window_empty");
        CHECK(figures.samples_per_second.reason == "metric_window_empty");
    }
    CHECK(combine(rules(), {}).au_percentage.reason == "no_steps");
}

TEST_CASE("T2: an epoch of two steps has a window of one") {
    const BlockTotals two = block({}, 0, {{.wait_s = 3, .think_s = 2}, {.wait_s = 0.5, .think_s = 2}});
    const std::vector blocks{input(two, 7, rules())};
    const Figures figures = combine(rules(), blocks);
    CHECK(*figures.au_percentage.number == Approx(100 * 2 / 2.5));
    CHECK(*figures.samples_per_second.number == Approx(14 / 7.5));
}

TEST_CASE("two steps in which nothing takes time give a reason, not a division by zero") {
    const BlockTotals t = block({}, 4, {{}, {}});
    const std::vector blocks{input(t, 1, rules())};
    CHECK(combine(rules(), blocks).au_percentage.reason == "metric_window_empty");
    CHECK(combine(rules(), blocks).samples_per_second.reason == "no_time_passed");
}

TEST_CASE("T4: read 55 ms, think 100 ms, no prefetch: AU is 100/155") {
    const BlockTotals t = block({}, 0, std::vector<Step>(1000, {.wait_s = 0.055, .think_s = 0.100}));
    const std::vector blocks{input(t, 1, rules())};
    CHECK(*combine(rules(), blocks).au_percentage.number == Approx(64.516).epsilon(1e-4));
}

TEST_CASE("T14: a client that oversleeps lowers AU by the rules and hides itself in the reference tool's formula") {
    const BlockTotals t = block({}, 0, std::vector<Step>(500, {.think_s = 0.0035, .oversleep_s = 0.0024}));
    const std::vector drawn{input(t, 1, rules())};
    CHECK(*combine(rules(), drawn).au_percentage.number == Approx(100 * 3.5 / 5.9));
    const Formula& dlio = *find_formula("dlio");
    const std::vector measured{input(t, 1, dlio)};
    CHECK(*combine(dlio, measured).au_percentage.number == Approx(100));
}

TEST_CASE("T15: the excluded first step hides a slow storage from AU") {
    std::vector<Step> steps(5, {.think_s = 0.05});
    steps[0] = {.wait_s = 15.95, .think_s = 0.05};
    const BlockTotals t = block({}, 0, steps);
    CHECK(t.duration_ns() == ns(16.2));
    const std::vector blocks{input(t, 7, rules())};
    CHECK(*combine(rules(), blocks).au_percentage.number == Approx(100));
}

TEST_CASE("AU is the mean over accelerators, the rate their sum") {
    const std::vector<Step> fast(3, {.wait_s = 0, .think_s = 1}), slow(3, {.wait_s = 1, .think_s = 1});
    const std::vector blocks{input(block({0, 0, 0}, 0, fast), 4, rules()),
                             input(block({1, 0, 0}, 0, slow), 4, rules())};
    const Figures figures = combine(rules(), blocks);
    CHECK(*figures.au_percentage.number == Approx((100 + 50) / 2.0));
    CHECK(*figures.samples_per_second.number == Approx(12 / 3.0 + 12 / 6.0));
}

TEST_CASE("blocks of an epoch weigh by their steps, and one without a window does not count as 0") {
    const BlockTotals long_block = block({0, 0, 0}, 0, std::vector<Step>(9, {.wait_s = 0, .think_s = 1}));
    const BlockTotals short_block = block({0, 0, 1}, 100, std::vector<Step>(3, {.wait_s = 1, .think_s = 1}));
    const BlockTotals tiny_block = block({0, 0, 2}, 200, {{.wait_s = 1, .think_s = 1}});
    const std::vector blocks{input(long_block, 1, rules()), input(short_block, 1, rules()),
                             input(tiny_block, 1, rules())};
    const Figures figures = combine(rules(), blocks);
    CHECK(*figures.au_percentage.number == Approx((9 * 100 + 3 * 50) / 12.0));
    CHECK(*figures.samples_per_second.number == Approx((9 * 1.0 + 3 * 0.5) / 12.0));
}

TEST_CASE("a run that stopped with some accelerators short of a window gives no figure of the others alone") {
    const BlockTotals whole = block({0, 0, 0}, 0, std::vector<Step>(3, {.wait_s = 0, .think_s = 1}));
    const BlockTotals cut = block({1, 0, 0}, 0, {{.think_s = 1}});
    const std::vector blocks{input(whole, 1, rules()), input(cut, 1, rules())};
    CHECK(combine(rules(), blocks).au_percentage.reason == "accelerator_without_window");
    CHECK(combine(rules(), blocks).samples_per_second.reason == "accelerator_without_window");
}

TEST_CASE("statistics keep to the values that exist") {
    const std::vector values{FormulaValue::of(2), FormulaValue::none("x"), FormulaValue::of(6)};
    CHECK(*mean(values).number == 4);
    CHECK(*population_stdev(values).number == 2);
    const std::vector nothing{FormulaValue::none("x")};
    CHECK(mean(nothing).reason == "x");
    CHECK(population_stdev(nothing).reason == "x");
    CHECK(*quantile({5, 1, 4, 2, 3}, 0.05, "none").number == 1);
    CHECK(*quantile({5, 1, 4, 2, 3}, 0.5, "none").number == 3);
    CHECK(*quantile({5, 1, 4, 2, 3}, 1, "none").number == 5);
    CHECK(quantile({}, 0.5, "none").reason == "none");
    CHECK(ratio(1, 0).reason == "no_time_passed");
}
