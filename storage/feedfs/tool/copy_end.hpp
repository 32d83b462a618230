// How import and export end: the summary on standard output, and the exit code.
//
// Thread: the command's. Owner: none. Units: bytes; shown in MiB. Errors: none.
#pragma once

#include <string_view>

#include "storage/feedfs/tool/progress.hpp"

namespace feedbench::feedfs::tool {

// verb: "imported", "exported". quiet: only an interruption is told.
int tell_end(const Progress& progress, std::string_view verb, bool quiet);

} // namespace feedbench::feedfs::tool
