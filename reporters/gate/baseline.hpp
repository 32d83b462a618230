// A baseline: trimmed runs that later ones are held against, with who made it, when and how; as JSON text.
//
// Thread: any (pure functions). Owner: the caller. Units: named in each figure's key and unit. Errors: format, with the
// path and the key that is missing or wrong. Source: reporters/schema/baseline.schema.json. It holds no more than the
// gate needs, some kilobytes a run, and is read by later versions whatever becomes of result.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"
#include "reporters/gate/gate_run.hpp"

namespace feedbench::gate {

inline constexpr int kBaselineSchemaVersion = 1;

struct Baseline {
    std::string system;           // whose storage: "lab-nas"
    std::string made_by, made_at; // "alice@client-1"; ISO 8601
    std::string note;             // free text
    std::vector<GateRun> runs;    // at least one, all alike; each with its command line
};

// What a baseline is found by besides its system: "unet3d_mini-4acc", "unet3d_h100-16acc-2hosts".
std::string workload_key(const GateRun& run);

std::string to_json(const Baseline& baseline);
bool is_baseline(std::string_view text); // by its schema version; anything else is no baseline
Expected<Baseline> baseline_from_json(std::string_view text, const std::string& path);

} // namespace feedbench::gate
