// A page of its own: a table a group that can be sorted, filters over all groups, plots, footnotes as superscripts with
// their words, every run, and the files that were not used.
#include <fmt/format.h>

#include "reporters/compare/formats.hpp"
#include "reporters/compare/html_plots.hpp"
#include "reporters/console_text.hpp"
#include "reporters/html/page.hpp"
#include "reporters/html/pieces.hpp"
#include "reporters/html/table.hpp"
#include "reporters/html/text.hpp"

namespace feedbench::compare {
namespace {

using ingest::IngestedRun;

html::Cell number_cell(const std::optional<double>& value, int decimals) {
    if (!value) return {.text = "–", .tone = "soft"};
    const std::string text = decimals < 0 ? reporters::rate_text(*value) : fmt::format("{:.{}f}", *value, decimals);
    return {.text = text, .value = value};
}

html::Cell figure_cell(const Row& row, const Column& column) {
    const Metric* metric = reporters::row(row.metrics, column.key);
    html::Cell shown = number_cell(metric != nullptr ? metric->value : std::nullopt, column.decimals);
    if (column.key.starts_with("au_margin") && shown.value && *shown.value < 0) shown.tone = "bad";
    return shown;
}

// Columns in which nobody has a figure tell nothing.
std::vector<const Column*> shown_columns(const Group& group) {
    std::vector<const Column*> shown;
    for (const Column& column : columns(group.kind)) {
        bool any = false;
        for (const Row& row : group.rows) any = any || cell(row, column) != "-";
        if (any) shown.push_back(&column);
    }
    return shown;
}

std::string result_table(const Group& group, const std::string& id, const NumberedNotes& notes) {
    html::Table table;
    table.id = id + "-table";
    table.notes_id = id + "-notes";
    // tables.js and groups.js know these headings.
    table.columns = {{.heading = "System", .unit = "", .number = false, .help = "as its folder is called"},
                     {.heading = "Submitter", .unit = "", .number = false, .help = ""},
                     {.heading = "#",
                      .unit = "",
                      .number = true,
                      .help = "place within this group; none: has not reached the bar or is not valid"}};
    const std::vector<const Column*> shown = shown_columns(group);
    for (const Column* column : shown)
        table.columns.push_back(
            {.heading = std::string(column->heading), .unit = "", .number = true, .help = std::string(column->help)});
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
        const Row& row = group.rows[r];
        std::vector<html::Cell> cells{{.text = row.system, .notes = notes.of_row[r]}, {.text = row.submitter}};
        cells.push_back(number_cell(row.position > 0 ? std::optional<double>(row.position) : std::nullopt, 0));
        for (const Column* column : shown) cells.push_back(figure_cell(row, *column));
        table.rows.push_back(std::move(cells));
    }
    return html::table(table);
}

std::string run_table(const Group& group, const std::string& id) {
    html::Table table;
    table.id = id + "-runs";
    const bool checkpoint = group.kind == ingest::Kind::checkpoint;
    table.columns = {{.heading = "Run", .unit = "", .number = false, .help = "folder"},
                     {.heading = "System", .unit = "", .number = false, .help = ""},
                     {.heading = "Counts", .unit = "", .number = false, .help = "warm-up is in no mean"},
                     {.heading = "Began", .unit = "", .number = false, .help = "by the client's clock"}};
    const auto figures = checkpoint ? std::vector<const char*>{"save GiB/s", "load GiB/s"}
                                    : std::vector<const char*>{"AU %", "samples/s", "MB/s", "eff. %"};
    for (const char* heading : figures)
        table.columns.push_back({.heading = heading, .unit = "", .number = true, .help = ""});
    std::size_t count = 0;
    const auto add = [&](const Row& row, const IngestedRun& run, bool counts) {
        ++count;
        std::vector<html::Cell> cells{
            {.text = run.path}, {.text = name_of(row)}, {.text = counts ? "yes" : "warm-up"}, {.text = run.start_time}};
        if (checkpoint) {
            cells.push_back(number_cell(run.checkpoint->save.GiB_per_second, -1));
            cells.push_back(number_cell(run.checkpoint->load.GiB_per_second, -1));
        } else {
            cells.push_back(number_cell(run.au_percentage, 2));
            cells.push_back(number_cell(run.samples_per_second, -1));
            cells.push_back(number_cell(run.nominal_MB_per_second, -1));
            cells.push_back(number_cell(run.effective_utilization_percentage, 2));
        }
        table.rows.push_back(std::move(cells));
    };
    for (const Row& row : group.rows) {
        for (const IngestedRun& run : row.warm_up) add(row, run, false);
        for (const IngestedRun& run : row.runs) add(row, run, true);
    }
    return html::details(fmt::format("{} run{}", count, count == 1 ? "" : "s"), html::table(table));
}

std::string group_body(const Group& group, const std::string& id, std::vector<html::Plot>& plots) {
    const NumberedNotes notes = number_notes(group);
    std::vector<std::string> words;
    for (const Finding* note : notes.notes) words.push_back(note->evidence);
    std::string body = result_table(group, id, notes) + html::footnotes(id + "-notes", words);
    std::string figures;
    for (html::Plot& plot : plots_of(group, id)) {
        figures += html::figure(plot);
        plots.push_back(std::move(plot));
    }
    if (!figures.empty()) body += "<div class=\"columns\">\n" + figures + "</div>\n";
    return body + run_table(group, id);
}

// What groups.js filters by stands at the group; a page without script shows all.
std::string group_section(const Group& group, const std::string& id, std::vector<html::Plot>& plots) {
    return fmt::format("<div class=\"group\" data-workload=\"{}\" data-accelerator=\"{}\">\n{}</div>\n",
                       html::escape(group.workload + (group.kind == ingest::Kind::checkpoint ? " checkpoints" : "")),
                       html::escape(group.accelerator_model),
                       html::section(id, group.title(), group_body(group, id, plots)));
}

std::string overview(const Comparison& comparison) {
    html::Table table;
    table.id = "overview-table";
    table.columns = {
        {.heading = "Group", .unit = "", .number = false, .help = "rows of different groups never share a ranking"},
        {.heading = "results", .unit = "", .number = true, .help = ""},
        {.heading = "First place", .unit = "", .number = false, .help = "highest of those that reached the bar"},
        {.heading = "its rate", .unit = "", .number = false, .help = ""},
        {.heading = "suspicious",
         .unit = "",
         .number = true,
         .help = "results with a footnote that is more than a note"}};
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        const Group& group = comparison.groups[i];
        const Row& best = group.rows.front();
        const bool checkpoint = group.kind == ingest::Kind::checkpoint;
        const Metric* rate = reporters::row(best.metrics, checkpoint ? "save_GiB_per_second" : "MB_per_second");
        double suspicious = 0;
        for (const Row& row : group.rows) {
            bool any = false;
            for (const Finding& note : row.footnotes) any = any || note.verdict == "suspicious";
            suspicious += any ? 1 : 0;
        }
        table.rows.push_back({{.text = group.title(), .href = fmt::format("#group-{}", i + 1)},
                              number_cell(static_cast<double>(group.rows.size()), 0),
                              {.text = best.position > 0 ? name_of(best) : "–"},
                              {.text = best.position > 0 ? reporters::value_text(rate, -1) : "–"},
                              number_cell(suspicious, 0)});
    }
    return html::section("overview", "Groups", html::table(table));
}

