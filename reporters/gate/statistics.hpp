// The interval of a ratio of medians over runs, by bootstrap; and how much runs of the baseline scatter.
//
// Thread: any (pure functions, deterministic from the seed). Owner: none. Units: ratios; figures may have any unit.
// Errors: none; where the runs are too few there is no interval. Source: docs/gate.md. Hierarchical bootstrap as in
// Davison and Hinkley, Bootstrap Methods and their Application, section 3.8: runs are drawn with replacement and come
// with their parts, for a run's figure already holds the scatter of its parts; Student's t widens the interval for few
// runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reporters/gate/gate_run.hpp"

namespace feedbench::gate {

double median(std::vector<double> values); // of at least one

// x with P(T <= x) = probability, for Student's t; probability in (0.5, 1), freedom >= 1. Exact series, inverted.
double student_quantile(double probability, unsigned freedom);

// Repeated runs of one thing: a figure each, above zero, and its parts (or none).
struct Repetitions {
    std::vector<double> figures;
    std::vector<std::vector<Part>> parts; // as many as figures; an empty one for a run without parts
};

struct Resampling {
    double confidence = 0.99; // of this one interval
    std::uint32_t replicates = 1000;
    std::uint64_t seed = 1;
};

struct RatioEstimate {
    double ratio = 1;                // median of the candidate / median of the baseline
    std::optional<double> low, high; // of the ratio; none: fewer than two degrees of freedom between runs
    // What parts alone say, where every run has some and runs are few: how far they vary within themselves. Never the
    // whole truth, for it leaves out what differs from run to run.
    std::optional<double> low_within, high_within;
    std::optional<double> baseline_spread; // standard deviation of the baseline's runs over their mean
    unsigned freedom = 0;                  // runs minus sides, of the sides with more than one run
};

RatioEstimate estimate_ratio(const Repetitions& baseline, const Repetitions& candidate, const Resampling& resampling);

} // namespace feedbench::gate
