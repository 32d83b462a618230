#include "harness/metrics/steadiness.hpp"

#include <cmath>
#include <map>

#include "harness/types/units.hpp"

namespace feedbench::metrics {
namespace {

double mean_rate(std::span<const TimedRate> rates) {
    double sum = 0;
    for (const TimedRate& one : rates) sum += one.rate;
    return sum / static_cast<double>(rates.size());
}

} // namespace

FormulaValue coefficient_of_variation(std::span<const TimedRate> rates) {
    if (rates.empty()) return FormulaValue::none(kNoSlices);
    if (rates.size() < 2) return FormulaValue::none(kFewSlices);
    const double mean = mean_rate(rates);
    double squares = 0;
    for (const TimedRate& one : rates) squares += (one.rate - mean) * (one.rate - mean);
    return ratio(std::sqrt(squares / static_cast<double>(rates.size())), mean, kNoBytes);
}

FormulaValue relative_drift(std::span<const TimedRate> rates) {
    constexpr std::size_t kLeastSlices = 5;
    if (rates.size() < kLeastSlices) return FormulaValue::none(kFewSlices);
    double mean_time = 0;
    for (const TimedRate& one : rates) mean_time += one.time_s;
    mean_time /= static_cast<double>(rates.size());
    const double mean = mean_rate(rates);
    double together = 0, times = 0;
    for (const TimedRate& one : rates) {
        together += (one.time_s - mean_time) * (one.rate - mean);
        times += (one.time_s - mean_time) * (one.time_s - mean_time);
    }
    if (!(times > 0)) return FormulaValue::none(kFewSlices);
    if (!(mean > 0)) return FormulaValue::none(kNoBytes);
    return FormulaValue::of(together / times * (rates.back().time_s - rates.front().time_s) / mean);
}

FormulaValue au_identity_deviation(std::span<const BlockTotals> blocks, const FormulaValue& au_percentage,
                                   double batch_size) {
    if (!au_percentage) return au_percentage;
    struct Accelerator {
        double rate_times_steps = 0, steps = 0;
    };
    std::map<std::uint32_t, Accelerator> accelerators; // blocks weigh by their steps, as in AU
    const std::uint64_t think_ns = blocks.empty() ? 0 : blocks.front().think_ns_first;
    for (const BlockTotals& b : blocks) {
        if (b.think_ns != think_ns * b.step_count) return FormulaValue::none(kThinkVaries);
        const double steps = static_cast<double>(b.step_count);
        const double window_s = seconds(b.duration_ns() - (b.think_end_ns_first - b.request_ns_first));
        if (b.step_count < 2 || !(window_s > 0)) continue; // has no AU either
        Accelerator& a = accelerators[b.accelerator_index];
        a.rate_times_steps += static_cast<double>(b.sample_count) * (steps - 1) / window_s;
        a.steps += steps;
    }
    if (think_ns == 0) return FormulaValue::none(kThinkIsZero);
    double rate = 0;
    for (const auto& [index, a] : accelerators) rate += a.rate_times_steps / a.steps;
    const double expected =
        *au_percentage.number / 100 * static_cast<double>(accelerators.size()) * batch_size / seconds(think_ns);
    return ratio(std::abs(rate - expected), rate, kNoSteps);
}

} // namespace feedbench::metrics
