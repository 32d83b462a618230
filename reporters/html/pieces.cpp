#include "reporters/html/pieces.hpp"

#include <fmt/format.h>
#include <numeric>

#include "reporters/html/text.hpp"

namespace feedbench::html {

std::string section(std::string_view id, std::string_view heading, std::string_view body) {
    if (body.empty()) return {};
    return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", escape(id), escape(heading), body);
}

std::string paragraph(std::string_view text, std::string_view css_class) {
    if (text.empty()) return {};
    if (css_class.empty()) return fmt::format("<p>{}</p>\n", escape(text));
    return fmt::format("<p class=\"{}\">{}</p>\n", escape(css_class), escape(text));
}

std::string details(std::string_view summary, std::string_view body) {
    return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", escape(summary), body);
}

std::string tiles(const std::vector<Tile>& tiles) {
    std::string out = "<div class=\"tiles\">\n";
    for (const Tile& tile : tiles) {
        out += fmt::format("<div class=\"tile {}\"><div class=\"name\">{}</div><div class=\"value\">{}",
                           escape(tile.tone), escape(tile.name), escape(tile.value));
        if (!tile.unit.empty()) out += fmt::format(" <span class=\"unit\">{}</span>", escape(tile.unit));
        out += fmt::format("</div><div class=\"detail\">{}</div></div>\n", escape(tile.detail));
    }
    return out + "</div>\n";
}

std::string verdict(const Verdict& verdict) {
    std::string out =
        fmt::format("<div class=\"verdict {}\">\n<p><strong>{}</strong> <span class=\"meaning\">{}</span></p>\n",
                    escape(verdict.tone), escape(verdict.word), escape(verdict.meaning));
    for (const std::string& words : verdict.evidence) out += paragraph(words);
    return out + "</div>\n";
}

std::string stacked_bars(const std::vector<StackPart>& parts, const std::vector<StackRow>& rows) {
    std::string out = "<div class=\"stack\">\n<ul class=\"legend\">";
    for (const StackPart& part : parts)
        out += fmt::format("<li title=\"{}\"><span class=\"swatch\" style=\"background:var(--{})\"></span>{}</li>",
                           escape(part.help), escape(part.colour), escape(part.name));
    out += "</ul>\n";
    for (const StackRow& row : rows) {
        const double total = std::accumulate(row.parts.begin(), row.parts.end(), 0.0);
        if (!(total > 0)) continue;
        out += fmt::format("<div class=\"row\"><span class=\"name\">{}</span><span class=\"bar\">", escape(row.name));
        for (std::size_t i = 0; i < parts.size() && i < row.parts.size(); ++i) {
            const double share = 100 * row.parts[i] / total;
            if (!(share > 0)) continue;
            // Narrow parts have no room for their number; the title tells it.
            out += fmt::format("<span style=\"width:{:.3f}%;background:var(--{})\" title=\"{} {:.1f} %\">", share,
                               escape(parts[i].colour), escape(parts[i].name), share);
            if (share >= 7) out += fmt::format("{:.0f} %", share);
            out += "</span>";
        }
        out += "</span></div>\n";
    }
    return out + "</div>\n";
}

std::string name_list(const std::vector<std::pair<std::string, std::string>>& rows) {
    std::string out = "<dl>\n";
    for (const auto& [name, value] : rows)
        if (!value.empty()) out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value));
    return out + "</dl>\n";
}

} // namespace feedbench::html
