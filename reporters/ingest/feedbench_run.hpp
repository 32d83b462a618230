// A RunResult of feedbench to an IngestedRun.
//
// Thread: any. Owner: none. Units: as in ingested_run.hpp. Errors: format where the run has no figures to compare (not
// complete; neither training nor checkpoints). Source: harness/types/run_result.hpp; keys of its rows: docs/metrics.md.
#pragma once

#include "harness/types/error.hpp"
#include "harness/types/run_result.hpp"
#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

Expected<IngestedRun> from_run_result(const RunResult& result, const std::string& path);

} // namespace feedbench::ingest
