#include "harness/probes/cpu.hpp"
#include "harness/probes/network_interface.hpp"
#include "harness/probes/page_cache.hpp"
#include "harness/probes/probe.hpp"

namespace feedbench::probes {

std::span<const Probe> probes() {
    static constexpr Probe kProbes[] = {
        {"cpu", "processors, memory, kernel and CPU time of process and host", cpu_facts},
        {"network", "the line rate of the fastest interface", network_facts},
        {"page_cache", "how much of the host's memory caches files", page_cache_facts},
    };
    return kProbes;
}

std::vector<Fact> read_all(const Machine& machine, bool virtual_time) {
    std::vector<Fact> all;
    for (const Probe& probe : probes()) {
        if (virtual_time) {
            all.push_back({std::string(probe.name), {}, {}, "virtual time: the machine is not what is measured"});
            continue;
        }
        for (Fact& fact : probe.read(machine)) all.push_back(std::move(fact));
    }
    return all;
}

} // namespace feedbench::probes
