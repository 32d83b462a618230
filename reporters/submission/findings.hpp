// What a check of a submission found: plain values.
//
// Thread: plain values. Owner: the holder. Units: none. Errors: none. Source: issue of the rules' checker: a finding
// has a rule, a path, what was found and what is right. JSON Schema: reporters/schema/submission.schema.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feedbench::submission {

// On every page and in every file that has to do with a submission.
inline constexpr std::string_view kStatement = "MLPerf-Storage-style, not verified by MLCommons";

enum class Severity : std::uint8_t { error, warning };

struct Finding {
    std::string rule; // a row of the table in rules.cpp
    Severity severity = Severity::error;
    std::string path;            // below the tree; of a run before it started: what it would have been called
    std::string found, expected; // "14 files of 1 sample", "at least 3500 files (500 steps ...)"
};

// A rule that could not be looked at, because no file says what it needs.
struct NotChecked {
    std::string rule, path, reason;
    bool operator==(const NotChecked&) const = default;
};

struct CheckResult {
    std::string tree, edition;
    std::uint32_t submitter_count = 0, set_count = 0, run_count = 0;
    std::vector<Finding> findings;
    std::vector<NotChecked> not_checked;
    bool passed() const { return findings.empty(); }
};

} // namespace feedbench::submission
