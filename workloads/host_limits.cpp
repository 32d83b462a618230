#include "workloads/host_limits.hpp"

#include <stdlib.h>

#include <algorithm>
#include <climits>

#include "harness/probes/cpu_allowed.hpp"
#include "harness/probes/memory_bandwidth.hpp"
#include "harness/probes/network_interface.hpp"
#include "harness/probes/proc_file.hpp"
#include "harness/probes/remote_host.hpp"
#include "harness/types/units.hpp"
#include "storage/backend.hpp"
#include "workloads/message.hpp"

namespace feedbench::workloads {

namespace {

// Together the buffers should be twice the last-level cache, but touching them is not to take longer than reading them.
constexpr std::uint64_t kBufferBytesLeast = 16 * kMiB, kBufferBytesMost = 64 * kMiB;

std::uint64_t cpus_of(const std::string& list) {
    const auto allowed = probes::cpus_allowed({list}, {});
    return allowed ? static_cast<std::uint64_t>(*allowed) : 1;
}

// The ranks of a host together use a thread a CPU: a rank that is bound to its CPUs all of those, ranks that share all
// CPUs a part each, and the ranks beyond the last CPU none.
unsigned threads_of_rank(std::uint64_t cpus_together, std::uint64_t cpus_of_rank, std::uint64_t ranks,
                         std::uint64_t local_rank) {
    const std::uint64_t share = cpus_together / ranks + (local_rank < cpus_together % ranks ? 1 : 0);
    return static_cast<unsigned>(std::min(share, cpus_of_rank));
}

// On this host, without symbolic links; empty where it has none.
std::string real_path_of(const storage::Backend& backend) {
    const std::string path = backend.local_path("");
    char real[PATH_MAX];
    return !path.empty() && ::realpath(path.c_str(), real) ? std::string(real) : path;
}

} // namespace

probes::DataSource find_data_source(const probes::Machine& machine, storage::Backend& backend) {
    if (const std::string path = real_path_of(backend); !path.empty()) return probes::data_source(machine, path);
    if (const auto facts = backend.facts(""); facts && !facts->server.empty())
        return probes::data_source_of_host(machine, facts->server);
    probes::DataSource none;
    none.reason = "the backend " + backend.capabilities().name + " has no path on this host";
    return none;
}

std::string server_of(const storage::Backend& backend) {
    const auto mountinfo = probes::read_proc_file(probes::Machine{}.proc + "/self/mountinfo");
    const std::string path = real_path_of(backend);
    if (!mountinfo || path.empty()) return {};
    return probes::remote_host(storage::find_mount(*mountinfo, path)).host;
}

probes::HostLimits measure_host_limits(const RunRequest& request, storage::Backend& backend) {
    if (request.reactor->clock().is_virtual()) return {};
    cluster::Communicator& communicator = *request.communicator;
    const probes::Machine machine;
    const probes::DataSource source = find_data_source(machine, backend);
    const std::string affinity = probes::affinity_list(machine).value_or("");
    const std::vector<std::string> everyone =
        unpack_strings(communicator.broadcast(pack_strings(communicator.gather(affinity))));
    const cluster::HostLayout& host = communicator.hosts()[static_cast<std::size_t>(communicator.host_index())];
    std::vector<std::string> lists;
    for (const int rank : host.ranks) lists.push_back(everyone[static_cast<std::size_t>(rank)]);

    probes::HostLimits limits;
    limits.cpu_allowed = probes::cpus_allowed(lists, probes::cgroup_cpu_quota(machine));
    if (!source.interface.empty()) {
        limits.nic_bytes_per_second = probes::line_rate_bytes_per_second(machine, source.interface);
    } else if (const auto fastest = probes::fastest_interface(machine)) {
        limits.nic_bytes_per_second = fastest->bytes_per_second;
    }

    probes::MemoryReading reading;
    const auto cpus = static_cast<std::uint64_t>(probes::cpus_allowed(lists, {}).value_or(1));
    reading.thread_count = threads_of_rank(cpus, cpus_of(affinity), host.ranks.size(),
                                           static_cast<std::uint64_t>(communicator.local_rank()));
    reading.buffer_bytes = std::clamp(2 * probes::last_level_cache_bytes(machine).value_or(32 * kMiB) / cpus,
                                      kBufferBytesLeast, kBufferBytesMost);
    communicator.barrier(); // all ranks of a host at once, or the sum would be more than the memory gives
    std::vector<double> of_hosts(communicator.hosts().size(), 0.0);
    if (reading.thread_count > 0)
        of_hosts[static_cast<std::size_t>(communicator.host_index())] =
            probes::memory_read_bytes_per_second(reading).value_or(0);
    communicator.sum(std::span<double>(of_hosts));
    const double sum = of_hosts[static_cast<std::size_t>(communicator.host_index())];
    if (sum > 0) limits.memory_bytes_per_second = sum;
    return limits;
}

} // namespace feedbench::workloads
