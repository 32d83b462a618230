// A table a group: a line with the name, a line with the figures, footnotes below; files that were not used at the end.
#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "reporters/compare/formats.hpp"
#include "reporters/console_text.hpp"

namespace feedbench::compare {
namespace {

using reporters::Colour;

struct Shown {
    const Column* column;
    std::size_t width;
};

// Columns in which nobody has a figure tell nothing.
std::vector<Shown> shown_columns(const Group& group) {
    std::vector<Shown> shown;
    for (const Column& column : columns(group.kind)) {
        std::size_t width = column.heading.size();
        bool any = false;
        for (const Row& row : group.rows) {
            const std::string text = cell(row, column);
            any = any || text != "-";
            width = std::max(width, text.size());
        }
        if (column.in_console && any) shown.push_back({&column, width});
    }
    return shown;
}

std::string without_blanks_at_end(std::string text) {
    while (text.ends_with(' ')) text.pop_back();
    return text + "\n";
}

// As many columns as stand side by side. The first block names the rows, further ones repeat only their places.
std::string block_text(const Group& group, std::span<const Shown> block, const NumberedNotes* names, bool colour) {
    std::string heading = "    ";
    for (const Shown& one : block) heading += fmt::format("{:>{}}  ", one.column->heading, one.width);
    std::string out = reporters::paint(without_blanks_at_end(heading), Colour::dim, colour);
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
        const Row& row = group.rows[r];
        std::string figures = fmt::format("{:<4}", row.position > 0 ? fmt::format("{}.", row.position) : "-");
        if (names != nullptr) {
            out += figures + name_of(row);
            for (const std::size_t number : names->of_row[r]) out += fmt::format(" [{}]", number);
            out += "\n";
            figures = "    ";
        }
        for (const Shown& one : block) figures += fmt::format("{:>{}}  ", cell(row, *one.column), one.width);
        out += without_blanks_at_end(figures);
    }
    return out;
}

std::string group_text(const Group& group, const reporters::RenderOptions& options) {
    std::string out = reporters::paint(group.title(), Colour::bold, options.colour) + "\n";
    const std::vector<Shown> shown = shown_columns(group);
    const NumberedNotes numbered = number_notes(group);
    for (std::size_t from = 0, to = 0; from < shown.size(); from = to) {
        std::size_t used = 4;
        while (to < shown.size() && (to == from || used + shown[to].width + 2 <= options.width))
            used += shown[to++].width + 2;
        out += block_text(group, std::span(shown).subspan(from, to - from), from == 0 ? &numbered : nullptr,
                          options.colour);
    }
    for (std::size_t i = 0; i < numbered.notes.size(); ++i) {
        const Finding& note = *numbered.notes[i];
        const std::string text = reporters::wrap(fmt::format("[{}] {}", i + 1, note.evidence), options.width, "  ");
        out += reporters::paint(text, note.verdict == "suspicious" ? Colour::yellow : Colour::none, options.colour);
    }
    return out + "\n";
}

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string problem_text(const ingest::Problem& problem, const reporters::RenderOptions& options) {
    return "  " + problem.path + "\n" +
           reporters::wrap(fmt::format("{}; right is: {}", problem.found, problem.expected), options.width, "      ");
}

} // namespace

std::string render_console(const Comparison& comparison, const reporters::RenderOptions& options) {
    std::string out;
    std::size_t rows = 0;
    for (const Group& group : comparison.groups) {
        rows += group.rows.size();
        out += group_text(group, options);
    }
    for (const bool used : {false, true}) {
        std::string text;
        for (const ingest::Problem& problem : comparison.problems)
            if (problem.used == used) text += problem_text(problem, options);
        if (text.empty()) continue;
        out += reporters::paint(used ? "broken or odd, but not in the way" : "not used", Colour::bold, options.colour) +
               "\n" + text + "\n";
    }
    out += fmt::format("{}, {}, {}. Ranked by MB/s (checkpoints: GiB/s written) within a group; - "
                       "has not reached the bar or is not valid.\n",
                       counted(comparison.run_count, "run"), counted(rows, "result"),
                       counted(comparison.groups.size(), "group"));
    out += "Published results are as their submitters gave them; figures of feedbench are MLPerf-Storage-style, not "
           "verified by MLCommons.\n";
    return out;
}

} // namespace feedbench::compare