std::string problem_section(const std::vector<ingest::Problem>& problems) {
    if (problems.empty()) return {};
    html::Table table;
    table.id = "problem-table";
    table.filterable = true;
    table.columns = {
        {.heading = "File", .unit = "", .number = false, .help = ""},
        {.heading = "Found", .unit = "", .number = false, .help = ""},
        {.heading = "Right is", .unit = "", .number = false, .help = ""},
        {.heading = "Used", .unit = "", .number = false, .help = "yes: repaired, or not needed for the figures"}};
    for (const ingest::Problem& one : problems)
        table.rows.push_back({{.text = one.path},
                              {.text = one.found},
                              {.text = one.expected},
                              {.text = one.used ? "yes" : "no", .tone = one.used ? "" : "warn"}});
    return html::section("problems", "Files that were not used, or only with care", html::table(table));
}

} // namespace

std::string render_html(const Comparison& comparison, const reporters::RenderOptions&) {
    html::Page page;
    std::size_t rows = 0;
    for (const Group& group : comparison.groups) rows += group.rows.size();
    page.title = fmt::format("{} result{} compared", rows, rows == 1 ? "" : "s");
    page.lead = fmt::format("{} runs in {} group{}. Like is compared with like: another workload, accelerator, edition "
                            "or division never shares a ranking.",
                            comparison.run_count, comparison.groups.size(), comparison.groups.size() == 1 ? "" : "s");
    page.body = overview(comparison) + "<div class=\"group-filter\" hidden></div>\n";
    for (std::size_t i = 0; i < comparison.groups.size(); ++i)
        page.body += group_section(comparison.groups[i], fmt::format("group-{}", i + 1), page.plots);
    page.body += problem_section(comparison.problems);
    page.body += html::section(
        "reading", "How to read this",
        html::paragraph("Ranked by MB/s (checkpoints: GiB/s written) within a group; a row without a place has not "
                        "reached the bar or is not valid. A small number behind a system points to a footnote below "
                        "its table. MB are 10^6 bytes, MiB 2^20, GiB 2^30.") +
            html::paragraph("Published results are as their submitters gave them. Figures of feedbench are "
                            "MLPerf-Storage-style, not verified by MLCommons. docs/compare.md explains every column "
                            "and footnote."));
    return html::render(page);
}

} // namespace feedbench::compare
