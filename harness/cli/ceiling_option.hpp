// --ceiling-seconds, for every command that measures the client's ceiling.
//
// Thread: main thread. Owner: none. Units: s. Errors: the parser's.
#pragma once

#include "harness/cli/session.hpp"

namespace feedbench::cli {

// The environment's FEEDBENCH_CEILING_SECONDS stands in where nothing is given.
void add_ceiling_option(CLI::App& command, double& seconds);
// Rank 0's value, for an environment need not be the same on every host.
double agreed_ceiling_s(Session& session, double seconds);

} // namespace feedbench::cli
