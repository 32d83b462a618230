// Which CPUs this process may use: its affinity, and the quota of its control group.
//
// Thread: any. Owner: none. Units: CPUs (a quota may be a fraction). Errors: nullopt where the machine does not say.
// Source: proc(5) status Cpus_allowed_list; cgroups(7), the kernel's cgroup-v2.rst (cpu.max) and sched-bwc.rst
// (cpu.cfs_quota_us, -1: none).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

// The list as the kernel writes it, "0-3,8": another rank's can be put beside it.
std::optional<std::string> affinity_list(const Machine& machine);
// The smallest quota of this process's group and the groups above it; nullopt: none is set.
std::optional<double> cgroup_cpu_quota(const Machine& machine);

// What ranks with these affinities may use together, on one host.
std::optional<double> cpus_allowed(const std::vector<std::string>& affinity_lists, std::optional<double> quota);

} // namespace feedbench::probes
