// What happened when: epochs and their AU, where accelerator time went, throughput second by second.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/html/text.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

namespace {

std::string epoch_name(const EpochResult& e) {
    return e.evaluation ? fmt::format("{} eval", e.index + 1) : std::to_string(e.index + 1);
}

html::Plot au_plot(const RunPart& part) {
    const RunResult& r = part.result;
    html::Plot plot;
    plot.id = part.prefix + "au";
    plot.title = "AU of each epoch";
    plot.x_label = "epoch";
    plot.y_label = "AU (%)";
    plot.y_max = 100;
    html::Series au{.label = "AU", .unit = "%", .points = {}, .shape = html::Shape::bars, .colour = "accent"},
        effective{
            .label = "effective utilization", .unit = "%", .points = {}, .colour = "series-2", .show_points = true};
    double at = 0;
    std::size_t met = 0, judged = 0;
    for (const EpochResult& e : r.epochs) {
        if (e.evaluation) continue;
        plot.x_names.push_back(epoch_name(e));
        const Metric* value = row(e.metrics, "au_percentage");
        const Metric* whole = row(e.metrics, "effective_utilization_percentage");
        au.points.push_back({++at, value != nullptr ? value->value : std::nullopt});
        effective.points.push_back({at, whole != nullptr ? whole->value : std::nullopt});
        judged += value != nullptr && value->value;
        met += value != nullptr && value->value && *value->value >= 100 * r.au_required;
    }
    plot.series = {std::move(au), std::move(effective)};
    plot.summary = fmt::format("{}, no bar", count_text(plot.x_names.size(), "epoch"));
    if (r.au_required > 0) {
        plot.thresholds = {{100 * r.au_required, fmt::format("bar {:.0f} %", 100 * r.au_required)}};
        plot.summary =
            fmt::format("{} of {} epochs reach the bar of {:.0f} %", met, plot.x_names.size(), 100 * r.au_required);
    }
    if (judged < plot.x_names.size()) plot.summary += fmt::format(", {} without an AU", plot.x_names.size() - judged);
    plot.summary += "; effective utilization leaves out nothing, not even the first step.";
    return plot;
}

html::Table epoch_table(const RunPart& part) {
    html::Table table;
    table.id = part.prefix + "epoch-table";
    table.columns = {{"Epoch", "", true, ""},
                     {"AU", "%"},
                     {"Effective", "%", true, "whole epoch, nothing excluded"},
                     {"Samples", "/s"},
                     {"Delivered", "MB/s"},
                     {"Delivered", "MiB/s"},
                     {"Slowest second", "MB/s"},
                     {"Mean wait", "ms", true, "of a batch"},
                     {"Wall", "s"},
                     {"Steps", ""}};
    for (const EpochResult& e : part.result.epochs) {
        html::Cell name{.text = epoch_name(e), .value = e.index + (e.evaluation ? 1.5 : 1)};
        if (!e.samples_proved && part.result.status == "complete") name.reason = "samples not proved";
        table.rows.push_back({std::move(name), metric_cell(row(e.metrics, "au_percentage"), 2),
                              metric_cell(row(e.metrics, "effective_utilization_percentage"), 2),
                              metric_cell(row(e.metrics, "samples_per_second")),
                              metric_cell(row(e.metrics, "delivered_MB_per_second")),
                              metric_cell(row(e.metrics, "delivered_MiB_per_second")),
                              metric_cell(row(e.metrics, "sustained_MB_per_second_min")),
                              metric_cell(row(e.metrics, "batch_wait_s_mean"), 3, 1e3),
                              metric_cell(row(e.metrics, "wall_s"), 2), count_cell(e.step_count)});
    }
    return table;
}

std::vector<double> parts_of(const Attribution& a) {
    return {a.think_s, a.storage_wait_s, a.client_wait_s, a.barrier_wait_s, a.outside_s};
}

void add(Attribution& sum, const Attribution& one) {
    sum.think_s += one.think_s;
    sum.storage_wait_s += one.storage_wait_s;
    sum.client_wait_s += one.client_wait_s;
    sum.barrier_wait_s += one.barrier_wait_s;
    sum.outside_s += one.outside_s;
}

// Slices are merged so that a run of a day stays a plot of some thousand points.
constexpr std::size_t kMostPoints = 1500;

struct Merged {
    std::vector<html::Point> MB_per_second, stalled;
    std::size_t slices_a_point = 1;
};
Merged merged(const std::vector<Slice>& slices) {
    Merged out;
    out.slices_a_point = (slices.size() + kMostPoints - 1) / kMostPoints;
    for (std::size_t i = 0; i < slices.size(); i += out.slices_a_point) {
        const std::size_t end = std::min(slices.size(), i + out.slices_a_point);
        double bytes = 0, stalled = 0;
        for (std::size_t k = i; k < end; ++k) {
            bytes += static_cast<double>(slices[k].bytes);
            stalled = std::max(stalled, static_cast<double>(slices[k].stalled_accelerators));
        }
        const double at = static_cast<double>(slices[i].start_ns) / 1e9;
        out.MB_per_second.push_back({at, bytes / 1e6 / static_cast<double>(end - i)});
        out.stalled.push_back({at, stalled});
    }
    return out;
}

} // namespace

