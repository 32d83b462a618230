// Checks a submission: a whole tree, or one run before or after it was measured.
//
// Thread: one. Owner: none. Units: none. Errors: a tree that is no folder, an edition that there is not; everything
// else is a finding. Source: the table of rules.hpp.
#pragma once

#include <filesystem>
#include <string>

#include "harness/types/error.hpp"
#include "reporters/submission/findings.hpp"
#include "reporters/submission/run_facts.hpp"

namespace feedbench::submission {

struct CheckOptions {
    std::string edition;             // empty: as the tree says
    std::string division = "closed"; // of submitters that lie in none
};
Expected<CheckResult> check_tree(const std::filesystem::path& root, const CheckOptions& options);

// The rules on single runs.
struct RunJudgement {
    std::string edition, division;
    enum class When : std::uint8_t { before, after, belonging } when = When::after; // belonging: to a tree
};
CheckResult check_run(const RunFacts& run, const RunJudgement& judgement, PublishedProfiles& profiles);

// The edition that an accelerator was measured in first: "3.0" for b200 and mi355, else "2.0".
std::string default_edition(const std::string& accelerator);

// One line: "dataset_too_small: run3: 14 files ...; right is: at least 3500 files ...".
std::string line_of(const Finding& finding);
std::string render_console(const CheckResult& result);
std::string render_json(const CheckResult& result);

} // namespace feedbench::submission
