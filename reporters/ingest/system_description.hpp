// A file of systems/: whose system it is, its capacity and power, as far as the file says them in a usable way.
//
// Thread: any. Owner: none. Units: GiB, W. Errors: a file that cannot be used is a Problem, one that was repaired is a
// Problem that is marked as used. Source: system descriptions of edition 1.0 (JSON); the 3.0 tool's
// schema (YAML, system_under_test: nodes, switches, supplies, drives); 2.0 and others by the names of their keys, a
// guess. People write "Inf", "2.4 GHz", "4-58" where numbers belong: such values are unknown.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

// Nothing: not a system description (a JSON schema), or broken.
std::optional<SystemDescription> read_system_description(const std::filesystem::path& path,
                                                         std::vector<Problem>& problems);

} // namespace feedbench::ingest
