// What a run folder and its surroundings say about the workload: settings, metadata, report, figures, names.
//
// Thread: one. Owner: none. Units: s, bytes, percent. Errors: a file that is broken becomes a Problem that is marked as
// used, for the figures do not need it. Source: DLIO's effective configuration (configs/, dlio_config/, .hydra/), the
// metadata of the 2.0 and 3.0 tools. What files say comes first, then what the figures imply; a folder's name is asked
// last, and a note says so.
#pragma once

#include <nlohmann/json.hpp>

#include "reporters/ingest/find_results.hpp"
#include "reporters/ingest/surroundings.hpp"

namespace feedbench::ingest {

struct RunSettings {
    std::optional<double> batch_size, think_time_s, record_length_bytes, au_bar_percentage;
    std::optional<double> checkpoint_writes, checkpoint_reads; // asked for
    std::string checkpoint_mode;                               // "subset", "default"; empty: not said
    std::string tool_version;                                  // of the metadata; empty: not said
    bool has_metadata = false;
};

// Reads config.yaml and *_metadata.json; adds what they declare about the workload to `run.declared`.
RunSettings read_settings(const RunFolder& folder, IngestedRun& run, std::vector<Problem>& problems);

// Sets workload, accelerator_model, variant, and from them batch, think time, record length and bar where the files did
// not say them. `run.declared` holds what files say; AU and rate are already in `run`. `sleep_s`: mean length of the
// ranks' sleeps, where their files are there.
void identify_workload(const RunSettings& settings, const Place& place, std::optional<double> sleep_s,
                       IngestedRun& run);

// "1.0" with a report, "2.0" or "3.0" with the metadata of those tools; else empty.
std::string edition_of(const RunSettings& settings, const Report* report, const Place& place,
                       const std::string& accelerator_model);

} // namespace feedbench::ingest
