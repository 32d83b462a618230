// What a gate asks for: metrics with direction and tolerance, how sure it must be, how many runs it wants.
//
// Thread: plain values; loading is pure besides reading the file. Owner: the caller. Units: tolerances are fractions
// (0.02 = 2 %), minimum differences have the unit of their metric. Errors: config, with file:line, what was found, what
// is right, and the nearest known key. Source: docs/gate.md; the policies are configs/gates/*.yaml.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::gate {

enum class Better : std::uint8_t { higher, lower };

struct MetricRule {
    std::string key;     // a row of the result: "delivered_MB_per_second"
    std::string heading; // for people: "MB/s"
    Better better = Better::higher;
    double tolerance = 0.05;   // a change for the worse must be at least so large to be called one
    double resolution = 0.25;  // no pass where a change for the worse of more than this cannot be ruled out
    double min_difference = 0; // smaller differences are none, whatever their ratio (a wait of 1 us against 3 us)
    bool required = false;     // the answer is "not enough data" where this metric cannot be judged
};

struct Policy {
    std::string name;         // file stem
    std::string description;  // one line, for lists
    double confidence = 0.98; // of all metrics together: a quiet pair is called regressed in at most half of the rest
    double spread_factor = 2; // a change smaller than this many standard errors by the baseline's own scatter is none
    std::uint32_t min_runs_baseline = 3, min_runs_candidate = 1;
    std::uint32_t replicates = 1000;
    std::uint64_t seed = 1;
    std::vector<std::string> allow_differences; // keys of GateRun::identity
    std::vector<MetricRule> metrics;
};

// The metrics that policies can name without saying more: one row each, with what is right for it by default.
std::span<const MetricRule> known_metrics();

Policy built_in_policy(); // what configs/gates/default.yaml says

Expected<Policy> load_policy(const std::string& name_or_path);
Expected<Policy> load_policy_text(const std::string& yaml, const std::string& path);

// Where policies lie ($FEEDBENCH_CONFIGS/gates, configs/gates beside the binary or in the source tree), and their
// names.
std::vector<std::string> policy_names();

} // namespace feedbench::gate
