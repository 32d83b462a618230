#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

Expected<Placement> place_accelerators(std::uint32_t total, const cluster::Communicator& communicator) {
    const auto& hosts = communicator.hosts();
    if (total == 0) return usage_error("0 accelerators were asked for, at least 1 is needed");
    if (total % hosts.size() != 0)
        return usage_error(std::to_string(total) + " accelerators do not divide evenly over " +
                           std::to_string(hosts.size()) + " hosts: ask for a multiple of " +
                           std::to_string(hosts.size()));
    const std::uint32_t per_host = total / static_cast<std::uint32_t>(hosts.size());
    Placement placement{total, 0, 0};
    std::vector<std::uint32_t> of_rank(static_cast<std::size_t>(communicator.size()), 0);
    for (const auto& host : hosts) {
        const auto ranks = static_cast<std::uint32_t>(host.ranks.size());
        if (per_host % ranks != 0)
            return usage_error(std::to_string(per_host) + " accelerators of host " + host.name + " (" +
                               std::to_string(total) + " over " + std::to_string(hosts.size()) +
                               " hosts) do not divide evenly over its " + std::to_string(ranks) +
                               " ranks: every rank must carry the same number, at least 1");
        for (const int rank : host.ranks) of_rank[static_cast<std::size_t>(rank)] = per_host / ranks;
    }
    for (int rank = 0; rank < communicator.rank(); ++rank) placement.first += of_rank[static_cast<std::size_t>(rank)];
    placement.count = of_rank[static_cast<std::size_t>(communicator.rank())];
    return placement;
}

} // namespace feedbench::workloads
