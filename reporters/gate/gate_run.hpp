// One run as the gate sees it: what must be equal for a comparison, the figures, and the parts that they are made of.
//
// Thread: plain values; functions are pure. Owner: the holder. Units: named in each figure's key and unit.
// Errors: none; a run that is not valid says why. Source: docs/gate.md. It is small and has a schema of its own
// (reporters/schema/baseline.schema.json), so that a baseline stays readable when result.json changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench::gate {

struct Fact {
    std::string key, value;
};

// The figure of some parts is sum(above) / sum(below): MB over seconds, CPU seconds over GB.
struct Part {
    double above = 0, below = 0;
};

struct Parts {
    std::string key;    // of the figure
    std::string source; // "blocks of 12 steps", "one-second slices", "epochs", "checkpoints"
    std::vector<Part> parts;
};

struct GateRun {
    std::string path, run_id, start_time, feedbench_version, command_line;
    bool valid = false;
    std::vector<std::string> reasons; // why it is not
    std::vector<Fact> identity;       // runs that differ in one of these are not compared
    std::vector<Fact> surroundings;   // a difference in these is said, and may be the cause
    std::vector<Metric> figures;      // of the whole run
    std::vector<Parts> parts;         // of those figures that have any
};

GateRun gate_run(const RunResult& result, const std::string& path);
// Replaces the parts that the result itself gives by finer ones, where there are enough of them.
void take_finer_parts(GateRun& run, std::vector<Parts> finer);

// Every key of `identity`, in order: what a policy may allow to differ.
const std::vector<std::string>& identity_keys();

std::string fact(const std::vector<Fact>& facts, std::string_view key); // empty: not there
const Parts* parts_of(const GateRun& run, std::string_view key);        // nullptr: none

} // namespace feedbench::gate
