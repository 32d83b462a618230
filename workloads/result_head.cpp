#include "workloads/result_head.hpp"

#include <cstring>
#include <type_traits>

#include "workloads/host_message.hpp"
#include "workloads/live.hpp"

namespace feedbench::workloads {

std::vector<std::string> process_fields(const RunRequest& request, const ProcessFacts& facts) {
    const cluster::Communicator& communicator = *request.communicator;
    const auto& host = communicator.hosts()[static_cast<std::size_t>(communicator.host_index())];
    HostFacts mine = probes::host_facts({}, facts.cpu_start, host.name);
    mine.accelerator_count = facts.accelerator_count;
    mine.bytes_delivered = facts.bytes_delivered;
    static_assert(std::is_trivially_copyable_v<Slice>);
    return {pack_host(mine),
            std::string(reinterpret_cast<const char*>(facts.slices.data()), facts.slices.size() * sizeof(Slice))};
}

void merge_process_fields(const std::vector<std::string>& fields, bool first_of_host, std::vector<HostFacts>& hosts,
                          std::vector<Slice>& slices) {
    const HostFacts facts = unpack_host(fields[0]);
    if (first_of_host)
        hosts.push_back(facts);
    else
        for (HostFacts& host : hosts)
            if (host.name == facts.name) probes::merge_host(host, facts);
    std::vector<Slice> more(fields[1].size() / sizeof(Slice));
    if (!more.empty()) std::memcpy(more.data(), fields[1].data(), fields[1].size());
    merge_slices(slices, more);
}

RunResult begin_result(const RunRequest& request, const char* kind, const RunEnd& end, const Placement& placement,
                       const storage::Backend& backend) {
    RunResult result;
    result.feedbench_version = FEEDBENCH_VERSION;
    result.kind = kind;
    if (end.stop == accelerator::kInterrupted)
        result.status = "interrupted";
    else
        result.status = end.error || end.stop == accelerator::kFailed ? "failed" : "complete";
    if (end.error) result.errors.push_back(*end.error);
    if (request.communicator->rank() != 0) return result;

    const Workload& workload = *request.workload;
    result.workload = workload.name;
    result.model = workload.model.name;
    result.framework = workload.framework;
    result.backend = backend.capabilities().name;
    result.io_engine = workload.reader.io_engine == IoEngine::uring ? "uring" : "threads";
    result.accelerator_count = placement.total;
    result.rank_count = static_cast<std::uint32_t>(request.communicator->size());
    result.run_seed = request.run_seed;
    result.virtual_time = request.reactor->clock().is_virtual();
    result.config = workload.values;
    return result;
}

} // namespace feedbench::workloads
