#include "harness/metrics/checkpoint_metrics.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "harness/types/units.hpp"

namespace feedbench::metrics {

namespace {

using C = CheckpointResult;
using Rank = CheckpointRankResult;

double gib(std::uint64_t bytes) { return to_GiB(static_cast<double>(bytes)); }

// ---- of one checkpoint ----
FormulaValue rate(const C& c) { return ratio(gib(c.bytes), c.duration_s); }
FormulaValue rate_until_visible(const C& c) { return ratio(gib(c.bytes), c.visible_s); }

// Over the ranks that have anything to do: under ZeRO 1 all have, under ZeRO 0 not.
std::vector<FormulaValue> over_ranks(const C& c, FormulaValue (*of)(const Rank&)) {
    std::vector<FormulaValue> values;
    for (const Rank& rank : c.ranks)
        if (rank.bytes > 0) values.push_back(of(rank));
    return values;
}
FormulaValue extreme(const std::vector<FormulaValue>& values, bool largest) {
    FormulaValue found = FormulaValue::none(kNoRanks);
    for (const FormulaValue& one : values)
        if (one && (!found || (*one.number > *found.number) == largest)) found = one;
    return found;
}
FormulaValue duration_of(const Rank& r) { return FormulaValue::of(r.duration_s); }
FormulaValue rate_of(const Rank& r) { return ratio(gib(r.bytes), r.duration_s); }

FormulaValue rank_rate_min(const C& c) { return extreme(over_ranks(c, rate_of), false); }
FormulaValue rank_rate_max(const C& c) { return extreme(over_ranks(c, rate_of), true); }
FormulaValue rank_duration_min(const C& c) { return extreme(over_ranks(c, duration_of), false); }
FormulaValue rank_duration_max(const C& c) { return extreme(over_ranks(c, duration_of), true); }
FormulaValue rank_duration_stdev(const C& c) { return population_stdev(over_ranks(c, duration_of)); }
// Example: ranks of 4, 5 and 6 s: (6 - 4) / 5 = 0.4.
FormulaValue rank_spread(const C& c) {
    const FormulaValue least = rank_duration_min(c), most = rank_duration_max(c),
                       middle = mean(over_ranks(c, duration_of));
    if (!least || !most || !middle) return FormulaValue::none(kNoRanks);
    return ratio(*most.number - *least.number, *middle.number);
}

// Shares of the ranks' time, over all ranks: what they did one after another.
template <double Rank::*Part>
FormulaValue share(const C& c) {
    double part = 0, whole = 0;
    for (const Rank& rank : c.ranks) {
        part += rank.*Part;
        whole += rank.duration_s;
    }
    const FormulaValue of = ratio(100 * part, whole);
    return c.ranks.empty() ? FormulaValue::none(kNoRanks) : of;
}

FormulaValue synced_after_data(const C& c) { return FormulaValue::of(c.synced_s - c.data_s); }
FormulaValue visible_after_data(const C& c) { return FormulaValue::of(c.visible_s - c.data_s); }

// ---- of a run ----
using Cs = Checkpoints;

std::vector<FormulaValue> each(const Cs& all, FormulaValue (*of)(const C&)) {
    std::vector<FormulaValue> values;
    for (const C* one : all) values.push_back(of(*one));
    return values;
}
FormulaValue duration(const C& c) { return FormulaValue::of(c.duration_s); }

FormulaValue count(const Cs& all) { return FormulaValue::of(static_cast<double>(all.size())); }
double sum_bytes(const Cs& all) {
    double bytes = 0;
    for (const C* one : all) bytes += static_cast<double>(one->bytes);
    return bytes;
}
double sum_duration_s(const Cs& all) {
    double s = 0;
    for (const C* one : all) s += one->duration_s;
    return s;
}
FormulaValue run_rate(const Cs& all) { return ratio(to_GiB(sum_bytes(all)), sum_duration_s(all)); }
FormulaValue run_rate_MB(const Cs& all) { return ratio(to_MB(sum_bytes(all)), sum_duration_s(all)); }

template <FormulaValue (*Of)(const C&)>
FormulaValue mean_of(const Cs& all) {
    return mean(each(all, Of));
}
template <FormulaValue (*Of)(const C&)>
FormulaValue stdev_of(const Cs& all) {
    return population_stdev(each(all, Of));
}
template <FormulaValue (*Of)(const C&)>
FormulaValue min_of(const Cs& all) {
    return extreme(each(all, Of), false);
}
template <FormulaValue (*Of)(const C&)>
FormulaValue max_of(const Cs& all) {
    return extreme(each(all, Of), true);
}
FormulaValue first_byte(const C& c) { return FormulaValue::of(c.first_byte_s); }

constexpr std::array kOfCheckpoint{
    CheckpointMetric{"GiB_per_second", "GiB/s", "bytes_over_time", rate},
    CheckpointMetric{"GiB_per_second_until_visible", "GiB/s", "bytes_over_time_until_visible", rate_until_visible},
    CheckpointMetric{"rank_GiB_per_second_min", "GiB/s", "least_over_ranks", rank_rate_min},
    CheckpointMetric{"rank_GiB_per_second_max", "GiB/s", "most_over_ranks", rank_rate_max},
    CheckpointMetric{"rank_duration_s_min", "s", "least_over_ranks", rank_duration_min},
    CheckpointMetric{"rank_duration_s_max", "s", "most_over_ranks", rank_duration_max},
    CheckpointMetric{"rank_duration_s_stdev", "s", "population_stdev", rank_duration_stdev},
    CheckpointMetric{"rank_duration_spread_over_mean", "", "range_over_mean", rank_spread},
    CheckpointMetric{"transfer_percentage", "%", "share_of_rank_time", share<&Rank::transfer_s>},
    CheckpointMetric{"fsync_percentage", "%", "share_of_rank_time", share<&Rank::fsync_s>},
    CheckpointMetric{"commit_percentage", "%", "share_of_rank_time", share<&Rank::commit_s>},
    CheckpointMetric{"content_percentage", "%", "share_of_rank_time", share<&Rank::content_s>},
    CheckpointMetric{"synced_after_data_s", "s", "difference", synced_after_data},
    CheckpointMetric{"visible_after_data_s", "s", "difference", visible_after_data},
};

constexpr std::array kOfRun{
    CheckpointRunMetric{"count", "", "count", count, true},
    CheckpointRunMetric{"GiB_per_second", "GiB/s", "bytes_over_time", run_rate, true},
    CheckpointRunMetric{"MB_per_second", "MB/s", "bytes_over_time", run_rate_MB, true},
    CheckpointRunMetric{"GiB_per_second_mean_of_rates", "GiB/s", "mean_of_rates", mean_of<rate>, true},
    CheckpointRunMetric{"GiB_per_second_stdev_of_rates", "GiB/s", "population_stdev", stdev_of<rate>, true},
    CheckpointRunMetric{"rank_GiB_per_second_min", "GiB/s", "mean_of_least_over_ranks", mean_of<rank_rate_min>, true},
    CheckpointRunMetric{"duration_s_mean", "s", "mean", mean_of<duration>, true},
    CheckpointRunMetric{"duration_s_stdev", "s", "population_stdev", stdev_of<duration>, true},
    CheckpointRunMetric{"duration_s_min", "s", "least", min_of<duration>, true},
    CheckpointRunMetric{"duration_s_max", "s", "most", max_of<duration>, true},
    CheckpointRunMetric{"rank_duration_spread_over_mean", "", "mean_of_range_over_mean", mean_of<rank_spread>, true},
    CheckpointRunMetric{"first_byte_s_max", "s", "most", max_of<first_byte>, true},
    CheckpointRunMetric{"transfer_percentage", "%", "share_of_rank_time", mean_of<share<&Rank::transfer_s>>, true},
    CheckpointRunMetric{"fsync_percentage", "%", "share_of_rank_time", mean_of<share<&Rank::fsync_s>>, false},
    CheckpointRunMetric{"commit_percentage", "%", "share_of_rank_time", mean_of<share<&Rank::commit_s>>, false},
    CheckpointRunMetric{"content_percentage", "%", "share_of_rank_time", mean_of<share<&Rank::content_s>>, true},
    CheckpointRunMetric{"synced_after_data_s_max", "s", "most", max_of<synced_after_data>, false},
    CheckpointRunMetric{"visible_after_data_s_max", "s", "most", max_of<visible_after_data>, false},
};

Metric make_row(std::string key, std::string_view unit, std::string_view formula, FormulaValue value) {
    return {std::move(key), std::string(unit), value.number, std::string(value.reason), std::string(formula)};
}

} // namespace

std::span<const CheckpointMetric> checkpoint_metrics() { return kOfCheckpoint; }
std::span<const CheckpointRunMetric> checkpoint_run_metrics() { return kOfRun; }

std::vector<Metric> checkpoint_rows(const CheckpointResult& checkpoint) {
    std::vector<Metric> rows;
    for (const CheckpointMetric& one : kOfCheckpoint)
        rows.push_back(make_row(std::string(one.key), one.unit, one.formula, one.compute(checkpoint)));
    return rows;
}

std::vector<Metric> checkpoint_run_rows(const std::vector<CheckpointResult>& checkpoints) {
    std::vector<Metric> rows;
    Checkpoints all;
    for (const std::string kind : {"write", "read"}) {
        Checkpoints of_kind;
        for (const CheckpointResult& one : checkpoints)
            if (one.kind == kind) of_kind.push_back(&one);
        if (of_kind.empty()) continue;
        for (const CheckpointRunMetric& one : kOfRun)
            if (kind == "write" || one.of_reads)
                rows.push_back(make_row("checkpoint_" + kind + "_" + std::string(one.key), one.unit, one.formula,
                                        one.compute(of_kind)));
        all.insert(all.end(), of_kind.begin(), of_kind.end());
    }
    FormulaValue size = FormulaValue::none(kNoCheckpoint);
    if (!all.empty()) size = FormulaValue::of(to_GiB(sum_bytes(all)) / static_cast<double>(all.size()));
    rows.push_back(make_row("checkpoint_size_GiB", "GiB", "mean", size));
    return rows;
}

std::vector<Metric> latency_rows(const HistogramData& histogram, const std::string& prefix) {
    const std::pair<const char*, double> quantiles[] = {
        {"_s_p50", histogram.p50_ns}, {"_s_p95", histogram.p95_ns}, {"_s_p99", histogram.p99_ns}};
    std::vector<Metric> rows;
    for (const auto& [suffix, ns] : quantiles)
        rows.push_back(make_row(prefix + suffix, "s", "histogram_quantile",
                                histogram.count > 0 ? FormulaValue::of(ns / 1e9) : FormulaValue::none(kNotCounted)));
    return rows;
}

} // namespace feedbench::metrics
