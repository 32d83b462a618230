// Where workload files lie, and which there are.
//
// Thread: any. Owner: none. Units: none. Errors: a name that is no workload, with the nearest and all known names.
#pragma once

#include "harness/types/error.hpp"

#include <string>
#include <vector>

namespace feedbench::config {

// Folders of workload files that exist, first to last: $FEEDBENCH_CONFIGS (or workloads/ in it),
// ../../configs/workloads and
// ../share/feedbench/configs/workloads seen from the binary, and the source tree that it was built from.
std::vector<std::string> workload_dirs();
// Names of all workload files in these folders (empty: workload_dirs()), sorted.
std::vector<std::string> workload_names(const std::vector<std::string>& dirs = {});
// The path of a name in these folders, or of a path as it stands.
Expected<std::string> find_workload(const std::string& name_or_path, const std::vector<std::string>& dirs = {});

} // namespace feedbench::config
