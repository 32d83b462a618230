#include "workloads/client_probe.hpp"

#include "harness/cluster/error_exchange.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/probes/cpu.hpp"
#include "workloads/host_limits.hpp"
#include "workloads/host_message.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::workloads {

namespace {

// Facts of every host, with what it could carry.
std::vector<HostFacts> gather_hosts(const RunRequest& request, storage::Backend& backend) {
    cluster::Communicator& communicator = *request.communicator;
    const auto& hosts = communicator.hosts();
    probes::CpuMark mark = probes::cpu_mark({});
    mark.limits = measure_host_limits(request, backend);
    HostFacts mine = probes::host_facts({}, mark, hosts[static_cast<std::size_t>(communicator.host_index())].name);
    const auto placement = place_accelerators(request.accelerator_count, communicator); // agreed on before
    mine.accelerator_count = placement ? placement->count : 0;
    const std::vector<std::string> all = communicator.gather(pack_host(mine));
    std::vector<HostFacts> merged;
    if (communicator.rank() != 0) return merged;
    for (const cluster::HostLayout& host : hosts)
        for (const int rank : host.ranks) {
            const HostFacts one = unpack_host(all[static_cast<std::size_t>(rank)]);
            if (rank == host.ranks.front())
                merged.push_back(one);
            else
                probes::merge_host(merged.back(), one);
        }
    return merged;
}

} // namespace

Expected<ClientProbe> probe_client(const RunRequest& request, bool asks_storage, double seconds) {
    const Workload& workload = *request.workload;
    auto plan = make_training_plan(request, nullptr);
    if (auto status = cluster::agree(*request.communicator, plan ? Status{} : Status(plan.error())); !status)
        return status.error();
    auto backend = open_storage(
        request, asks_storage ? config::data_location(workload) : "null:", asks_storage && workload.reader.odirect);
    if (auto status = cluster::agree(*request.communicator, backend ? Status{} : Status(backend.error())); !status)
        return status.error();
    const storage::Capabilities& data = (*backend)->capabilities();
    ClientProbe probe;
    probe.hosts = gather_hosts(request, **backend);
    // Asked alone, a ceiling is wanted whatever the data lies on.
    auto ceiling = measure_ceiling(request, {{}, asks_storage ? data.page_cached : !workload.reader.odirect}, seconds);
    if (!ceiling) return ceiling.error();
    probe.ceiling = std::move(*ceiling);
    if (request.communicator->rank() != 0 || !asks_storage) return probe;
    probe.backend = data.name;
    if (auto facts = (*backend)->facts(""))
        probe.filesystem = *facts;
    else
        probe.filesystem_reason = facts.error().describe();
    probe.source = find_data_source({}, **backend);
    return probe;
}

} // namespace feedbench::workloads
