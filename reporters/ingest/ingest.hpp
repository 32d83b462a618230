// Reads any mix of feedbench results, MLPerf Storage result trees and DLIO output folders.
//
// Thread: one. Owner: the caller of its value. Units: as in ingested_run.hpp. Errors: none: what cannot be used is a
// Problem (path, what was found, what is right), and the rest is still read. Source: corpus README, reference facts.
// Paths are not trusted: model, accelerator and counts come from the files.
#pragma once

#include <filesystem>
#include <span>

#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

Ingested ingest(std::span<const std::filesystem::path> inputs);

} // namespace feedbench::ingest
