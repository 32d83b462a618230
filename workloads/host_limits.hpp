// What each host could carry at most, asked and measured before a run: CPUs, line rate, memory.
//
// Thread: main thread, before the loop runs. Owner: none. Units: CPUs, bytes/s. Errors: what a machine does not say is
// nothing. Source: DESIGN section 8 (plausibility; the client must never be what was measured).
#pragma once

#include "harness/probes/cpu.hpp"
#include "harness/probes/data_source.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

// Where the bytes of this storage come from on this host: below its path, or through the interface that leads to its
// server.
probes::DataSource find_data_source(const probes::Machine& machine, storage::Backend& backend);
// Name or address of the server that a mounted storage's bytes come from; empty where there is none, or its mount does
// not say.
std::string server_of(const storage::Backend& backend);

// Collective, some 0.1 s. The same for all ranks of a host; nothing under the virtual clock.
probes::HostLimits measure_host_limits(const RunRequest& request, storage::Backend& backend);

} // namespace feedbench::workloads
