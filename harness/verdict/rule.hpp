// A verdict rule: reads the facts of a result and says what the run was bound by, with the evidence.
//
// Thread: any (pure functions). Owner: none (constant table). Units: as in RunResult. Errors: none; a rule that cannot
// judge answers nothing. Source: DESIGN sections 1 (verdict), 8 and 9; docs/trust.md shows each with a real run. Facts
// stay apart from judgement: a rule never changes the result that it reads. To add one: harness/verdict/x.cpp and one
// line in rules.cpp, in order of precedence.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench::verdict {

// Why a rule fired: in words, and the numbers that the words rest on.
struct Evidence {
    std::string words;
    std::vector<Metric> facts;
};

struct Rule {
    std::string_view name;    // "cached"
    std::string_view verdict; // what the run is called when the rule fires: "cached", ...; "note": not a verdict
    std::string_view fires;   // when, in one sentence; docs/trust.md lists it
    // The evidence, or nothing where the rule does not fire.
    std::optional<Evidence> (*judge)(const RunResult& result);
    bool last_resort = false; // asked only where no verdict before it fired
};

std::span<const Rule> rules(); // in order of precedence
// The findings of `rules` that fire, in that order; the first verdict among them is the run's.
std::vector<Finding> judge(const RunResult& result, std::span<const Rule> rules);

// Judges a complete run: appends the findings, sets `verdict`, and makes the run invalid (with the reason) where it was
// cached or is implausible. A run that is not complete is left without a verdict. Call once, when all facts are there.
void conclude(RunResult& result);
// The run is invalid, and a cache is the only reason: what a person who measures a cache on purpose may accept.
bool only_cached(const RunResult& result);

} // namespace feedbench::verdict
