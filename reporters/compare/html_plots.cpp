#include "reporters/compare/html_plots.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "reporters/compare/formats.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::compare {
namespace {

constexpr std::size_t kMostSeries = 24; // more lines than that nobody can tell apart

std::optional<double> figure(const Row& row, std::string_view key) {
    const Metric* metric = reporters::row(row.metrics, key);
    return metric != nullptr ? metric->value : std::nullopt;
}

struct Line {
    std::string label;
    std::vector<const Row*> rows; // by accelerators, each number once
};

// A system with several sizes is a line. Where a submitter gave each size another name, the submitter is, as in the
// column of scaling efficiency.
std::vector<Line> lines_of(const Group& group) {
    std::map<std::string, std::set<std::uint32_t>> sizes_of_system, sizes_of_submitter;
    for (const Row& row : group.rows) {
        sizes_of_system[name_of(row)].insert(row.accelerator_count);
        if (!row.submitter.empty()) sizes_of_submitter[row.submitter].insert(row.accelerator_count);
    }
    std::vector<Line> lines;
    for (const Row& row : group.rows) {
        const bool alone = sizes_of_system[name_of(row)].size() < 2;
        const std::string& submitter = row.submitter;
        const bool by_submitter = alone && !submitter.empty() && sizes_of_submitter[submitter].size() > 1;
        const std::string label = by_submitter ? submitter : name_of(row);
        // Two results of one size are two lines: the later of them, by rank, has its system's name, and a number.
        const auto takes = [&](const Line& line) {
            return (line.label == label || line.label.starts_with(label + " (")) &&
                   std::none_of(line.rows.begin(), line.rows.end(),
                                [&](const Row* other) { return other->accelerator_count == row.accelerator_count; });
        };
        auto line = std::find_if(lines.begin(), lines.end(), takes);
        if (line == lines.end()) {
            const auto same = std::count_if(lines.begin(), lines.end(), [&](const Line& one) {
                return one.label == label || one.label.starts_with(label + " (");
            });
            line = lines.insert(lines.end(), {same > 0 ? fmt::format("{} ({})", label, same + 1) : label, {}});
        }
        line->rows.push_back(&row);
    }
    for (Line& line : lines)
        std::sort(line.rows.begin(), line.rows.end(),
                  [](const Row* a, const Row* b) { return a->accelerator_count < b->accelerator_count; });
    return lines;
}

void add_series(html::Plot& plot, const std::vector<Line>& lines, std::string_view key, const std::string& unit) {
    double least = 1e18, most = 0;
    for (const Line& line : lines) {
        html::Series series;
        for (const Row* row : line.rows) {
            const auto value = figure(*row, key);
            if (!value) continue;
            series.points.push_back({static_cast<double>(row->accelerator_count), value});
            series.names.push_back(row->system);
            least = std::min(least, series.points.back().x);
            most = std::max(most, series.points.back().x);
        }
        if (series.points.empty() || plot.series.size() >= kMostSeries) continue;
        series.label = line.label;
        series.unit = unit;
        series.colour = fmt::format("series-{}", plot.series.size() % 8 + 1);
        series.show_points = true;
        plot.series.push_back(std::move(series));
    }
    plot.x_label = "accelerators";
    plot.x_log = least > 0 && most > 30 * least;
    if (lines.size() > kMostSeries)
        plot.summary += fmt::format(" The first {} systems by rate are shown.", kMostSeries);
}

html::Plot over_accelerators(std::string id, std::string title, std::string y_label, std::string summary) {
    html::Plot plot;
    plot.id = std::move(id);
    plot.title = std::move(title);
    plot.y_label = std::move(y_label);
    plot.summary = std::move(summary);
    return plot;
}

// Writing and reading side by side, a place a result.
html::Plot checkpoint_plot(const Group& group, const std::string& id) {
    html::Plot plot = over_accelerators(id + "-rate", "Writing and reading checkpoints", "GiB/s",
                                        "All bytes of the checkpoints over all their time, a place for each result.");
    plot.x_label = "result";
    html::Series save{.label = "written", .unit = "GiB/s", .points = {}, .shape = html::Shape::dots, .names = {}};
    html::Series load{.label = "read", .unit = "GiB/s", .points = {}, .shape = html::Shape::dots, .names = {}};
    save.colour = "series-1";
    load.colour = "series-2";
    for (const Row& row : group.rows) {
        plot.x_names.push_back(name_of(row));
        const auto x = static_cast<double>(plot.x_names.size());
        if (const auto rate = figure(row, "save_GiB_per_second")) save.points.push_back({x, rate});
        if (const auto rate = figure(row, "load_GiB_per_second")) load.points.push_back({x, rate});
    }
    for (html::Series* series : {&save, &load})
        if (!series->points.empty()) plot.series.push_back(std::move(*series));
    return plot;
}

} // namespace

std::vector<html::Plot> plots_of(const Group& group, const std::string& id) {
    std::vector<html::Plot> plots;
    if (group.kind == ingest::Kind::checkpoint) {
        plots.push_back(checkpoint_plot(group, id));
    } else {
        const std::vector<Line> lines = lines_of(group);
        plots.push_back(over_accelerators(id + "-rate", "Rate over accelerators", "MB/s",
                                          "Samples/s times the nominal record length; a line joins sizes of one "
                                          "system, or of one submitter where each size has its own name."));
        add_series(plots.back(), lines, "MB_per_second", "MB/s");
        plots.push_back(over_accelerators(id + "-au", "AU over accelerators", "AU (%)",
                                          "Mean over runs of the AU that the tool reported, and the bar."));
        add_series(plots.back(), lines, "au_percentage", "%");
        plots.back().y_from_zero = false;
        if (const auto& bar = group.rows.front().runs.front().au_bar_percentage)
            plots.back().thresholds.push_back({*bar, fmt::format("bar {:.0f} %", *bar)});
        std::vector<Line> scaled = lines;
        std::erase_if(scaled, [](const Line& line) { return line.rows.size() < 2; });
        plots.push_back(over_accelerators(id + "-scaling", "Scaling efficiency", "% of the smallest size",
                                          "MB/s of an accelerator as a share of that of the smallest size."));
        add_series(plots.back(), scaled, "scaling_per_accelerator_percentage", "%");
        plots.back().y_max = 100;
        plots.back().thresholds.push_back({100, "100 %"});
    }
    std::erase_if(plots, [](const html::Plot& plot) { return plot.series.empty(); });
    return plots;
}

} // namespace feedbench::compare
