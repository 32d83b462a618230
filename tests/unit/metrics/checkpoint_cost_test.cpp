#include "harness/metrics/checkpoint_cost.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "harness/types/units.hpp"

using namespace feedbench;
using namespace feedbench::metrics;

namespace {

StepSums steps(std::uint64_t count, double think_s, double wall_s) {
    StepSums sums;
    for (std::uint64_t i = 0; i < count; ++i) {
        StepRecord step{};
        step.request_ns = 100;
        step.think_drawn_ns = to_ns(think_s);
        step.barrier_end_ns = 100 + to_ns(wall_s);
        sums.add(step);
    }
    return sums;
}

const Metric& row(const std::vector<Metric>& rows, std::string_view key) {
    for (const Metric& metric : rows)
        if (metric.key == key) return metric;
    FAIL("no row " << key);
    return rows.front();
}

} // namespace

TEST_CASE("what checkpoints cost: the worked example") {
    const CheckpointCost cost{steps(10, 0.9, 1.0), steps(10, 0.9, 1.2), 3 * kNsPerS, 1, 2, 1};
    const auto rows = checkpoint_cost_rows(cost);
    CHECK(*row(rows, "checkpoint_au_alone_percentage").value == Approx(90));
    CHECK(*row(rows, "checkpoint_au_beside_percentage").value == Approx(75));
    CHECK(*row(rows, "checkpoint_cost_au_points").value == Approx(18));
    CHECK(*row(rows, "checkpoint_cost_au_points_slower_steps").value == Approx(90 - 1800 / 22.0));
    CHECK(*row(rows, "checkpoint_cost_au_points_standstill").value == Approx(1800 / 22.0 - 72));
    CHECK(*row(rows, "checkpoint_standstill_s").value == Approx(3));

    CHECK(checkpoint_cost_finding(cost).evidence ==
          "checkpoints cost the training 18.00 points of AU: 90.00 % of 10 steps without one, 72.00 % with all that "
          "they cost; 8.18 by 10 steps beside one that was being written (AU 75.00 %); 9.82 by 3 s in which training "
          "stood still; 1 of 2 checkpoints had to wait for the one before. The AU above leaves out time of standing "
          "still, as the rules do");
}

TEST_CASE("what checkpoints cost: without steps to compare with there is a reason, never a number") {
    const CheckpointCost always{{}, steps(5, 0.5, 1.0), 0, 2, 1, 0};
    const auto rows = checkpoint_cost_rows(always);
    CHECK_FALSE(row(rows, "checkpoint_cost_au_points").value);
    CHECK(row(rows, "checkpoint_cost_au_points").reason == "no_step_without_a_checkpoint");
    CHECK(*row(rows, "checkpoint_cost_au_points_standstill").value == 0);
    CHECK(checkpoint_cost_finding(always).evidence.starts_with(
        "what checkpoints cost the training is not known: there is no step (but first ones) without one; "));

    // All waited: nothing was slower, and four accelerators stood still for 2 s each.
    const CheckpointCost sync{steps(8, 1.0, 1.0), {}, 8 * kNsPerS, 4, 1, 0};
    CHECK(*row(checkpoint_cost_rows(sync), "checkpoint_cost_au_points").value == Approx(50));
    CHECK(*row(checkpoint_cost_rows(sync), "checkpoint_cost_au_points_slower_steps").value == Approx(0).margin(1e-9));
    CHECK(row(checkpoint_cost_rows(sync), "checkpoint_au_beside_percentage").reason == "no_step_beside_a_checkpoint");
    CHECK(*row(checkpoint_cost_rows(sync), "checkpoint_standstill_s").value == Approx(2));

    const CheckpointCost none;
    for (const Metric& metric : checkpoint_cost_rows(none)) CHECK((metric.value.has_value() || !metric.reason.empty()));
}