std::string epoch_section(const RunPart& part) {
    if (part.result.epochs.empty()) return {};
    std::string body;
    if (std::any_of(part.result.epochs.begin(), part.result.epochs.end(),
                    [](const EpochResult& e) { return !e.evaluation; }))
        body += part.add(au_plot(part));
    return html::section(part.prefix + "epochs", "AU against its bar", body + html::table(epoch_table(part)));
}

std::string attribution_section(const RunPart& part) {
    const RunResult& r = part.result;
    if (r.attribution.total_s <= 0) return {};
    const std::vector<html::StackPart> parts{
        {"thinking", "think", "as drawn from the workload"},
        {"waiting for storage", "storage", "for a batch while reads were in flight"},
        {"lost in the client", "client",
         "decoding, copies, work that was ready and did not run, thinking that ended late"},
        {"step barrier", "barrier", "waiting for another accelerator"},
        {"outside the blocks", "outside", "in the epoch, but not measured"}};
    std::vector<html::StackRow> rows{{"whole run", parts_of(r.attribution)}};
    std::size_t epochs = 0;
    constexpr std::size_t kMostRows = 24;
    for (const EpochResult& e : r.epochs) {
        if (e.evaluation) continue;
        if (++epochs <= kMostRows && r.epochs.size() > 1)
            rows.push_back({"epoch " + epoch_name(e), parts_of(e.attribution)});
    }
    if (r.hosts.size() > 1 && r.hosts.size() <= kMostRows)
        for (std::size_t h = 0; h < r.hosts.size(); ++h) {
            Attribution sum;
            for (const EpochResult& e : r.epochs)
                if (!e.evaluation && h < e.hosts.size()) add(sum, e.hosts[h].attribution);
            rows.push_back({"host " + r.hosts[h].name, parts_of(sum)});
        }
    std::string body = html::stacked_bars(parts, rows);
    if (epochs > kMostRows)
        body += html::paragraph(
            fmt::format("The first {} of {} epochs are drawn; result.json has all.", kMostRows, epochs), "soft");
    const LoaderTime& l = r.loader_time;
    if (l.in_flight_s + l.client_queue_s + l.decode_s + l.verify_s + l.buffer_wait_s > 0) {
        body += "<h3>Loader time</h3>\n" +
                html::paragraph("Summed over the loader's operations, which overlap: no wall time.", "soft") +
                html::stacked_bars(
                    {{"in flight at the storage", "storage", ""},
                     {"answered, not yet looked at", "client", "the client was busy or not scheduled"},
                     {"decoding", "barrier", ""},
                     {"verifying", "think", ""},
                     {"waiting for a buffer", "outside", ""}},
                    {{"whole run", {l.in_flight_s, l.client_queue_s, l.decode_s, l.verify_s, l.buffer_wait_s}}});
    }
    return html::section(part.prefix + "attribution", "Where accelerator time went", body);
}

std::string throughput_section(const RunPart& part) {
    const RunResult& r = part.result;
    if (r.slices.empty()) return {};
    Merged points = merged(r.slices);
    html::Plot plot;
    plot.id = part.prefix + "throughput";
    plot.x_label = "time from the start of the run (s)";
    plot.y_label = "delivered (MB/s)";
    plot.right_label = "stalled accelerators";
    const Metric* mean = row(r.metrics, "sustained_MB_per_second_mean");
    const Metric* least = row(r.metrics, "sustained_MB_per_second_min");
    const Metric* p5 = row(r.metrics, "sustained_MB_per_second_p5");
    plot.summary = points.slices_a_point == 1
                       ? "Each point is one second"
                       : fmt::format("Each point is the mean of {} seconds", points.slices_a_point);
    plot.summary += ", of all ranks together.";
    if (mean != nullptr && mean->value && p5 != nullptr && p5->value && least != nullptr && least->value)
        plot.summary +=
            fmt::format(" Complete seconds inside the measured blocks: mean {} MB/s, p5 {} MB/s, slowest {} MB/s.",
                        grouped(*mean->value), grouped(*p5->value), grouped(*least->value));
    else if (mean != nullptr && !mean->value)
        plot.summary += " No sustained rate: " + reason_words(mean->reason) + ".";
    if (r.epochs.size() <= 60)
        for (const EpochResult& e : r.epochs)
            plot.x_marks.push_back({e.start_s, e.evaluation ? "eval" : epoch_name(e)});
    plot.series.push_back(
        {.label = "delivered", .unit = "MB/s", .points = std::move(points.MB_per_second), .shape = html::Shape::area});
    const bool any =
        std::any_of(points.stalled.begin(), points.stalled.end(), [](const html::Point& p) { return *p.y > 0; });
    if (any)
        plot.series.push_back({.label = "stalled",
                               .unit = "accelerators",
                               .points = std::move(points.stalled),
                               .shape = html::Shape::steps,
                               .colour = "storage",
                               .right_axis = true});
    return html::section(part.prefix + "time", "Throughput over time", part.add(std::move(plot)));
}

} // namespace feedbench::reporters
