// What can be given to the gate: results, folders of them, baselines; read into the gate's runs.
//
// Thread: main thread, rank 0 only. Owner: the caller of its value. Units: none. Errors: config where the command line
// named something that is none of these; storage and format as the readers give them. Source: docs/gate.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/types/error.hpp"
#include "reporters/gate/gate_run.hpp"

namespace feedbench::cli {

struct GateInputs {
    std::vector<gate::GateRun> runs;
    std::vector<std::string> warnings; // what was there and could not be used
};

// result.json, the folder of a run, a folder with many of them, or the file of a baseline. `steps`: also steps.h5
// beside a result.
Expected<GateInputs> read_gate_inputs(const std::vector<std::string>& inputs, bool steps);

Expected<std::string> read_whole_file(const std::filesystem::path& path);

} // namespace feedbench::cli
