// Metrics of the whole run: over its training epochs, unless the key says otherwise. The table is at the end.
#include "harness/metrics/metric_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "harness/types/units.hpp"

namespace feedbench::metrics {
namespace {

using R = RunAggregate;
using W = WindowAggregate;

enum class Which { all, first, later };

std::vector<FormulaValue> each(const std::vector<W>& epochs, FormulaValue (*of)(const W&), Which which = Which::all) {
    std::vector<FormulaValue> values;
    for (std::size_t i = 0; i < epochs.size(); ++i)
        if (which == Which::all || (which == Which::first) == (i == 0)) values.push_back(of(epochs[i]));
    return values;
}
double sum(const std::vector<W>& epochs, double W::*member) {
    return std::accumulate(epochs.begin(), epochs.end(), 0.0, [&](double s, const W& w) { return s + w.*member; });
}
FormulaValue later_mean(const R& r, FormulaValue (*of)(const W&)) {
    if (r.train.size() < 2) return FormulaValue::none(kOneEpoch);
    return mean(each(r.train, of, Which::later));
}

FormulaValue au(const W& w) { return w.figures.au_percentage; }
FormulaValue rate(const W& w) { return w.figures.samples_per_second; }
FormulaValue nominal_MiB(const W& w) {
    return rate(w) ? FormulaValue::of(to_MiB(*rate(w).number * w.record_length_bytes)) : rate(w);
}
FormulaValue nominal_MB(const W& w) {
    return rate(w) ? FormulaValue::of(to_MB(*rate(w).number * w.record_length_bytes)) : rate(w);
}
FormulaValue delivered_MB(const W& w) {
    if (w.bytes_delivered <= 0) return FormulaValue::none(w.step_count > 0 ? kNoBytes : kNoSteps);
    return ratio(to_MB(w.bytes_delivered), w.window_s);
}

// Mean over epochs, as the rules take it. Example: epochs of 92 % and 90 %: mean 91, population stdev 1.
FormulaValue au_mean(const R& r) { return mean(each(r.train, au)); }
FormulaValue au_stdev(const R& r) { return population_stdev(each(r.train, au)); }
FormulaValue au_first(const R& r) { return mean(each(r.train, au, Which::first)); }
FormulaValue au_later(const R& r) { return later_mean(r, au); }
FormulaValue rate_mean(const R& r) { return mean(each(r.train, rate)); }
FormulaValue rate_stdev(const R& r) { return population_stdev(each(r.train, rate)); }
FormulaValue nominal_MiB_mean(const R& r) { return mean(each(r.train, nominal_MiB)); }
FormulaValue nominal_MB_mean(const R& r) { return mean(each(r.train, nominal_MB)); }
FormulaValue nominal_MiB_stdev(const R& r) { return population_stdev(each(r.train, nominal_MiB)); }
FormulaValue delivered_first(const R& r) { return mean(each(r.train, delivered_MB, Which::first)); }
FormulaValue delivered_later(const R& r) { return later_mean(r, delivered_MB); }

// All think over all accelerator-seconds of the training epochs; long epochs weigh more, as in life.
// Example: 1 accelerator, epochs of 10 and 30 s with 9 and 18 s of think: 100 * 27 / 40 = 67.5 %.
FormulaValue effective_utilization(const R& r) {
    double available_s = 0;
    for (const W& w : r.train) available_s += w.accelerator_count * w.wall_s;
    return ratio(100 * sum(r.train, &W::think_s), available_s, r.train.empty() ? kNoSteps : kNoTime);
}
FormulaValue samples_whole(const R& r) {
    return ratio(sum(r.train, &W::sample_count), sum(r.train, &W::wall_s), r.train.empty() ? kNoSteps : kNoTime);
}
FormulaValue bytes_rate(const R& r) {
    const double bytes = sum(r.train, &W::bytes_delivered);
    if (bytes <= 0) return FormulaValue::none(sum(r.train, &W::step_count) > 0 ? kNoBytes : kNoSteps);
    return ratio(bytes, sum(r.train, &W::window_s));
}
FormulaValue run_MB(const R& r) {
    const FormulaValue v = bytes_rate(r);
    return v ? FormulaValue::of(to_MB(*v.number)) : v;
}
FormulaValue run_MiB(const R& r) {
    const FormulaValue v = bytes_rate(r);
    return v ? FormulaValue::of(to_MiB(*v.number)) : v;
}
// What the accelerators would take if they never waited: all bytes over the think time that consumed them, for all side
// by side. Example: 2 accelerators x 700 MB a step / 0.35 s = 4000 MB/s.
FormulaValue needed_MB(const R& r) {
    const double bytes = sum(r.train, &W::bytes_delivered), think_s = sum(r.train, &W::think_s);
    if (bytes <= 0) return FormulaValue::none(kNoBytes);
    return ratio(to_MB(bytes) * r.train.front().accelerator_count, think_s, kThinkIsZero);
}

// Of all epochs and hosts. Example: epochs of 1.02 and 0.03: 0.03.
FormulaValue source_over_delivered(const R& r) {
    FormulaValue least = FormulaValue::none(r.train.empty() ? kNoSteps : r.train.front().source_over_delivered.reason);
    for (const W& w : r.train) {
        const FormulaValue& one = w.source_over_delivered;
        if (one && (!least || *one.number < *least.number)) least = one;
    }
    return least;
}

std::vector<TimedRate> timed_slices(const R& r) {
    std::vector<TimedRate> all;
    for (const W& w : r.train) all.insert(all.end(), w.slices.begin(), w.slices.end());
    return all;
}
std::vector<double> slices(const R& r) {
    std::vector<double> all;
    for (const TimedRate& one : timed_slices(r)) all.push_back(one.rate);
    return all;
}
FormulaValue sustained_cv(const R& r) { return coefficient_of_variation(timed_slices(r)); }
FormulaValue drift_mean(const R& r) {
    return mean(each(r.train, [](const W& w) { return relative_drift(w.slices); }));
}
FormulaValue identity_deviation(const R& r) { // the worst: a mean would hide a contradiction
    FormulaValue worst = FormulaValue::none(kNoSteps);
    for (const W& w : r.train)
        if (const FormulaValue& one = w.identity_deviation; !worst || (one && *one.number > *worst.number))
            worst = one ? one : FormulaValue::none(one.reason);
    return worst;
}
// Example: first epoch 800 MB/s, later ones 1000 and 1000: 0.8, the first was slower: it was warming up. 1.25: the
// later ones were slower.
FormulaValue over_later(const FormulaValue& first, const FormulaValue& later) {
    if (!first) return first;
    if (!later) return later;
    return ratio(*first.number, *later.number);
}
FormulaValue first_over_later_MB(const R& r) { return over_later(delivered_first(r), delivered_later(r)); }
FormulaValue first_over_later_au(const R& r) { return over_later(au_first(r), au_later(r)); }
FormulaValue sustained_mean(const R& r) {
    const std::vector<double> all = slices(r);
    return ratio(std::accumulate(all.begin(), all.end(), 0.0), static_cast<double>(all.size()), kNoSlices);
}
FormulaValue sustained_p5(const R& r) { return quantile(slices(r), 0.05, kNoSlices); }
FormulaValue sustained_min(const R& r) { return quantile(slices(r), 0, kNoSlices); }

FormulaValue of_histogram(const HistogramData& h, double value_ns) {
    return h.count == 0 ? FormulaValue::none(kNotCounted) : FormulaValue::of(value_ns / 1e9);
}

// Example: 12 CPU seconds for 40 GB: 0.3 s/GB.
FormulaValue cpu_process(const R& r) { return ratio(r.process_cpu_s, r.cpu_bytes / 1e9, kNoBytes); }
FormulaValue cpu_host(const R& r) { return ratio(r.host_cpu_s, r.cpu_bytes / 1e9, kNoBytes); }

FormulaValue outside(const R& r) {
    return FormulaValue::of(std::max(0.0, sum(r.train, &W::wall_s) - sum(r.train, &W::window_s)));
}
FormulaValue oversleep_mean(const R& r) { return ratio(r.oversleep_s, sum(r.train, &W::accelerator_steps), kNoSteps); }

// Headline: all bytes over all time. Example (case T8): 100 GiB in 5 s and 100 GiB in 20 s: 200 / 25 = 8.0 GiB/s; mean
// of rates 12.5.
FormulaValue checkpoint_rate(const R& r) {
    double bytes = 0, time_s = 0;
    for (const CheckpointResult& c : r.checkpoints) {
        bytes += static_cast<double>(c.bytes);
        time_s += c.duration_s;
    }
    return ratio(to_GiB(bytes), time_s);
}
FormulaValue checkpoint_mean_of_rates(const R& r) {
    std::vector<FormulaValue> rates;
    for (const CheckpointResult& c : r.checkpoints)
        rates.push_back(ratio(to_GiB(static_cast<double>(c.bytes)), c.duration_s));
    return mean(rates);
}
FormulaValue checkpoint_duration(const R& r) {
    double time_s = 0;
    for (const CheckpointResult& c : r.checkpoints) time_s += c.duration_s;
    return ratio(time_s, static_cast<double>(r.checkpoints.size()), kNotCounted);
}

bool evaluated(const R& r) { return !r.evaluation.empty(); }
bool checkpointed(const R& r) { return !r.checkpoints.empty(); }
template <double W::*member>
FormulaValue total(const R& r) {
    return FormulaValue::of(sum(r.train, member));
}
template <HistogramData R::*h, double HistogramData::*q>
FormulaValue latency(const R& r) {
    return of_histogram(r.*h, r.*h.*q);
}
template <Figures W::*figures>
FormulaValue au_of(const R& r) {
    return mean(each(r.train, [](const W& w) { return (w.*figures).au_percentage; }));
}
template <Figures W::*figures>
FormulaValue rate_of(const R& r) {
    return mean(each(r.train, [](const W& w) { return (w.*figures).samples_per_second; }));
}

constexpr std::string_view kRules = "MLPerf Storage rules 1.0-3.0", kDesign = "DESIGN section 8";
constexpr auto kReads = &R::sample_read_latency;
constexpr auto kWaits = &R::batch_wait;
constexpr auto kThinkErrors = &R::think_error;
constexpr auto kFirstByte = &R::time_to_first_byte;
using H = HistogramData;

constexpr std::array kRunMetrics{
    RunMetric{"au_mean_percentage", "%", "rules", kRules, au_mean, nullptr},
    RunMetric{"au_stdev_percentage", "%", "population_stdev", kRules, au_stdev, nullptr},
    RunMetric{"au_first_epoch_percentage", "%", "rules", kDesign, au_first, nullptr},
    RunMetric{"au_later_epochs_percentage", "%", "rules", kDesign, au_later, nullptr},
    RunMetric{"effective_utilization_percentage", "%", "think_over_wall", kDesign, effective_utilization, nullptr},
    RunMetric{"samples_per_second_mean", "samples/s", "rules", kRules, rate_mean, nullptr},
    RunMetric{"samples_per_second_stdev", "samples/s", "population_stdev", kRules, rate_stdev, nullptr},
    RunMetric{"samples_per_second_whole_epochs", "samples/s", "samples_over_wall", "case T15", samples_whole, nullptr},
    RunMetric{"delivered_MB_per_second", "MB/s", "bytes_over_window", kDesign, run_MB, nullptr},
    RunMetric{"delivered_MiB_per_second", "MiB/s", "bytes_over_window", kDesign, run_MiB, nullptr},
    RunMetric{"delivered_MB_per_second_first_epoch", "MB/s", "bytes_over_window", kDesign, delivered_first, nullptr},
    RunMetric{"delivered_MB_per_second_later_epochs", "MB/s", "bytes_over_window", kDesign, delivered_later, nullptr},
    RunMetric{"needed_MB_per_second", "MB/s", "bytes_over_think", kDesign, needed_MB, nullptr},
    RunMetric{"nominal_MB_per_second", "MB/s", "samples_times_record_length", "case T6", nominal_MB_mean, nullptr},
    RunMetric{"nominal_MiB_per_second", "MiB/s", "samples_times_record_length", "case T6", nominal_MiB_mean, nullptr},
    RunMetric{"nominal_MiB_per_second_stdev", "MiB/s", "population_stdev", "reference tool", nominal_MiB_stdev,
              nullptr},
    RunMetric{"sustained_MB_per_second_mean", "MB/s", "slices_in_window", kDesign, sustained_mean, nullptr},
    RunMetric{"sustained_MB_per_second_p5", "MB/s", "slices_in_window", kDesign, sustained_p5, nullptr},
    RunMetric{"sustained_MB_per_second_min", "MB/s", "slices_in_window", kDesign, sustained_min, nullptr},
    RunMetric{"sustained_MB_per_second_stdev_over_mean", "", "slices_stdev_over_mean", kDesign, sustained_cv, nullptr},
    RunMetric{"first_epoch_MB_over_later", "", "first_over_later", kDesign, first_over_later_MB, nullptr},
    RunMetric{"first_epoch_au_over_later", "", "first_over_later", kDesign, first_over_later_au, nullptr},
    RunMetric{"MB_per_second_drift_over_mean", "", "least_squares_over_mean", kDesign, drift_mean, nullptr},
    RunMetric{"au_identity_deviation", "", "rate_against_au", "case T7", identity_deviation, nullptr},
    RunMetric{"batch_wait_s_p50", "s", "histogram_quantile", kDesign, latency<kWaits, &H::p50_ns>, nullptr},
    RunMetric{"batch_wait_s_p95", "s", "histogram_quantile", kDesign, latency<kWaits, &H::p95_ns>, nullptr},
    RunMetric{"batch_wait_s_p99", "s", "histogram_quantile", kDesign, latency<kWaits, &H::p99_ns>, nullptr},
    RunMetric{"sample_read_latency_s_p50", "s", "histogram_quantile", kDesign, latency<kReads, &H::p50_ns>, nullptr},
    RunMetric{"sample_read_latency_s_p95", "s", "histogram_quantile", kDesign, latency<kReads, &H::p95_ns>, nullptr},
    RunMetric{"sample_read_latency_s_p99", "s", "histogram_quantile", kDesign, latency<kReads, &H::p99_ns>, nullptr},
    RunMetric{"time_to_first_byte_s_p50", "s", "histogram_quantile", kDesign, latency<kFirstByte, &H::p50_ns>, nullptr},
    RunMetric{"time_to_first_byte_s_p95", "s", "histogram_quantile", kDesign, latency<kFirstByte, &H::p95_ns>, nullptr},
    RunMetric{"time_to_first_byte_s_p99", "s", "histogram_quantile", kDesign, latency<kFirstByte, &H::p99_ns>, nullptr},
    RunMetric{"think_error_s_p50", "s", "histogram_quantile", "case T5", latency<kThinkErrors, &H::p50_ns>, nullptr},
    RunMetric{"think_error_s_p99", "s", "histogram_quantile", "case T5", latency<kThinkErrors, &H::p99_ns>, nullptr},
    RunMetric{"cpu_s_per_GB_process", "s/GB", "cpu_over_bytes", kDesign, cpu_process, nullptr},
    RunMetric{"cpu_s_per_GB_host", "s/GB", "cpu_over_bytes", kDesign, cpu_host, nullptr},
    RunMetric{"source_bytes_over_delivered", "", "least_of_hosts", kDesign, source_over_delivered, nullptr},
    RunMetric{"outside_block_s", "s", "wall_minus_windows", kDesign, outside, nullptr},
    RunMetric{"wall_s", "s", "wall", kDesign, total<&W::wall_s>, nullptr},
    RunMetric{"think_oversleep_s_mean", "s", "oversleep_over_steps", kDesign, oversleep_mean, nullptr},
    RunMetric{"step_count", "", "sum", kDesign, total<&W::step_count>, nullptr},
    RunMetric{"sample_count", "", "sum", kDesign, total<&W::sample_count>, nullptr},
    RunMetric{"dropped_sample_count", "", "sum", kDesign, total<&W::dropped_sample_count>, nullptr},
    RunMetric{"bytes_delivered", "bytes", "sum", kDesign, total<&W::bytes_delivered>, nullptr},
    RunMetric{"dlio_au_mean_percentage", "%", "dlio", "corpus README", au_of<&W::dlio>, nullptr},
    RunMetric{"dlio_samples_per_second_mean", "samples/s", "dlio", "corpus README", rate_of<&W::dlio>, nullptr},
    RunMetric{"dlio_current_samples_per_second_mean", "samples/s", "dlio_current", "statscounter.py",
              rate_of<&W::dlio_current>, nullptr},
    RunMetric{"eval_au_mean_percentage", "%", "rules", kRules, [](const R& r) { return mean(each(r.evaluation, au)); },
              evaluated},
    RunMetric{"eval_au_stdev_percentage", "%", "population_stdev", kRules,
              [](const R& r) { return population_stdev(each(r.evaluation, au)); }, evaluated},
    RunMetric{"eval_samples_per_second_mean", "samples/s", "rules", kRules,
              [](const R& r) { return mean(each(r.evaluation, rate)); }, evaluated},
    RunMetric{"eval_samples_per_second_stdev", "samples/s", "population_stdev", kRules,
              [](const R& r) { return population_stdev(each(r.evaluation, rate)); }, evaluated},
    RunMetric{"eval_delivered_MB_per_second", "MB/s", "bytes_over_window", kDesign,
              [](const R& r) { return mean(each(r.evaluation, delivered_MB)); }, evaluated},
    RunMetric{"checkpoint_GiB_per_second", "GiB/s", "bytes_over_time", "case T8", checkpoint_rate, checkpointed},
    RunMetric{"checkpoint_GiB_per_second_mean_of_rates", "GiB/s", "mean_of_rates", "case T8; reference tool",
              checkpoint_mean_of_rates, checkpointed},
    RunMetric{"checkpoint_duration_s_mean", "s", "mean", kDesign, checkpoint_duration, checkpointed},
};

} // namespace

std::span<const RunMetric> run_metrics() { return kRunMetrics; }

std::vector<Metric> run_rows(const RunAggregate& run) {
    std::vector<Metric> rows;
    for (const RunMetric& metric : kRunMetrics) {
        if (metric.applies != nullptr && !metric.applies(run)) continue;
        const FormulaValue value = metric.compute(run);
        rows.push_back({std::string(metric.key), std::string(metric.unit), value.number, std::string(value.reason),
                        std::string(metric.formula)});
    }
    return rows;
}

} // namespace feedbench::metrics
