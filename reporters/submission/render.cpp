// A check as text and as JSON.
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "reporters/submission/check.hpp"
#include "reporters/submission/rules.hpp"

namespace feedbench::submission {
namespace {

std::string_view word(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string not_checked_text(const CheckResult& result) {
    std::map<std::string, std::pair<std::size_t, std::string>> rules_not_checked;
    for (const NotChecked& one : result.not_checked) {
        auto& [count, reason] = rules_not_checked[one.rule];
        if (count++ == 0) reason = one.reason + " (" + one.path + ")";
    }
    std::string out;
    for (const auto& [rule, why] : rules_not_checked)
        out += fmt::format("  not checked: {}: {}{}\n", rule, why.second,
                           why.first > 1 ? fmt::format(", and {} more", why.first - 1) : "");
    return out;
}

} // namespace

std::string line_of(const Finding& finding) {
    return fmt::format("{}: {}: {}; right is: {}", finding.rule, finding.path, finding.found, finding.expected);
}

std::string render_console(const CheckResult& result) {
    std::string out = fmt::format("{}: edition {}, {}, {} of {}\n{}\n", result.tree, result.edition,
                                  counted(result.submitter_count, "submitter"), counted(result.set_count, "result"),
                                  counted(result.run_count, "run"), kStatement);
    if (!result.findings.empty()) out += "\n";
    for (const Finding& finding : result.findings)
        out += fmt::format("  {:<8}{}\n          {}\n          found: {}\n          right: {}\n",
                           word(finding.severity), finding.rule, finding.path, finding.found, finding.expected);
    const std::string unknown = not_checked_text(result);
    if (!unknown.empty()) out += "\n" + unknown;
    return out + "\n" +
           (result.findings.empty() ? std::string("no findings\n") : counted(result.findings.size(), "finding") + "\n");
}

std::string render_json(const CheckResult& result) {
    nlohmann::ordered_json all;
    all["schema_version"] = 1;
    all["statement"] = kStatement;
    all["tree"] = result.tree;
    all["edition"] = result.edition;
    all["passed"] = result.passed();
    all["submitter_count"] = result.submitter_count;
    all["set_count"] = result.set_count;
    all["run_count"] = result.run_count;
    all["findings"] = nlohmann::ordered_json::array();
    for (const Finding& finding : result.findings) {
        const Rule* rule = find_rule(finding.rule);
        all["findings"].push_back({{"rule", finding.rule},
                                   {"severity", word(finding.severity)},
                                   {"path", finding.path},
                                   {"found", finding.found},
                                   {"expected", finding.expected},
                                   {"checks", rule != nullptr ? rule->checks : ""},
                                   {"source", rule != nullptr ? rule->source : ""}});
    }
    all["not_checked"] = nlohmann::ordered_json::array();
    for (const NotChecked& one : result.not_checked)
        all["not_checked"].push_back({{"rule", one.rule}, {"path", one.path}, {"reason", one.reason}});
    return all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace feedbench::submission
