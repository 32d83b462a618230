// A text into a file, or onto standard output where the name is "-".
//
// Thread: main thread, rank 0 only. Owner: none. Units: none. Errors: storage, with path and errno. Nothing
// half-written is ever visible under the final name. Source: DESIGN section 6.
#pragma once

#include <string>

#include "harness/types/error.hpp"

namespace feedbench::cli {

Status write_output(const std::string& path, const std::string& text);

} // namespace feedbench::cli
