// The gate: repeated runs of a baseline and of a candidate in, one answer out, with every number that it rests on.
//
// Thread: any (pure functions, deterministic from the policy's seed). Owner: the caller. Units: those of each metric;
// changes are fractions, positive where the candidate is worse. Errors: none; what cannot be judged is an answer of its
// own. Source: docs/gate.md. Every way of showing it (console, Markdown, JUnit, JSON) walks over this value and judges
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reporters/gate/comparable.hpp"
#include "reporters/gate/gate_run.hpp"
#include "reporters/gate/policy.hpp"

namespace feedbench::gate {

enum class Answer : std::uint8_t { pass, regressed, not_comparable, not_enough_data };
enum class Outcome : std::uint8_t { unchanged, improved, regressed, unclear, absent };

struct MetricAnswer {
    MetricRule rule;
    std::string unit;
    Outcome outcome = Outcome::absent;
    bool applies = true; // false: neither side has such a row, as another kind of workload has others
    std::optional<double> baseline, candidate; // medians over runs
    std::vector<double> baseline_runs, candidate_runs;
    std::optional<double> worse;                 // the candidate is worse by this fraction; below 0: better
    std::optional<double> worse_low, worse_high; // its interval
    std::optional<double> within_low,
        within_high;                       // as far as the parts of single runs tell, where there is no interval
    double limit = 0;                      // the larger of tolerance and floor
    std::optional<double> floor;           // from the baseline's own scatter
    std::optional<double> baseline_spread; // standard deviation over mean of its runs
    std::string
        parts; // what stands for the parts of a run: "one-second slices (12 to 14 a run)", or why there are none
    std::string words; // one sentence for people
};

struct GateReport {
    Answer answer = Answer::not_enough_data;
    std::string reason; // one sentence
    Policy policy;
    std::string baseline_name, candidate_name; // as they were asked for
    std::vector<GateRun> baseline, candidate;
    Comparability comparability;
    std::vector<MetricAnswer> metrics; // in the order of the policy; empty where nothing may be compared
    double metric_confidence = 0;      // of each interval: all of them together have the policy's
};

// At least one run a side.
GateReport judge(std::vector<GateRun> baseline, std::vector<GateRun> candidate, const Policy& policy);

std::string_view answer_text(Answer answer);    // "pass", "regressed", "not comparable", "not enough data"
std::string_view outcome_text(Outcome outcome); // "unchanged", "improved", "regressed", "unclear", "no data"
int exit_code_of(Answer answer);                // 0, 1, 4, 4
// "-5.0 %": the change as it is seen in the metric itself, whatever is better. Nothing: "-".
std::string change_text(const MetricAnswer& metric);
std::string interval_text(const MetricAnswer& metric);
std::string figure_text(double value); // five digits that tell something
std::string percent_text(double fraction);

} // namespace feedbench::gate
