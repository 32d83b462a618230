// The answer in the first line, the reason in words, a line a metric, and what else differs.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/console_text.hpp"
#include "reporters/gate/formats.hpp"

namespace feedbench::gate {
namespace {

using reporters::Colour;

Colour colour_of(Answer answer) {
    return answer == Answer::pass ? Colour::green : answer == Answer::regressed ? Colour::red : Colour::yellow;
}
Colour colour_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::regressed:
        return Colour::red;
    case Outcome::improved:
        return Colour::green;
    case Outcome::unclear:
        return Colour::yellow;
    default:
        return Colour::none;
    }
}

// What the runs are is said once where both sides are the same.
std::string sides_text(const GateReport& report) {
    const std::string of_baseline = describe(report.baseline.front()),
                      of_candidate = describe(report.candidate.front());
    const bool same = of_baseline == of_candidate;
    const auto side = [&](const char* name, const std::string& given, const std::vector<GateRun>& runs,
                          const std::string& what) {
        return fmt::format("  {:<10} {:<8} {}{}\n", name, runs_text(runs.size()), given,
                           same ? "" : "  (" + what + ")");
    };
    return (same ? "  " + of_baseline + "\n" : "") +
           side("baseline", report.baseline_name, report.baseline, of_baseline) +
           side("candidate", report.candidate_name, report.candidate, of_candidate) + "\n";
}

std::string table(const GateReport& report, bool colour) {
    std::size_t width = 6;
    for (const MetricAnswer& m : report.metrics)
        if (m.applies) width = std::max(width, m.rule.heading.size());
    std::string out =
        fmt::format("  {:<{}}  {:>10} {:>10} {:>9}  {:>20} {:>9}\n", "", width, "baseline", "candidate", "change",
                    fmt::format("interval ({:.4g} %)", 100 * report.metric_confidence), "limit");
    for (const MetricAnswer& m : report.metrics) {
        if (!m.applies) continue;
        out += fmt::format("  {:<{}}  {:>10} {:>10} {:>9}  {:>20} {:>9}  {}\n", m.rule.heading, width,
                           m.baseline ? figure_text(*m.baseline) : "-", m.candidate ? figure_text(*m.candidate) : "-",
                           change_text(m), interval_text(m), limit_text(m),
                           reporters::paint(outcome_text(m.outcome), colour_of(m.outcome), colour));
    }
    return out + "\n";
}

std::string note(const std::string& text, unsigned width) { return reporters::wrap(text, width, "  ") + "\n"; }

} // namespace

std::string render_console(const GateReport& report, const reporters::RenderOptions& options) {
    std::string out = fmt::format(
        "feedbench gate: {}   (policy {})\n",
        reporters::paint(answer_text(report.answer), colour_of(report.answer), options.colour), report.policy.name);
    out += sides_text(report);
    if (!report.metrics.empty()) out += table(report, options.colour);
    if (report.answer == Answer::not_comparable) {
        for (const Difference& one : report.comparability.forbidding) out += note(one.words, options.width);
    } else {
        out += note(report.reason, options.width);
        for (const MetricAnswer& m : report.metrics)
            if (m.applies && (m.outcome == Outcome::unclear || m.outcome == Outcome::absent) &&
                report.reason.find(m.words) == std::string::npos)
                out += note("note: " + m.words, options.width);
    }
    if (const std::string other = surroundings_text(report.comparability); !other.empty())
        out += note("also different: " + other, options.width);
    return out;
}

} // namespace feedbench::gate
