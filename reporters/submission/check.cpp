#include "reporters/submission/check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "reporters/submission/rules.hpp"

namespace feedbench::submission {
namespace {

// The same thing in every run of a set is one finding.
void merge(CheckResult& result, std::size_t from) {
    std::vector<Finding> merged;
    std::vector<std::size_t> repeats;
    for (std::size_t i = from; i < result.findings.size(); ++i) {
        Finding& finding = result.findings[i];
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const Finding& one) {
            return one.rule == finding.rule && one.found == finding.found && one.expected == finding.expected;
        });
        if (same != merged.end()) {
            ++repeats[static_cast<std::size_t>(same - merged.begin())];
            continue;
        }
        merged.push_back(std::move(finding));
        repeats.push_back(0);
    }
    result.findings.resize(from);
    for (std::size_t i = 0; i < merged.size(); ++i) {
        if (repeats[i] > 0)
            merged[i].found += fmt::format(" (and so in {} more run{})", repeats[i], repeats[i] == 1 ? "" : "s");
        result.findings.push_back(std::move(merged[i]));
    }
}

void merge_unknown(CheckResult& result, std::size_t from) {
    std::vector<NotChecked> once;
    for (std::size_t i = from; i < result.not_checked.size(); ++i) {
        const NotChecked& one = result.not_checked[i];
        if (std::none_of(once.begin(), once.end(),
                         [&](const NotChecked& known) { return known.rule == one.rule && known.reason == one.reason; }))
            once.push_back(one);
    }
    result.not_checked.resize(from);
    result.not_checked.insert(result.not_checked.end(), once.begin(), once.end());
}

void check_set(const RunSet& set, const Submitter& submitter, const Tree& tree, const Scene& scene,
               CheckResult& result) {
    const std::size_t findings = result.findings.size(), unknown = result.not_checked.size();
    for (const Rule& rule : rules()) {
        if (!applies(rule, scene, set.kind)) continue;
        Report report(rule, tree.root, result);
        if (rule.set != nullptr) rule.set(set, submitter, scene, report);
        if (rule.run != nullptr)
            for (const RunFacts& run : set.runs)
                if (!run.is_unreadable) rule.run(run, scene, report);
    }
    merge(result, findings);
    merge_unknown(result, unknown);
}

} // namespace

Expected<CheckResult> check_tree(const std::filesystem::path& root, const CheckOptions& options) {
    if (!division_of(options.division))
        return usage_error("the division is closed or open, not '" + options.division + "'");
    PublishedProfiles profiles;
    auto tree = read_tree(root, options.edition, profiles);
    if (!tree) return tree.error();
    CheckResult result;
    result.tree = root.string();
    result.edition = tree->edition->name;
    result.submitter_count = static_cast<std::uint32_t>(tree->submitters.size());
    for (const Submitter& submitter : tree->submitters) {
        const std::string& division = submitter.division.empty() ? options.division : submitter.division;
        const Scene scene{*tree->edition, *division_of(division), profiles};
        for (const Rule& rule : rules()) {
            if (rule.submitter == nullptr || !applies(rule, scene, kAnyKind)) continue;
            Report report(rule, tree->root, result);
            rule.submitter(submitter, *tree, scene, report);
        }
        for (const RunSet& set : submitter.sets) {
            check_set(set, submitter, *tree, scene, result);
            ++result.set_count;
            result.run_count += static_cast<std::uint32_t>(set.runs.size());
        }
    }
    if (result.run_count == 0)
        result.findings.push_back({"system_without_runs", Severity::error, ".", "no run in the whole tree",
                                   "results/<system>/ with runs (feedbench submit add)"});
    return result;
}

CheckResult check_run(const RunFacts& run, const RunJudgement& judgement, PublishedProfiles& profiles) {
    CheckResult result;
    result.tree = run.path;
    result.edition = judgement.edition;
    result.set_count = result.run_count = 1;
    const EditionFacts* edition = find_edition(judgement.edition);
    const auto division = division_of(judgement.division);
    if (edition == nullptr || !division) return result; // refused where options are read
    const Scene scene{*edition, *division, profiles};
    const std::filesystem::path nowhere;
    for (const Rule& rule : rules()) {
        if (rule.run == nullptr || !applies(rule, scene, run.kind)) continue;
        if (judgement.when == RunJudgement::When::before && !rule.before_run) continue;
        if (judgement.when == RunJudgement::When::belonging && !rule.belongs) continue;
        Report report(rule, nowhere, result);
        rule.run(run, scene, report);
    }
    return result;
}

std::string default_edition(const std::string& accelerator) {
    return accelerator == "b200" || accelerator == "mi355" ? "3.0" : "2.0";
}

} // namespace feedbench::submission
