// A run folder of the reference tool: summary.json, and what lies beside it, to an IngestedRun.
//
// Thread: one. Owner: none. Units: as in ingested_run.hpp. Errors: format or storage where there are no training
// figures to report; what is broken but not needed becomes a Problem. Source: summary.json as reference facts list it;
// keys that end in MB_per_second hold MiB/s, those in _GB hold GiB.
#pragma once

#include "harness/types/error.hpp"
#include "reporters/ingest/find_results.hpp"
#include "reporters/ingest/surroundings.hpp"

namespace feedbench::ingest {

Expected<IngestedRun> read_reference_run(const RunFolder& folder, Surroundings& around, std::vector<Problem>& problems);

} // namespace feedbench::ingest
