#include "harness/metrics/editions.hpp"

#include <array>
#include <map>

#include "harness/types/units.hpp"

namespace feedbench::metrics {
namespace {

// AU = 100 * sum(c[1:]) / (T - (think_end[0] - request[0])). The first step fills every worker's queue for nothing and
// is excluded. Source: MLPerf Storage rules 1.0-3.0 ("the first step is excluded"); reference tool,
// compute_metrics_train. Worked example: 3 steps, T = 10 s, the first took 5 s, think 2 s a step: 100 * (2 + 2) / (10 -
// 5) = 80 %.
FormulaValue au_without_first_step(const BlockInput& b) {
    if (b.step_count < 2) return FormulaValue::none(b.step_count < 1 ? kNoSteps : kWindowEmpty);
    return ratio(100 * b.compute_window_s, b.block_s - b.first_step_s, kWindowEmpty);
}

// samples/s of an accelerator = n * B / T, the first step included; none where AU has no window either (case T1).
// Source: reference tool as of the 1.0 results (corpus README). Example: 3 steps of 7 samples in 10 s: 2.1 samples/s.
FormulaValue samples_over_block(const BlockInput& b) {
    if (b.step_count < 2) return FormulaValue::none(b.step_count < 1 ? kNoSteps : kWindowEmpty);
    return ratio(b.step_count * b.batch_size, b.block_s, kNoTime);
}

// samples/s = (n - 2) * B / (T - proc[0]): the first step's time leaves the window, but two steps leave the count.
// Source: the reference tool today (dlio_benchmark, utils/statscounter.py, compute_metrics_train).
// Worked example: 4 steps of 7 samples, T = 12 s, first step 5 s: 2 * 7 / 7 = 2 samples/s.
FormulaValue samples_dlio_current(const BlockInput& b) {
    if (b.step_count < 3) return FormulaValue::none(b.step_count < 1 ? kNoSteps : kWindowEmpty);
    return ratio((b.step_count - 2) * b.batch_size, b.block_s - b.first_step_s, kWindowEmpty);
}

constexpr std::array kFormulas{
    Formula{"rules", ThinkTime::drawn, au_without_first_step, samples_over_block,
            "AU = 100*sum(c[1:])/(T-(think_end[0]-request[0])), c as drawn; samples/s = n*B/T summed over accelerators",
            "MLPerf Storage rules 1.0-3.0; DESIGN section 8"},
    Formula{"dlio", ThinkTime::measured, au_without_first_step, samples_over_block,
            "as rules, but c is the measured length of the sleep, so an overloaded client raises its own AU",
            "reference tool as of the 1.0 results; corpus README"},
    Formula{"dlio_current", ThinkTime::measured, au_without_first_step, samples_dlio_current,
            "AU as dlio; samples/s = (n-2)*B/(T-proc[0]) summed over accelerators",
            "reference tool today: dlio_benchmark utils/statscounter.py, compute_metrics_train"},
};

constexpr std::array kEditions{
    Edition{"1.0", &kFormulas[0]},
    Edition{"2.0", &kFormulas[0]},
    Edition{"3.0", &kFormulas[0]},
};

} // namespace

std::span<const Formula> formulas() { return kFormulas; }
std::span<const Edition> editions() { return kEditions; }

const Formula* find_formula(std::string_view name) {
    for (const Formula& formula : kFormulas)
        if (formula.name == name) return &formula;
    return nullptr;
}

const Edition* find_edition(std::string_view name) {
    for (const Edition& edition : kEditions)
        if (edition.name == name) return &edition;
    return nullptr;
}

BlockInput block_input(const BlockTotals& t, double batch_size, ThinkTime think) {
    BlockInput input;
    input.step_count = static_cast<double>(t.step_count);
    input.batch_size = batch_size;
    input.block_s = seconds(t.duration_ns());
    input.first_step_s = seconds(t.think_end_ns_first - t.request_ns_first);
    input.compute_window_s = seconds(think == ThinkTime::drawn ? t.think_ns - t.think_ns_first
                                                               : t.think_ns_measured - t.think_ns_measured_first);
    return input;
}

Figures combine(const Formula& formula, std::span<const AcceleratorBlock> blocks) {
    struct Weighted {
        double sum = 0, steps = 0;
        std::string_view reason;
        void add(const FormulaValue& value, double weight) {
            if (!value) {
                reason = value.reason;
                return;
            }
            sum += *value.number * weight;
            steps += weight;
        }
        FormulaValue value() const { return steps > 0 ? FormulaValue::of(sum / steps) : FormulaValue::none(reason); }
    };
    struct Accelerator {
        Weighted au, rate;
    };
    std::map<std::uint32_t, Accelerator>
        accelerators; // in order of index, so that sums do not depend on who gathered first
    for (const AcceleratorBlock& block : blocks) {
        Accelerator& a = accelerators[block.accelerator_index];
        a.au.add(formula.au_percentage(block.input), block.input.step_count);
        a.rate.add(formula.samples_per_second(block.input), block.input.step_count);
    }
    if (accelerators.empty()) return {FormulaValue::none(kNoSteps), FormulaValue::none(kNoSteps)};

    // A mean or sum over only some accelerators would be a wrong figure, not a partial one.
    const auto over_all = [&](Weighted Accelerator::*member, bool divide) {
        double sum = 0;
        std::size_t present = 0;
        std::string_view reason;
        for (const auto& [index, accelerator] : accelerators) {
            const FormulaValue value = (accelerator.*member).value();
            if (value) {
                sum += *value.number;
                ++present;
            } else {
                reason = value.reason;
            }
        }
        if (present < accelerators.size()) return FormulaValue::none(present == 0 ? reason : kUneven);
        return FormulaValue::of(divide ? sum / static_cast<double>(present) : sum);
    };
    return {over_all(&Accelerator::au, true), over_all(&Accelerator::rate, false)};
}

} // namespace feedbench::metrics
