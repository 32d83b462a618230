// A verdict rule: reads the facts of a result and says what the run was bound by, with the evidence.
//
// Thread: any (pure functions). Owner: none (constant table). Units: as in RunResult. Errors: none; a rule that cannot
// judge answers nothing. Source: DESIGN sections 1 (verdict) and 8. Facts stay apart from judgement: a rule never
// changes the result that it reads. The table has no rules yet: cached, client_bound, storage_bound and implausible
// come with the ceiling run and the cache evidence that they judge by. To add one: harness/verdict/x.cpp and one line
// in rules.cpp, in order of precedence.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "harness/types/run_result.hpp"

namespace feedbench::verdict {

struct Rule {
    std::string_view name;    // "cached"
    std::string_view verdict; // what the run is called when the rule fires: "cached", "client-bound", ...
    // The evidence in one sentence, or nothing where the rule does not fire.
    std::optional<std::string> (*judge)(const RunResult& result);
};

std::span<const Rule> rules(); // in order of precedence
// The findings of `rules` that fire, in that order; the first one's verdict is the run's.
std::vector<Finding> judge(const RunResult& result, std::span<const Rule> rules);

} // namespace feedbench::verdict
