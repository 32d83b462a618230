// The named formulas of AU and samples/s, and which edition of the rules uses which.
//
// Thread: any (pure functions, constant tables). Owner: none. Units: seconds, samples/s, percent. Errors: reasons, see
// formula_value.hpp. Source: DESIGN section 8; corpus README "Metric formulas"; each formula names its own.
// To add an edition: one line in editions.cpp. To add a formula: a function and one line there.
#pragma once

#include <span>
#include <string_view>

#include "harness/metrics/block_accumulator.hpp"
#include "harness/metrics/formula_value.hpp"

namespace feedbench::metrics {

// One accelerator's block, as every formula sees it; it can come from our own steps or from another tool's files.
struct BlockInput {
    double step_count = 0;       // n
    double batch_size = 0;       // B
    double block_s = 0;          // T: first request to last barrier end
    double first_step_s = 0;     // think_end[0] - request[0], the reference tool's proc[0]
    double compute_window_s = 0; // sum(c[1:])
};

enum class ThinkTime : std::uint8_t { drawn, measured };

struct Formula {
    std::string_view name;
    ThinkTime think; // which c the formula sums
    FormulaValue (*au_percentage)(const BlockInput&);
    FormulaValue (*samples_per_second)(const BlockInput&); // of one accelerator
    std::string_view text, source;
};

struct Edition {
    std::string_view name; // "1.0", "2.0", "3.0"
    const Formula* training;
};

inline constexpr std::string_view kDefaultEdition = "2.0";

std::span<const Formula> formulas();
std::span<const Edition> editions();
const Formula* find_formula(std::string_view name); // nullptr: unknown
const Edition* find_edition(std::string_view name); // nullptr: unknown

BlockInput block_input(const BlockTotals& totals, double batch_size, ThinkTime think);

struct Figures {
    FormulaValue au_percentage;      // mean over accelerators
    FormulaValue samples_per_second; // sum over accelerators
};
struct AcceleratorBlock {
    std::uint32_t accelerator_index = 0;
    BlockInput input;
};
// An epoch (or one block) over all accelerators: per accelerator the mean over its blocks weighted by their steps, then
// mean (AU) or sum (rate) over accelerators. Blocks without a window have no weight.
Figures combine(const Formula& formula, std::span<const AcceleratorBlock> blocks);

} // namespace feedbench::metrics
