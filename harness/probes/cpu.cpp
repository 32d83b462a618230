#include "harness/probes/cpu.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/engine/clock.hpp"
#include "harness/probes/cpu_allowed.hpp"
#include "harness/probes/proc_file.hpp"
#include "harness/types/units.hpp"

namespace feedbench::probes {
namespace {

template <class T>
Fact number_fact(std::string key, const std::optional<T>& value, std::string reason) {
    if (!value) return {std::move(key), {}, {}, std::move(reason)};
    return {std::move(key), static_cast<double>(*value), {}, {}};
}

Fact text_fact(std::string key, std::optional<std::string> value, std::string reason) {
    if (!value) return {std::move(key), {}, {}, std::move(reason)};
    return {std::move(key), {}, std::move(value), {}};
}

std::optional<double> own_cpus_allowed(const Machine& machine) {
    std::vector<std::string> lists;
    if (auto list = affinity_list(machine)) lists.push_back(std::move(*list));
    return cpus_allowed(lists, cgroup_cpu_quota(machine));
}

// Where only one of two ranks knows it; they do not differ.
void take_missing(std::optional<double>& into, const std::optional<double>& other) {
    if (!into) into = other;
}

} // namespace

std::optional<std::uint32_t> online_cpu_count(const Machine& machine) {
    const auto list = read_proc_file(machine.sys + "/devices/system/cpu/online");
    return list ? count_of_list(*list) : std::nullopt;
}

std::optional<std::uint32_t> numa_node_count(const Machine& machine) {
    const auto list = read_proc_file(machine.sys + "/devices/system/node/online");
    return list ? count_of_list(*list) : std::nullopt;
}

std::optional<std::string> cpu_model(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/cpuinfo");
    if (!content) return {};
    for (const char* key : {"model name", "Model", "cpu"}) // x86; some Arm; POWER
        if (auto model = field(*content, key); model && !model->empty()) return model;
    return {};
}

std::optional<std::string> kernel_release(const Machine& machine) {
    auto content = read_proc_file(machine.proc + "/sys/kernel/osrelease");
    if (!content) return {};
    while (!content->empty() && content->back() == '\n') content->pop_back();
    if (content->empty()) return {};
    return content;
}

std::optional<std::uint64_t> memory_total_bytes(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/meminfo");
    return content ? field_kib_as_bytes(*content, "MemTotal") : std::nullopt;
}

std::optional<double> host_cpu_s(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/stat");
    if (!content) return {};
    unsigned long long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
    if (std::sscanf(content->c_str(), "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait,
                    &irq, &softirq) != 7)
        return {};
    const long ticks_per_s = sysconf(_SC_CLK_TCK);
    if (ticks_per_s <= 0) return {};
    return static_cast<double>(user + nice + system + irq + softirq) / static_cast<double>(ticks_per_s);
}

double process_cpu_s() { return seconds(engine::process_cpu_ns()); }

std::optional<std::uint64_t> peak_rss_bytes(const Machine& machine) {
    if (const auto content = read_proc_file(machine.proc + "/self/status"))
        if (const auto bytes = field_kib_as_bytes(*content, "VmHWM")) return bytes;
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss <= 0) return {};
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

CpuMark cpu_mark(const Machine& machine) { return {process_cpu_s(), host_cpu_s(machine), {}}; }

std::vector<Fact> cpu_facts(const Machine& machine) {
    return {
        number_fact("cpu_count", online_cpu_count(machine), "/sys/devices/system/cpu/online cannot be read"),
        number_fact("cpu_allowed", own_cpus_allowed(machine), "/proc/self/status names no Cpus_allowed_list"),
        number_fact("numa_node_count", numa_node_count(machine), "this kernel names no NUMA nodes"),
        text_fact("cpu_model", cpu_model(machine), "/proc/cpuinfo names no model"),
        text_fact("kernel_release", kernel_release(machine), "/proc/sys/kernel/osrelease cannot be read"),
        number_fact("memory_total_bytes", memory_total_bytes(machine), "/proc/meminfo has no MemTotal"),
        number_fact("host_cpu_s", host_cpu_s(machine), "/proc/stat has no cpu line"),
        number_fact("process_cpu_s", std::optional(process_cpu_s()), ""),
        number_fact("peak_rss_bytes", peak_rss_bytes(machine), "neither VmHWM nor getrusage says"),
    };
}

HostFacts host_facts(const Machine& machine, const CpuMark& start, std::string name) {
    HostFacts facts;
    facts.name = std::move(name);
    facts.rank_count = 1;
    facts.cpu_count = online_cpu_count(machine).value_or(0);
    facts.cpu_allowed = start.limits.cpu_allowed;
    facts.nic_bytes_per_second = start.limits.nic_bytes_per_second;
    facts.memory_bytes_per_second = start.limits.memory_bytes_per_second;
    facts.memory_bytes = memory_total_bytes(machine).value_or(0);
    facts.cpu_model = cpu_model(machine).value_or("");
    facts.kernel = kernel_release(machine).value_or("");
    const CpuMark now = cpu_mark(machine);
    facts.process_cpu_s = now.process_s - start.process_s;
    if (now.host_s && start.host_s) facts.host_cpu_s = std::max(0.0, *now.host_s - *start.host_s);
    facts.peak_rss_bytes = peak_rss_bytes(machine).value_or(0);
    return facts;
}

void merge_host(HostFacts& into, const HostFacts& other) {
    into.rank_count += other.rank_count;
    into.accelerator_count += other.accelerator_count;
    into.process_cpu_s += other.process_cpu_s;
    into.bytes_delivered += other.bytes_delivered;
    into.host_cpu_s = std::max(into.host_cpu_s, other.host_cpu_s); // one host seen from two ranks
    into.peak_rss_bytes = std::max(into.peak_rss_bytes, other.peak_rss_bytes);
    take_missing(into.cpu_allowed, other.cpu_allowed);
    take_missing(into.nic_bytes_per_second, other.nic_bytes_per_second);
    take_missing(into.memory_bytes_per_second, other.memory_bytes_per_second);
}

} // namespace feedbench::probes
