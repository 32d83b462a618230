// Whether a rate was steady over time: spread, drift, and whether rate and AU tell the same story.
//
// Thread: any (pure functions). Owner: none. Units: in the names. Errors: a reason instead of a value.
// Source: DESIGN section 8; case T7 (identity). Least squares: the textbook's slope, sum((t - mean t)(x - mean x)) /
// sum((t - mean t)^2).
#pragma once

#include <span>
#include <vector>

#include "harness/metrics/block_accumulator.hpp"
#include "harness/metrics/formula_value.hpp"

namespace feedbench::metrics {

inline constexpr std::string_view kFewSlices = "too_few_slices"; // a line through fewer says nothing
inline constexpr std::string_view kThinkVaries = "think_time_varies";
inline constexpr std::string_view kThinkIsZero = "think_time_is_zero";

struct TimedRate {
    double time_s = 0, rate = 0;
};

// Population standard deviation / mean, of at least 2 slices. Example: 100, 120, 20 MB/s: mean 80, deviation 43.2,
// 0.540.
FormulaValue coefficient_of_variation(std::span<const TimedRate> rates);
// Change along the least squares line from the first to the last slice, over the mean rate; of at least 5 slices.
// Example: 100, 98, 96, 94, 92 MB/s: slope -2 a second, -8 over 4 s, mean 96: -0.083.
FormulaValue relative_drift(std::span<const TimedRate> rates);

// |samples/s - AU x accelerators x batch / think| / samples/s, both without each block's first step, for one constant
// think time: 0 in arithmetic, so that more than a rounding error is a contradiction. `au_percentage` as `rules` has
// it. Example: 2 accelerators, batch 4, think 0.1 s, 64 samples/s counted, AU 80 %: 0.8 * 2 * 4 / 0.1 = 64: 0.
FormulaValue au_identity_deviation(std::span<const BlockTotals> blocks, const FormulaValue& au_percentage,
                                   double batch_size);

} // namespace feedbench::metrics
