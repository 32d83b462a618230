// A list of accelerator counts as one types it: "8", "1,2,4,8", "1-8", "16-128:16".
//
// Thread: any. Owner: none. Units: counts. Errors: usage, naming the part that is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::cli {

// Ascending, each once; at least one, at most 1000.
Expected<std::vector<std::uint32_t>> parse_accelerator_counts(const std::string& text);

} // namespace feedbench::cli
