#include "reporters/run_overview.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"

namespace feedbench::reporters {

namespace {

std::optional<double> value_of(const RunResult& r, std::string_view key) {
    const Metric* metric = row(r.metrics, key);
    return metric != nullptr ? metric->value : std::nullopt;
}

html::Cell au_cell(const RunResult& r) {
    html::Cell cell = metric_cell(row(r.metrics, "au_mean_percentage"), 2);
    if (!cell.value || r.au_required <= 0) return cell;
    if (*cell.value < 100 * r.au_required)
        cell.tone = "bad";
    else if (r.valid) // what is not valid must not look like a success
        cell.tone = "good";
    return cell;
}

// Bars of one row of every run.
html::Plot bars(std::span<const ReportedRun> runs, std::string_view key, std::string id, std::string title,
                std::string unit, std::string colour) {
    html::Plot plot;
    plot.id = std::move(id);
    plot.title = std::move(title);
    plot.x_label = "run";
    plot.y_label = unit;
    html::Series series{
        .label = plot.title, .unit = unit, .points = {}, .shape = html::Shape::bars, .colour = std::move(colour)};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        plot.x_names.push_back(std::to_string(i + 1));
        series.points.push_back({static_cast<double>(i + 1), value_of(runs[i].result, key)});
    }
    plot.series.push_back(std::move(series));
    return plot;
}

} // namespace

std::string overview(std::span<const ReportedRun> runs, std::vector<html::Plot>& plots) {
    html::Table table;
    table.id = "overview-table";
    table.filterable = true;
    table.columns = {{"Run", ""},
                     {"Workload", "", false},
                     {"Started", "", false},
                     {"Verdict", "", false},
                     {"Valid", "", false},
                     {"Accelerators", ""},
                     {"Hosts", ""},
                     {"AU", "%"},
                     {"Bar", "%"},
                     {"Effective", "%", true, "whole epochs, nothing excluded"},
                     {"Delivered", "MB/s"},
                     {"Delivered", "MiB/s"},
                     {"Samples", "/s"},
                     {"Batch wait, p99", ""},
                     {"Client CPU", "s/GB"},
                     {"Read from", "", false}};
    // Columns of checkpoints are there only where somebody wrote or read some by themselves.
    const bool checkpoints = std::any_of(runs.begin(), runs.end(), [](const ReportedRun& one) {
        return one.result.kind == "checkpoint" && !one.result.checkpoints.empty();
    });
    if (checkpoints)
        table.columns.insert(table.columns.end() - 1,
                             {{"Checkpoints written", "GiB/s"}, {"Checkpoints read", "GiB/s"}});
    bool one_bar = true;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunResult& r = runs[i].result;
        one_bar = one_bar && r.au_required > 0 && r.au_required == runs[0].result.au_required;
        html::Cell number = count_cell(i + 1);
        number.href = fmt::format("#run-{}", i + 1);
        const std::string tone = r.status != "complete" ? "bad" : verdict_tone(r.verdict);
        table.rows.push_back({std::move(number),
                              {.text = r.workload.empty() ? r.model : r.workload},
                              {.text = minute(r.start_time), .tone = "whole"},
                              {.text = verdict_or_status(r), .tone = tone == "plain" ? "" : tone},
                              {.text = r.valid ? "yes" : "no", .tone = r.valid ? "" : "bad"},
                              count_cell(r.accelerator_count),
                              count_cell(r.hosts.size()),
                              au_cell(r),
                              r.au_required > 0 ? number_cell(100 * r.au_required, 0) : html::Cell{.text = "-"},
                              metric_cell(row(r.metrics, "effective_utilization_percentage"), 2),
                              metric_cell(row(r.metrics, "delivered_MB_per_second")),
                              metric_cell(row(r.metrics, "delivered_MiB_per_second")),
                              metric_cell(row(r.metrics, "samples_per_second_mean")),
                              duration_cell(row(r.metrics, "batch_wait_s_p99")),
                              metric_cell(row(r.metrics, "cpu_s_per_GB_process"))});
        std::vector<html::Cell>& cells = table.rows.back();
        if (checkpoints)
            for (const char* key : {"checkpoint_write_GiB_per_second", "checkpoint_read_GiB_per_second"})
                cells.push_back(metric_cell(row(r.metrics, key)));
        cells.push_back({.text = runs[i].source});
    }
    std::string figures;
    const auto draw = [&](html::Plot plot) {
        const std::vector<html::Point>& points = plot.series[0].points;
        if (std::none_of(points.begin(), points.end(), [](const html::Point& point) { return point.y.has_value(); }))
            return;
        figures += html::figure(plot);
        plots.push_back(std::move(plot));
    };
    html::Plot au = bars(runs, "au_mean_percentage", "overview-au", "AU", "%", "accent");
    au.y_max = 100;
    if (one_bar && !runs.empty()) {
        const double bar = 100 * runs[0].result.au_required;
        au.thresholds = {{bar, fmt::format("bar {:.0f} %", bar)}};
    }
    draw(std::move(au));
    draw(bars(runs, "delivered_MB_per_second", "overview-rate", "Delivered", "MB/s", "series-2"));
    if (checkpoints) {
        draw(bars(runs, "checkpoint_write_GiB_per_second", "overview-written", "Checkpoints written", "GiB/s",
                  "series-4"));
        draw(bars(runs, "checkpoint_read_GiB_per_second", "overview-read", "Checkpoints read", "GiB/s", "series-6"));
    }
    if (!figures.empty()) figures = "<div class=\"columns\">\n" + figures + "</div>\n";
    return html::section("overview", "Overview", figures + html::table(table));
}

} // namespace feedbench::reporters
