// What the figures of a row are made with: means over runs, quotients, and a metric with its value or its reason.
//
// Thread: any (pure functions). Owner: none. Units: in the keys. Errors: a figure that cannot be computed is a metric
// with a reason. Source: docs/compare.md.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

#include "reporters/compare/comparison.hpp"

namespace feedbench::compare {

using Maybe = std::optional<double>;

inline void add(Row& row, std::string key, std::string unit, Maybe value, std::string reason, std::string formula) {
    if (value && !std::isfinite(*value)) value.reset();
    Metric metric{std::move(key), std::move(unit), value, value ? "" : std::move(reason), std::move(formula)};
    row.metrics.push_back(std::move(metric));
}

// Nothing where a run lacks it: the mean of the others would be of fewer runs than the row says.
template <class F>
Maybe mean_over(const std::vector<ingest::IngestedRun>& runs, F&& of) {
    double sum = 0;
    for (const ingest::IngestedRun& run : runs) {
        const Maybe value = of(run);
        if (!value) return {};
        sum += *value;
    }
    return runs.empty() ? Maybe() : Maybe(sum / static_cast<double>(runs.size()));
}
inline Maybe mean_over(const std::vector<ingest::IngestedRun>& runs, Maybe ingest::IngestedRun::*what) {
    return mean_over(runs, [&](const ingest::IngestedRun& run) { return run.*what; });
}

inline Maybe divided(Maybe part, Maybe whole) { return part && whole && *whole > 0 ? Maybe(*part / *whole) : Maybe(); }

inline void add_description(Row& row) {
    const std::string undeclared = row.description.path.empty() ? "no system description" : "not declared as a number";
    add(row, "usable_capacity_GiB", "GiB", row.description.usable_capacity_GiB, undeclared, "as_declared");
    add(row, "raw_capacity_GiB", "GiB", row.description.raw_capacity_GiB, undeclared, "as_declared");
    add(row, "rack_units", "", row.description.rack_units, undeclared, "as_declared");
}

} // namespace feedbench::compare
