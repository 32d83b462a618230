#include "reporters/html/page.hpp"

#include <fmt/format.h>

#include "reporters/html/assets.hpp"
#include "reporters/html/text.hpp"

namespace feedbench::html {

namespace {

constexpr std::string_view kNotice = "MLPerf-Storage-style, not verified by MLCommons";

// Nothing may be loaded, whatever a text in the page says; a script that somebody smuggled in could not talk to
// anybody.
constexpr std::string_view kPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                     "img-src data:; base-uri 'none'; form-action 'none'";

std::string head(const Page& page) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", kPolicy);
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
           "content=\"light dark\">\n";
    out += fmt::format("<meta name=\"generator\" content=\"feedbench {}\">\n<title>{}</title>\n<link rel=\"icon\" "
                       "href=\"data:,\">\n",
                       FEEDBENCH_VERSION, escape(page.title));
    out += "<style>\n";
    out.append(assets::uplot_css).append("\n").append(assets::page_css).append("</style>\n</head>\n");
    return out;
}

std::string licence() {
    return fmt::format(
        "<details class=\"licence\">\n<summary>Licence of uPlot, which draws the plots</summary>\n<pre>{}</pre>\n"
        "</details>\n",
        escape(assets::uplot_licence));
}

std::string data_block(const Page& page) {
    std::string json = "{\"plots\":[";
    for (std::size_t i = 0; i < page.plots.size(); ++i) json += (i == 0 ? "\n" : ",\n") + plot_json(page.plots[i]);
    return "<script type=\"application/json\" id=\"data\">" + script_json(json + "]}") + "</script>\n";
}

} // namespace

std::string render(const Page& page) {
    std::string out = head(page);
    out += fmt::format(
        "<body>\n<header>\n<div class=\"brand\"><span>feedbench {}</span><span>{}</span></div>\n<h1>{}</h1>\n",
        FEEDBENCH_VERSION, kNotice, escape(page.title));
    if (!page.lead.empty()) out += fmt::format("<p class=\"lead\">{}</p>\n", escape(page.lead));
    out += "</header>\n<main>\n" + page.body + "</main>\n";
    out += fmt::format(
        "<footer>\n<p>Made by feedbench {}. {}; MLPerf is a trademark of MLCommons. This page is complete in "
        "itself and loads nothing.</p>\n{}</footer>\n",
        FEEDBENCH_VERSION, kNotice, licence());
    out += data_block(page) + "<script>\n";
    out.append(assets::uplot_js).append("\n").append(assets::page_js);
    return out + "</script>\n</body>\n</html>\n";
}

std::string chooser(const std::string& label, const std::vector<PartName>& parts) {
    std::string out = fmt::format("<nav class=\"chooser\" hidden><label>{} <select>", escape(label));
    for (const PartName& one : parts)
        out += fmt::format("<option value=\"{}\">{}</option>", escape(one.id), escape(one.name));
    return out + "</select></label></nav>\n";
}

std::string part(const std::string& id, const std::string& body) {
    return fmt::format("<article class=\"part\" id=\"{}\">\n{}</article>\n", escape(id), body);
}

} // namespace feedbench::html
