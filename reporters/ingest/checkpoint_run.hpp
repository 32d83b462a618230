// Checkpoint results: the scalars of the reference tool's summary, and feedbench's own list of checkpoints, as one set
// of figures.
//
// Thread: any (pure functions). Owner: none. Units: GiB (2^30 bytes), GiB/s, s. Errors: none; what is missing stays
// unknown. Source: reference facts section 4: save_checkpoint_io_mean_GB_per_second and its kin hold GiB/s, the mean of
// each checkpoint's rate; section 5: sizes. All checkpoints of a run are alike in size, so that their bytes over their
// time is the size over the mean duration (case T8: the two differ where durations do).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/types/run_result.hpp"
#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

// A summary's `metric` has figures of checkpoints, and none of a training.
bool is_checkpoint_metric(const nlohmann::json& metric);
CheckpointFigures figures_of_metric(const nlohmann::json& metric);
CheckpointFigures figures_of_checkpoints(const std::vector<CheckpointResult>& checkpoints);

// "llama_8b_zero3", "llama3-8b" -> "llama3-8b"; empty: none of the published ones.
std::string checkpoint_model(std::string_view text);
// Settings the run's workload and variant from what files declare, else from the size of a checkpoint, else from the
// names of folders. `mode`: "subset" or anything else.
void identify_checkpoint(const std::string& mode, const std::vector<std::string>& folder_names, IngestedRun& run);

} // namespace feedbench::ingest
