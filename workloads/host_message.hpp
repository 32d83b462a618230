// One rank's facts about its host, as bytes for the gather.
//
// Thread: any. Owner: the caller. Units: as HostFacts. Errors: none; both ends are the same binary.
// Source: case T9 (host arrays hold each host's own values).
#pragma once

#include <string>

#include "harness/types/run_result.hpp"

namespace feedbench::workloads {

std::string pack_host(const HostFacts& facts);
HostFacts unpack_host(const std::string& bytes);

} // namespace feedbench::workloads
