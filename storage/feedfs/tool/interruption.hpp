// SIGINT and SIGTERM as a flag that long commands look at.
//
// Thread: any. Owner: the process. Units: none. Errors: none.
#pragma once

namespace feedbench::feedfs::tool {

void watch_interruption(); // from now on a signal sets the flag; a second one ends the process
bool is_interrupted();

} // namespace feedbench::feedfs::tool
