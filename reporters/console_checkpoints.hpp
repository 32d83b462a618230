// The console's page about checkpoints: figures of a run that only writes and reads them, and the table of them all.
//
// Thread: any (pure functions). Owner: none. Units: GiB (2^30), s, named in every heading. Errors: none; what is not
// there is a reason. Source: DESIGN section 8 (total bytes / total time, mean of rates beside it).
#pragma once

#include <string>

#include "reporters/reporter.hpp"

namespace feedbench::reporters {

// "checkpoint run" in place of a training run's second line.
std::string checkpoint_header(const RunResult& result);
// Lines of figures, of a run of the kind "checkpoint".
std::string checkpoint_figures(const RunResult& result);
// One line a checkpoint.
std::string checkpoint_table(const RunResult& result, bool colour);

} // namespace feedbench::reporters
