// Curves of a run: how long reads and waits took (cumulative distributions), and AU against the number of accelerators.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "reporters/console_text.hpp"
#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

struct Kind {
    std::string_view key, name, colour;
};
constexpr Kind kKinds[] = {{"sample_read_latency", "reading a sample", "series-1"},
                           {"time_to_first_byte", "first byte of a sample", "series-3"},
                           {"batch_wait", "waiting for a batch", "series-2"},
                           {"checkpoint_write_piece_latency", "writing a piece of a checkpoint", "series-4"},
                           {"checkpoint_read_piece_latency", "reading a piece of a checkpoint", "series-6"},
                           {"checkpoint_fsync_latency", "fsync of a checkpoint", "series-7"}};

// The share of samples at or below each bucket's upper end, at most 16 points an octave: finer than a screen shows.
std::vector<html::Point> distribution(const HistogramData& h) {
    constexpr double kLeastRatio = 1.0443; // 2^(1/16)
    constexpr double kLeast_ns = 1000;     // what took less took no time: the plot begins there
    std::vector<html::Point> out;
    std::uint64_t below = 0;
    double shown_ns = 0;
    for (std::size_t i = 0; i < h.buckets.size(); ++i) {
        below += h.buckets[i].second;
        const bool last = i + 1 == h.buckets.size();
        // A bucket ends where the next one of its size would begin; the largest value is known.
        const double lower_ns = static_cast<double>(h.buckets[i].first);
        const double end_ns = last ? static_cast<double>(h.max_ns)
                                   : std::min(lower_ns * 65 / 64, static_cast<double>(h.buckets[i + 1].first));
        if (out.empty() && static_cast<double>(h.min_ns) > kLeast_ns)
            out.push_back({static_cast<double>(h.min_ns) / 1e9, 0});
        if (!last && end_ns < shown_ns * kLeastRatio) continue;
        const double share = 100 * static_cast<double>(below) / static_cast<double>(h.count);
        const double x = std::max(end_ns, kLeast_ns) / 1e9;
        if (!out.empty() && x <= out.back().x)
            out.back().y = share;
        else
            out.push_back({x, share});
        shown_ns = end_ns;
    }
    return out;
}

html::Table quantile_table(const RunPart& part) {
    html::Table table;
    table.id = part.prefix + "latency-table";
    table.columns = {{"", "", false}, {"Count", ""}, {"Least", ""}, {"Mean", ""}, {"p50", ""},
                     {"p95", ""},     {"p99", ""},   {"p99.9", ""}, {"Most", ""}};
    table.sortable = false;
    for (const Kind& kind : kKinds)
        for (const HistogramData& h : part.result.histograms) {
            if (h.key != kind.key) continue;
            if (h.count == 0) {
                table.rows.push_back({{.text = std::string(kind.name)}, {.text = "", .reason = "nothing recorded it"}});
                continue;
            }
            const auto cell = [](double ns) { return duration_cell(ns / 1e9); };
            table.rows.push_back({{.text = std::string(kind.name)},
                                  count_cell(h.count),
                                  cell(static_cast<double>(h.min_ns)),
                                  cell(h.mean_ns),
                                  cell(h.p50_ns),
                                  cell(h.p95_ns),
                                  cell(h.p99_ns),
                                  cell(h.p999_ns),
                                  cell(static_cast<double>(h.max_ns))});
        }
    return table;
}

html::Plot scaling_plot(const RunPart& part) {
    const RunResult& r = part.result;
    html::Plot plot;
    plot.id = part.prefix + "scaling";
    plot.x_label = "accelerators";
    plot.y_label = "AU (%)";
    plot.right_label = "delivered (MB/s)";
    plot.y_max = 100;
    html::Series au{.label = "AU", .unit = "%", .points = {}, .show_points = true}, rate{.label = "delivered",
                                                                                         .unit = "MB/s",
                                                                                         .points = {},
                                                                                         .colour = "series-2",
                                                                                         .right_axis = true,
                                                                                         .show_points = true};
    std::vector<ScalingPoint> points = r.scaling;
    std::sort(points.begin(), points.end(),
              [](const ScalingPoint& a, const ScalingPoint& b) { return a.accelerator_count < b.accelerator_count; });
    for (const ScalingPoint& p : points) {
        const auto x = static_cast<double>(p.accelerator_count);
        if (!au.points.empty() && au.points.back().x == x) continue;
        au.points.push_back({x, p.au_percentage});
        rate.points.push_back({x, p.MB_per_second});
        au.names.push_back(p.confirmed ? "full run" : "probe");
    }
    plot.series = {std::move(au), std::move(rate)};
    if (r.au_required > 0) plot.thresholds = {{100 * r.au_required, fmt::format("bar {:.0f} %", 100 * r.au_required)}};
    const Metric* most = row(r.metrics, "max_accelerator_count");
    if (most != nullptr && most->value)
        plot.summary = fmt::format("At most {} reach the bar.",
                                   count_text(static_cast<std::uint64_t>(*most->value), "accelerator"));
    return plot;
}

} // namespace

std::string latency_section(const RunPart& part) {
    html::Plot plot;
    plot.id = part.prefix + "latency";
    plot.x_label = "time (s)";
    plot.y_label = "at or below (%)";
    plot.x_log = true;
    plot.y_max = 100;
    for (const Kind& kind : kKinds)
        for (const HistogramData& h : part.result.histograms) {
            if (h.key != kind.key || h.count == 0) continue;
            plot.series.push_back({.label = std::string(kind.name),
                                   .unit = "%",
                                   .points = distribution(h),
                                   .shape = html::Shape::steps,
                                   .colour = std::string(kind.colour)});
        }
    if (plot.series.empty()) return {};
    plot.summary = "The share of all that took at most so long; the time is on a logarithmic scale.";
    return html::section(part.prefix + "latencies", "How long reads and waits took",
                         part.add(std::move(plot)) + html::table(quantile_table(part)));
}

std::string scaling_section(const RunPart& part) {
    const RunResult& r = part.result;
    if (r.scaling.empty() && r.scaling_stop.empty()) return {};
    std::string body;
    if (!r.scaling.empty()) {
        body += part.add(scaling_plot(part));
        html::Table table;
        table.id = part.prefix + "scaling-table";
        table.columns = {{"Accelerators", ""}, {"AU", "%"},        {"Delivered", "MB/s"}, {"Batch wait, p99", ""},
                         {"Measured", "s"},    {"Bar", "", false}, {"Run", "", false},    {"Verdict", "", false}};
        for (const ScalingPoint& p : r.scaling)
            table.rows.push_back(
                {count_cell(p.accelerator_count),
                 p.au_percentage ? number_cell(*p.au_percentage, 2) : html::Cell{.text = "", .reason = "too few steps"},
                 number_cell(p.MB_per_second),
                 duration_cell(p.batch_wait_s_p99),
                 number_cell(p.duration_s, 1),
                 {.text = p.passed ? "pass" : "miss", .tone = p.passed ? "good" : "bad"},
                 {.text = p.confirmed ? "full length" : "probe"},
                 {.text = p.verdict}});
        body += html::table(table);
    }
    if (!r.scaling_stop.empty()) body += html::paragraph("Stopped by " + r.scaling_stop);
    return html::section(part.prefix + "max", "How many accelerators it feeds", body);
}

} // namespace feedbench::reporters
