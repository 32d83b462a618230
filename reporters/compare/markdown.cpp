// A table a group with every column in which somebody has a figure; footnotes as a list below it.
#include <fmt/format.h>

#include "reporters/compare/formats.hpp"

namespace feedbench::compare {
namespace {

// What would end a cell, start markup or be taken for HTML.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n' || c == '\r') {
            out += ' ';
            continue;
        }
        if (c == '<') {
            out += "&lt;";
            continue;
        }
        if (c == '|' || c == '*' || c == '_' || c == '`' || c == '[' || c == ']' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

std::string group_text(const Group& group) {
    std::string out = "### " + plain(group.title()) + "\n\n| | result |", rule = "|---|---|";
    std::vector<const Column*> shown;
    for (const Column& column : columns(group.kind)) {
        bool any = false;
        for (const Row& row : group.rows) any = any || cell(row, column) != "-";
        if (!any) continue;
        shown.push_back(&column);
        out += fmt::format(" {} |", column.heading);
        rule += "---:|";
    }
    out += " notes |\n" + rule + "---|\n";
    const NumberedNotes numbered = number_notes(group);
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
        const Row& row = group.rows[r];
        out += fmt::format("| {} | {} |", row.position > 0 ? std::to_string(row.position) : "-", plain(name_of(row)));
        for (const Column* column : shown) out += " " + cell(row, *column) + " |";
        std::string notes;
        for (const std::size_t number : numbered.of_row[r])
            notes += fmt::format("{}{}", notes.empty() ? "" : ", ", number);
        out += " " + notes + " |\n";
    }
    out += "\n";
    for (std::size_t i = 0; i < numbered.notes.size(); ++i)
        out += fmt::format("{}. {}\n", i + 1, plain(numbered.notes[i]->evidence));
    return numbered.notes.empty() ? out : out + "\n";
}

} // namespace

std::string render_markdown(const Comparison& comparison, const reporters::RenderOptions&) {
    std::string out = "## Comparison\n\n";
    for (const Group& group : comparison.groups) out += group_text(group);
    if (!comparison.problems.empty()) {
        out += "### Files that were not used, or only with care\n\n| file | found | right is | used "
               "|\n|---|---|---|---|\n";
        for (const ingest::Problem& one : comparison.problems)
            out += fmt::format("| {} | {} | {} | {} |\n", plain(one.path), plain(one.found), plain(one.expected),
                               one.used ? "yes" : "no");
        out += "\n";
    }
    return out + "Ranked by MB/s (checkpoints: GiB/s written) within a group; `-` has not reached the bar or is not "
                 "valid. Published results are as "
                 "their submitters "
                 "gave them; figures of feedbench are MLPerf-Storage-style, not verified by MLCommons.\n";
}

} // namespace feedbench::compare
