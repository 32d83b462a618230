// How long ago this process was started.
//
// Thread: any. Owner: none. Units: s. Errors: nullopt where the machine does not say.
// Source: proc(5): field 22 of /proc/self/stat (starttime, in clock ticks since boot), /proc/uptime. Good to a tick,
// a hundredth of a second.
#pragma once

#include <optional>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

std::optional<double> process_age_s(const Machine& machine);

} // namespace feedbench::probes
