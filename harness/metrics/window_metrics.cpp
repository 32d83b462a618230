// Metrics of one epoch or block. Each function stands beside its worked example; the table is at the end.
#include "harness/metrics/metric_table.hpp"

#include <algorithm>
#include <array>

#include "harness/types/units.hpp"

namespace feedbench::metrics {
namespace {

using W = WindowAggregate;

FormulaValue au(const W& w) { return w.figures.au_percentage; }
FormulaValue samples_rate(const W& w) { return w.figures.samples_per_second; }

// Example: 2 accelerators think 30 s each in an epoch of 40 s: 100 * 60 / (2 * 40) = 75 %.
FormulaValue effective_utilization(const W& w) { return ratio(100 * w.think_s, w.accelerator_count * w.wall_s); }

// Example: 5 steps x 7 samples in an epoch of 16.2 s, 16.0 of them in the first step: 2.16 samples/s (case T15).
FormulaValue samples_whole(const W& w) {
    if (w.sample_count <= 0) return FormulaValue::none(kNoSteps);
    return ratio(w.sample_count, w.wall_s);
}

// Bytes that really arrived, of files of any size (case T11). Example: 3,000,000,000 B in 2 s: 1500 MB/s = 1430.5
// MiB/s.
FormulaValue bytes_rate(const W& w) {
    if (w.bytes_delivered <= 0) return FormulaValue::none(w.step_count > 0 ? kNoBytes : kNoSteps);
    return ratio(w.bytes_delivered, w.window_s);
}
FormulaValue delivered_MB(const W& w) {
    const FormulaValue rate = bytes_rate(w);
    return rate ? FormulaValue::of(to_MB(*rate.number)) : rate;
}
FormulaValue delivered_MiB(const W& w) {
    const FormulaValue rate = bytes_rate(w);
    return rate ? FormulaValue::of(to_MiB(*rate.number)) : rate;
}

// Example (case T6): 1000 samples/s x 146,600,628 B = 146,600.6 MB/s = 139,809.3 MiB/s.
FormulaValue nominal_MiB(const W& w) {
    const FormulaValue rate = samples_rate(w);
    return rate ? FormulaValue::of(to_MiB(*rate.number * w.record_length_bytes)) : rate;
}
FormulaValue nominal_MB(const W& w) {
    const FormulaValue rate = samples_rate(w);
    return rate ? FormulaValue::of(to_MB(*rate.number * w.record_length_bytes)) : rate;
}

// Example: slices of 100, 120 and 20 MB/s: mean 80, p5 20, minimum 20.
std::vector<double> slice_rates(const W& w) {
    std::vector<double> rates;
    for (const TimedRate& one : w.slices) rates.push_back(one.rate);
    return rates;
}
FormulaValue sustained_mean(const W& w) {
    double sum = 0;
    for (const TimedRate& one : w.slices) sum += one.rate;
    return ratio(sum, static_cast<double>(w.slices.size()), kNoSlices);
}
FormulaValue sustained_p5(const W& w) { return quantile(slice_rates(w), 0.05, kNoSlices); }
FormulaValue sustained_min(const W& w) { return quantile(slice_rates(w), 0, kNoSlices); }
FormulaValue sustained_cv(const W& w) { return coefficient_of_variation(w.slices); }
FormulaValue drift(const W& w) { return relative_drift(w.slices); }

// Example: epoch of 40 s, blocks of 19 and 18 s, a checkpoint between them: 3 s.
FormulaValue outside(const W& w) { return FormulaValue::of(std::max(0.0, w.wall_s - w.window_s)); }

// Example: 3 s of 40 s: 7.5 %.
FormulaValue outside_share(const W& w) {
    const FormulaValue part = ratio(w.wall_s - w.window_s, w.wall_s);
    return part ? FormulaValue::of(std::max(0.0, 100 * *part.number)) : part;
}

FormulaValue batch_wait_mean(const W& w) { return ratio(w.wait_s, w.accelerator_steps, kNoSteps); }

constexpr std::array kWindowMetrics{
    WindowMetric{"au_percentage", "%", "rules", "MLPerf Storage rules 1.0-3.0", au, true},
    WindowMetric{"effective_utilization_percentage", "%", "think_over_wall", "DESIGN section 8", effective_utilization,
                 false},
    WindowMetric{"samples_per_second", "samples/s", "rules", "MLPerf Storage rules 1.0-3.0", samples_rate, true},
    WindowMetric{"samples_per_second_whole_epoch", "samples/s", "samples_over_wall", "case T15", samples_whole, false},
    WindowMetric{"delivered_MB_per_second", "MB/s", "bytes_over_window", "DESIGN section 8", delivered_MB, true},
    WindowMetric{"delivered_MiB_per_second", "MiB/s", "bytes_over_window", "DESIGN section 8", delivered_MiB, true},
    WindowMetric{"nominal_MB_per_second", "MB/s", "samples_times_record_length", "case T6", nominal_MB, false},
    WindowMetric{"nominal_MiB_per_second", "MiB/s", "samples_times_record_length", "case T6; reference tool",
                 nominal_MiB, false},
    WindowMetric{"sustained_MB_per_second_mean", "MB/s", "slices_in_window", "DESIGN section 8", sustained_mean, false},
    WindowMetric{"sustained_MB_per_second_p5", "MB/s", "slices_in_window", "DESIGN section 8", sustained_p5, false},
    WindowMetric{"sustained_MB_per_second_min", "MB/s", "slices_in_window", "DESIGN section 8", sustained_min, false},
    WindowMetric{"sustained_MB_per_second_stdev_over_mean", "", "slices_stdev_over_mean", "DESIGN section 8",
                 sustained_cv, false},
    WindowMetric{"MB_per_second_drift_over_mean", "", "least_squares_over_mean", "DESIGN section 8", drift, false},
    WindowMetric{"au_identity_deviation", "", "rate_against_au", "case T7",
                 [](const W& w) { return w.identity_deviation; }, false},
    WindowMetric{"batch_wait_s_mean", "s", "wait_over_steps", "DESIGN section 8", batch_wait_mean, true},
    WindowMetric{"source_bytes_over_delivered", "", "least_of_hosts", "DESIGN section 8",
                 [](const W& w) { return w.source_over_delivered; }, false},
    WindowMetric{"outside_block_s", "s", "wall_minus_windows", "DESIGN section 8", outside, false},
    WindowMetric{"outside_block_percentage", "%", "wall_minus_windows", "DESIGN section 8", outside_share, false},
    WindowMetric{"wall_s", "s", "wall", "DESIGN section 8", [](const W& w) { return FormulaValue::of(w.wall_s); },
                 false},
};

Metric row(const WindowMetric& metric, const WindowAggregate& window) {
    const FormulaValue value = metric.compute(window);
    return {std::string(metric.key), std::string(metric.unit), value.number, std::string(value.reason),
            std::string(metric.formula)};
}

} // namespace

std::span<const WindowMetric> window_metrics() { return kWindowMetrics; }

std::vector<Metric> block_rows(const WindowAggregate& block) {
    std::vector<Metric> rows;
    for (const WindowMetric& metric : kWindowMetrics)
        if (metric.of_blocks) rows.push_back(row(metric, block));
    return rows;
}

std::vector<Metric> epoch_rows(const WindowAggregate& epoch) {
    std::vector<Metric> rows;
    for (const WindowMetric& metric : kWindowMetrics) rows.push_back(row(metric, epoch));
    return rows;
}

} // namespace feedbench::metrics
