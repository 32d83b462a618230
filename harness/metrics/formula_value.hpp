// What a formula answers: a number, or the reason why there is none. And the few statistics that formulas share.
//
// Thread: any (pure functions). Owner: none. Units: those of the formula. Errors: none; an empty window is a reason,
// never 0 (DESIGN section 8). Source: population standard deviation as in the published results (corpus README: divisor
// n).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace feedbench::metrics {

inline constexpr std::string_view kWindowEmpty = "metric_window_empty"; // no step is left after the exclusions
inline constexpr std::string_view kNoSteps = "no_steps";                // nothing was trained
inline constexpr std::string_view kNoBytes = "no_bytes_delivered";      // e.g. the null backend
inline constexpr std::string_view kNoTime = "no_time_passed";           // a window of zero length
inline constexpr std::string_view kUneven =
    "accelerator_without_window"; // an interrupted run: some accelerators have no figure
inline constexpr std::string_view kNoSlices = "no_complete_slice_in_window"; // shorter than one slice
inline constexpr std::string_view kNotCounted = "not_counted";               // nothing recorded it
inline constexpr std::string_view kOneEpoch = "only_one_epoch";
inline constexpr std::string_view kNoSource = "source_not_counted"; // no host knows the device or interface below

struct FormulaValue {
    std::optional<double> number;
    std::string_view reason; // static text; empty where there is a number

    static FormulaValue of(double value) { return {value, {}}; }
    static FormulaValue none(std::string_view why) { return {std::nullopt, why}; }
    explicit operator bool() const { return number.has_value(); }
};

// part / whole; a reason where whole is not above zero.
FormulaValue ratio(double part, double whole, std::string_view reason = kNoTime);
// Over the values that exist; `reason` of the first missing one where none exists.
FormulaValue mean(std::span<const FormulaValue> values);
FormulaValue population_stdev(std::span<const FormulaValue> values);
// Nearest rank, quantile in [0, 1].
FormulaValue quantile(std::vector<double> values, double quantile, std::string_view reason_if_empty);

} // namespace feedbench::metrics
