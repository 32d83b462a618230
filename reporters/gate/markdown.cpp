// A comment for a pull request: the answer as a heading, the reason, a table; what is long is folded away.
#include <fmt/format.h>

#include "reporters/gate/formats.hpp"
#include "reporters/markdown_text.hpp"

namespace feedbench::gate {
namespace {

using reporters::markdown_plain;

std::string_view mark_of(Answer answer) {
    return answer == Answer::pass ? ":white_check_mark:" : answer == Answer::regressed ? ":x:" : ":warning:";
}

std::string table(const GateReport& report) {
    std::string out = fmt::format("| metric | baseline | candidate | change | interval ({:.4g} %) | limit | "
                                  "|\n|---|---:|---:|---:|---:|---:|---|\n",
                                  100 * report.metric_confidence);
    for (const MetricAnswer& m : report.metrics) {
        if (!m.applies) continue;
        const bool loud = m.outcome == Outcome::regressed;
        out += fmt::format("| {} | {} | {} | {} | {} | {} | {}{}{} |\n", markdown_plain(m.rule.heading),
                           m.baseline ? figure_text(*m.baseline) : "-", m.candidate ? figure_text(*m.candidate) : "-",
                           change_text(m), interval_text(m), limit_text(m), loud ? "**" : "", outcome_text(m.outcome),
                           loud ? "**" : "");
    }
    return out + "\n";
}

std::string runs_list(const char* side, const std::vector<GateRun>& runs) {
    std::string out = fmt::format("\n{}:\n\n", side);
    for (const GateRun& run : runs)
        out += fmt::format("- {} ({})\n", markdown_plain(run.path), markdown_plain(run.start_time));
    return out;
}

} // namespace

std::string render_markdown(const GateReport& report, const reporters::RenderOptions&) {
    std::string out = fmt::format("### {} Storage gate: {}\n\n{}\n\n", mark_of(report.answer),
                                  answer_text(report.answer), markdown_plain(report.reason));
    out += fmt::format("Baseline: {} of {} ({}). Candidate: {}. Policy: {}.\n\n", runs_text(report.baseline.size()),
                       markdown_plain(report.baseline_name), markdown_plain(describe(report.baseline.front())),
                       runs_text(report.candidate.size()), markdown_plain(report.policy.name));
    if (!report.metrics.empty()) out += table(report);
    if (const std::string other = surroundings_text(report.comparability); !other.empty())
        out += fmt::format("Also different: {}\n\n", markdown_plain(other));
    out += "<details><summary>Runs and every metric in words</summary>\n";
    if (!report.metrics.empty()) out += "\n";
    for (const MetricAnswer& m : report.metrics)
        if (m.applies) out += fmt::format("- {}\n", markdown_plain(m.words));
    out += runs_list("Baseline", report.baseline) + runs_list("Candidate", report.candidate) + "\n</details>\n\n";
    return out + "feedbench; figures are MLPerf-Storage-style, not verified by MLCommons.\n";
}

} // namespace feedbench::gate
