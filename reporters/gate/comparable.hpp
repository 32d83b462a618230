// Whether runs may be compared: each difference that forbids it, with both values, and each one that is only said.
//
// Thread: any (pure functions). Owner: the caller. Units: none. Errors: none; the answer is the list. Source:
// docs/gate.md.
#pragma once

#include <string>
#include <vector>

#include "reporters/gate/gate_run.hpp"

namespace feedbench::gate {

struct Difference {
    std::string key;                 // "workload", "accelerator_count", ..., or "valid"
    std::string baseline, candidate; // the values; several where the runs of a side differ among themselves
    std::string words;               // one sentence for people
};

struct Comparability {
    std::vector<Difference> forbidding;   // empty: may be compared
    std::vector<Difference> allowed;      // what a policy allows to differ
    std::vector<Difference> surroundings; // what may be the cause of a change
};

// `allowed`: keys of identity that may differ. At least one run a side.
Comparability compare_runs(const std::vector<GateRun>& baseline, const std::vector<GateRun>& candidate,
                           const std::vector<std::string>& allowed);

// "unet3d_mini, 4 accelerators (h100) on 1 host, posix, npz by pytorch loader".
std::string describe(const GateRun& run);

} // namespace feedbench::gate
