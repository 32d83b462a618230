#include "reporters/run_page.hpp"

#include <array>
#include <fmt/format.h>

#include "reporters/html/page.hpp"
#include "reporters/html/pieces.hpp"
#include "reporters/html/text.hpp"
#include "reporters/reporter.hpp"
#include "reporters/result_words.hpp"
#include "reporters/run_overview.hpp"
#include "reporters/run_page_sections.hpp"

namespace feedbench::reporters {

std::string RunPart::add(html::Plot plot) const {
    std::string figure = html::figure(plot);
    plots.push_back(std::move(plot));
    return figure;
}

namespace {

std::string lead(const RunResult& r) {
    std::string out = data_location(r);
    out += r.odirect ? ", O_DIRECT" : "";
    if (!r.data_loader.empty()) out += fmt::format(" · {} by the {} loader", r.format, r.data_loader);
    if (r.virtual_time) out += " · virtual time: a simulation";
    if (!r.start_time.empty()) out += " · " + minute(r.start_time);
    if (!r.run_id.empty()) out += " · run " + r.run_id;
    return out;
}

std::string body_of(const RunPart& part) {
    constexpr std::array kSections{headline,           scaling_section, epoch_section,      attribution_section,
                                   throughput_section, latency_section, checkpoint_section, finding_section,
                                   host_section,       storage_section, unknown_section,    setup_section,
                                   figure_section};
    std::string out;
    const bool about_checkpoints = part.result.kind == "checkpoint"; // then they come first
    for (const auto section : kSections) {
        if (section != checkpoint_section || !about_checkpoints) out += section(part);
        if (section == headline && about_checkpoints) out += checkpoint_section(part);
    }
    return out;
}

std::string unused_section(std::span<const UnusedFile> unused) {
    if (unused.empty()) return {};
    html::Table table;
    table.id = "unused-table";
    table.columns = {{"File", "", false}, {"Why it was not used", "", false}};
    for (const UnusedFile& one : unused) table.rows.push_back({{.text = one.path}, {.text = one.reason}});
    return html::section("unused", "Files that were not used", html::table(table));
}

} // namespace

std::string render_run_page(std::span<const ReportedRun> runs, std::span<const UnusedFile> unused) {
    html::Page page;
    if (runs.size() == 1) {
        page.title = run_title(runs[0].result);
        page.lead = lead(runs[0].result);
        page.body = body_of({runs[0].result, "", page.plots}) + unused_section(unused);
        return html::render(page);
    }
    page.title = count_text(runs.size(), "run");
    page.body = overview(runs, page.plots) + unused_section(unused);
    std::vector<html::PartName> names;
    std::string parts;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string id = fmt::format("run-{}", i + 1);
        const RunResult& r = runs[i].result;
        names.push_back({id, fmt::format("{}. {}, {}", i + 1, run_title(r), r.run_id)});
        parts += html::part(id, fmt::format("<h2>{}. ", i + 1) + html::escape(run_title(r)) + "</h2>\n" +
                                    html::paragraph(lead(r), "lead") + body_of({r, id + "-", page.plots}));
    }
    page.body += html::chooser("Run", names) + parts;
    return html::render(page);
}

std::string render_html(const RunResult& result, const RenderOptions&) {
    const ReportedRun one{result.results_folder, result};
    return render_run_page(std::span(&one, 1), {});
}

} // namespace feedbench::reporters
