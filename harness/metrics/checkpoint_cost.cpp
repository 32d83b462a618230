#include "harness/metrics/checkpoint_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/metrics/formula_value.hpp"
#include "harness/types/units.hpp"

namespace feedbench::metrics {

namespace {

constexpr std::string_view kNeverAlone = "no_step_without_a_checkpoint", kNeverBeside = "no_step_beside_a_checkpoint";

FormulaValue au(const StepSums& sums, std::string_view reason, std::uint64_t standstill_ns = 0) {
    return ratio(100 * static_cast<double>(sums.think_ns), static_cast<double>(sums.wall_ns + standstill_ns), reason);
}

struct Points {
    FormulaValue alone, beside, steps, all; // AU; steps: of all of them, all: with standing still
    FormulaValue cost(const FormulaValue& less) const {
        return alone && less ? FormulaValue::of(*alone.number - *less.number) : FormulaValue::none(kNeverAlone);
    }
};

Points points(const CheckpointCost& cost) {
    StepSums all = cost.alone;
    all.merge(cost.beside);
    return {au(cost.alone, kNeverAlone), au(cost.beside, kNeverBeside), au(all, kWindowEmpty),
            au(all, kWindowEmpty, cost.standstill_ns)};
}

double standstill_s(const CheckpointCost& cost) {
    return seconds(cost.standstill_ns) / std::max(1u, cost.accelerator_count);
}

std::string of_value(const FormulaValue& value) {
    return value ? fmt::format("{:.2f}", *value.number) : "(" + std::string(value.reason) + ")";
}

} // namespace

std::vector<Metric> checkpoint_cost_rows(const CheckpointCost& cost) {
    const Points p = points(cost);
    const auto row = [](const char* key, const char* unit, const FormulaValue& value, const char* formula) {
        return Metric{key, unit, value.number, std::string(value.reason), formula};
    };
    const FormulaValue standing =
        p.steps && p.all ? FormulaValue::of(*p.steps.number - *p.all.number) : FormulaValue::none(kWindowEmpty);
    const auto count = [](const StepSums& sums) { return FormulaValue::of(static_cast<double>(sums.step_count)); };
    return {
        row("checkpoint_cost_au_points", "%", p.cost(p.all), "au_alone_minus_all"),
        row("checkpoint_cost_au_points_slower_steps", "%", p.cost(p.steps), "au_alone_minus_steps"),
        row("checkpoint_cost_au_points_standstill", "%", standing, "au_steps_minus_all"),
        row("checkpoint_au_alone_percentage", "%", p.alone, "think_over_wall_of_steps"),
        row("checkpoint_au_beside_percentage", "%", p.beside, "think_over_wall_of_steps"),
        row("checkpoint_steps_alone", "", count(cost.alone), "sum_over_accelerators"),
        row("checkpoint_steps_beside", "", count(cost.beside), "sum_over_accelerators"),
        row("checkpoint_standstill_s", "s", FormulaValue::of(standstill_s(cost)), "standstill_over_accelerators"),
    };
}

Finding checkpoint_cost_finding(const CheckpointCost& cost) {
    const Points p = points(cost);
    Finding finding{"checkpoint_cost", "note", {}, checkpoint_cost_rows(cost)};
    std::string& text = finding.evidence;
    if (const FormulaValue whole = p.cost(p.all))
        text = fmt::format("checkpoints cost the training {} points of AU: {} % of {} steps without one, {} % with all "
                           "that they cost",
                           of_value(whole), of_value(p.alone), cost.alone.step_count, of_value(p.all));
    else
        text = "what checkpoints cost the training is not known: there is no step (but first ones) without one";
    if (cost.beside.step_count > 0)
        text += fmt::format("; {} by {} steps beside one that was being written (AU {} %)", of_value(p.cost(p.steps)),
                            cost.beside.step_count, of_value(p.beside));
    if (cost.standstill_ns > 0)
        text += fmt::format("; {:.2f} by {:.3g} s in which training stood still", *p.steps.number - *p.all.number,
                            standstill_s(cost));
    if (cost.waited_count > 0)
        text += fmt::format("; {} of {} checkpoints had to wait for the one before", cost.waited_count,
                            cost.checkpoint_count);
    text += ". The AU above leaves out time of standing still, as the rules do";
    return finding;
}

} // namespace feedbench::metrics
