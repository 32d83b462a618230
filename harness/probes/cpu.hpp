// Processors, memory and CPU time, of this process and of its host.
//
// Thread: any. Owner: none. Units: in the names. Errors: nullopt where the machine does not say.
// Source: proc(5): /proc/stat (USER_HZ ticks), /proc/meminfo (KiB), /proc/self/status VmHWM (KiB); DESIGN section 8
// (client cost).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

std::vector<Fact> cpu_facts(const Machine& machine);

std::optional<std::uint32_t> online_cpu_count(const Machine& machine);
std::optional<std::uint32_t> numa_node_count(const Machine& machine);
std::optional<std::string> cpu_model(const Machine& machine);
std::optional<std::string> kernel_release(const Machine& machine);
std::optional<std::uint64_t> memory_total_bytes(const Machine& machine);
// Busy time of all CPUs since boot: user, nice, system, irq, softirq; not idle, iowait, steal. Guest time is part of
// user.
std::optional<double> host_cpu_s(const Machine& machine);
// User + system of this process so far.
double process_cpu_s();
std::optional<std::uint64_t> peak_rss_bytes(const Machine& machine);

// What the host could carry at most, found out before the run; the same on all ranks of the host. Nothing where the
// machine does not say.
struct HostLimits {
    std::optional<double> cpu_allowed, nic_bytes_per_second, memory_bytes_per_second; // as in HostFacts
};

// CPU time at one moment; the difference of two is what a measured part has cost.
struct CpuMark {
    double process_s = 0;
    std::optional<double> host_s;
    HostLimits limits{}; // whoever measured them puts them here: host_facts hands them on
};
CpuMark cpu_mark(const Machine& machine);

// What one rank knows of its host since `start`. Merge ranks of a host with merge_host.
HostFacts host_facts(const Machine& machine, const CpuMark& start, std::string name);
// `into` and `other` are two ranks of one host: counts, process CPU and bytes add up, the host's own figures do not.
void merge_host(HostFacts& into, const HostFacts& other);

} // namespace feedbench::probes
