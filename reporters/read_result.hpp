// Reads a result.json back, from the file or from the folder that holds it.
//
// Thread: any. Owner: none. Units: none. Errors: storage (cannot be read), format (not our result, key named). Source:
// DESIGN section 9.
#pragma once

#include <filesystem>

#include "harness/types/run_result.hpp"

namespace feedbench::reporters {

Expected<RunResult> read_result(const std::filesystem::path& file_or_folder);

} // namespace feedbench::reporters
