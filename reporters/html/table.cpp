#include "reporters/html/table.hpp"

#include <fmt/format.h>

#include "reporters/html/text.hpp"

namespace feedbench::html {

namespace {

std::string heading(const Column& column) {
    std::string out = fmt::format("<th scope=\"col\"{}", column.number ? " class=\"number\"" : "");
    if (!column.help.empty()) out += fmt::format(" title=\"{}\"", escape(column.help));
    out += ">" + escape(column.heading);
    if (!column.unit.empty()) out += fmt::format(" <span class=\"unit\">{}</span>", escape(column.unit));
    return out + "</th>";
}

std::string content(const Cell& cell, const std::string& notes_id) {
    std::string out = escape(cell.text);
    if (!cell.href.empty()) out = fmt::format("<a href=\"{}\">{}</a>", escape(cell.href), out);
    if (!cell.reason.empty())
        out += fmt::format("{}<span class=\"reason\">{}</span>", out.empty() ? "" : " ", escape(cell.reason));
    for (const std::size_t note : cell.notes)
        out += fmt::format("<sup><a href=\"#{}-{}\">{}</a></sup>", escape(notes_id), note, note);
    return out;
}

std::string body_cell(const Cell& cell, const Column& column, bool first, const std::string& notes_id) {
    std::string classes = column.number ? "number" : "";
    if (!cell.tone.empty()) classes += (classes.empty() ? "" : " ") + cell.tone;
    std::string out = first ? "<th scope=\"row\"" : "<td";
    if (!classes.empty()) out += fmt::format(" class=\"{}\"", escape(classes));
    if (cell.value) out += fmt::format(" data-value=\"{}\"", *cell.value);
    return out + ">" + content(cell, notes_id) + (first ? "</th>" : "</td>");
}

} // namespace

std::string table(const Table& table) {
    const std::string& notes_id = table.notes_id.empty() ? table.id : table.notes_id;
    std::string out = fmt::format("<div class=\"scroll\" tabindex=\"0\"><table id=\"{}\"{}{}>\n", escape(table.id),
                                  table.sortable ? " data-sortable" : "", table.filterable ? " data-filterable" : "");
    if (!table.caption.empty()) out += fmt::format("<caption>{}</caption>\n", escape(table.caption));
    out += "<thead><tr>";
    for (const Column& column : table.columns) out += heading(column);
    out += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : table.rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            out += body_cell(i < row.size() ? row[i] : Cell{}, table.columns[i], i == 0, notes_id);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string footnotes(const std::string& id, const std::vector<std::string>& notes) {
    if (notes.empty()) return {};
    std::string out = "<ol class=\"footnotes\">\n";
    for (std::size_t i = 0; i < notes.size(); ++i)
        out += fmt::format("<li id=\"{}-{}\">{}</li>\n", escape(id), i + 1, escape(notes[i]));
    return out + "</ol>\n";
}

} // namespace feedbench::html
