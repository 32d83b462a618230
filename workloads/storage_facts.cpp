#include "workloads/storage_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/probes/network_interface.hpp"
#include "harness/probes/remote_host.hpp"
#include "workloads/host_limits.hpp"
#include "workloads/message.hpp"

namespace feedbench::workloads {

namespace {

std::string pack_facts(const StorageResult& s) {
    return pack_strings({s.use, s.backend, s.place, s.filesystem_type, s.device, s.mount_point, s.mount_options,
                         s.is_network ? "1" : "0", s.is_memory ? "1" : "0", s.server, s.network_interface,
                         std::to_string(s.total_bytes), std::to_string(s.free_bytes), s.note});
}

StorageResult unpack_facts(const std::string& bytes) {
    const std::vector<std::string> p = unpack_strings(bytes);
    StorageResult s;
    s.use = p[0];
    s.backend = p[1];
    s.place = p[2];
    s.filesystem_type = p[3];
    s.device = p[4];
    s.mount_point = p[5];
    s.mount_options = p[6];
    s.is_network = p[7] == "1";
    s.is_memory = p[8] == "1";
    s.server = p[9];
    s.network_interface = p[10];
    s.total_bytes = std::stoull(p[11]);
    s.free_bytes = std::stoull(p[12]);
    s.note = p[13];
    return s;
}

// Room differs from moment to moment, all else does not where it is the same storage.
bool is_same(const StorageResult& a, const StorageResult& b) {
    return a.backend == b.backend && a.filesystem_type == b.filesystem_type && a.device == b.device &&
           a.mount_point == b.mount_point && a.mount_options == b.mount_options && a.is_network == b.is_network &&
           a.is_memory == b.is_memory && a.server == b.server && a.network_interface == b.network_interface &&
           a.note == b.note;
}

// Counters of the ranks of hosts that see one storage the same way.
struct Group {
    StorageResult facts;
    std::vector<EndpointCounters> counters;
    std::vector<std::uint32_t> rank_counts; // beside counters

    void add(const EndpointCounters& one) {
        const auto found =
            std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.name == one.name; });
        const auto at = static_cast<std::size_t>(found - counters.begin());
        if (found == counters.end()) {
            counters.push_back(one);
            rank_counts.push_back(0);
        } else
            found->merge(one);
        // A rank that was given an endpoint and never spoke to it does not count.
        if (one.request_count + one.connection_count > 0) ++rank_counts[at];
    }
};

} // namespace

StorageResult look_at_storage(storage::Backend& backend, const std::string& use, const std::string& place,
                              bool virtual_time) {
    StorageResult seen;
    seen.use = use;
    seen.backend = backend.capabilities().name;
    seen.place = place;
    seen.note = backend.capabilities().note;
    const auto facts = backend.facts("");
    if (!facts) return seen;
    seen.filesystem_type = facts->type;
    seen.device = facts->device;
    seen.mount_point = facts->mount_point;
    seen.mount_options = facts->mount_options;
    seen.is_network = facts->is_network;
    seen.is_memory = facts->is_memory;
    if (facts->total_bytes != ~std::uint64_t{0} >> 1) { // of storage without an end nobody needs to know it
        seen.total_bytes = facts->total_bytes;
        seen.free_bytes = facts->free_bytes;
    }
    seen.server = facts->server;
    if (virtual_time) return seen;
    if (seen.server.empty() && facts->is_network) seen.server = server_of(backend);
    if (!seen.server.empty()) seen.network_interface = probes::interface_to({}, seen.server).value_or("");
    return seen;
}

std::vector<StorageResult> gather_storage(cluster::Communicator& communicator, const storage::Backend& backend,
                                          StorageResult seen) {
    std::vector<std::string> mine{pack_facts(seen)};
    for (const EndpointCounters& counters : backend.statistics()) mine.push_back(counters.serialise());
    const std::vector<std::string> all = communicator.gather(pack_strings(mine));
    std::vector<StorageResult> result;
    if (communicator.rank() != 0) return result;

    std::vector<Group> groups;
    for (const cluster::HostLayout& host : communicator.hosts()) {
        Group* group = nullptr; // the view of the host's first rank is the host's
        for (const int rank : host.ranks) {
            const std::vector<std::string> parts = unpack_strings(all[static_cast<std::size_t>(rank)]);
            if (!group) {
                const StorageResult facts = unpack_facts(parts[0]);
                const auto found =
                    std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return is_same(g.facts, facts); });
                group = found == groups.end() ? &groups.emplace_back(Group{facts, {}, {}}) : &*found;
                group->facts.hosts.push_back(host.name);
            }
            for (std::size_t i = 1; i < parts.size(); ++i) group->add(EndpointCounters::parse(parts[i]));
        }
    }
    for (Group& group : groups) {
        for (std::size_t i = 0; i < group.counters.size(); ++i)
            group.facts.endpoints.push_back(endpoint_result(group.counters[i], group.rank_counts[i]));
        result.push_back(std::move(group.facts));
    }
    return result;
}

std::string retry_words(const EndpointResult& endpoint) {
    if (endpoint.retry_count == 0 && endpoint.failed_request_count == 0) return {};
    std::string causes;
    for (const RetryResult& retry : endpoint.retries)
        causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", retry.count, retry.cause);
    std::string words = fmt::format("{} requests to {}: {} sent again{}", endpoint.request_count, endpoint.name,
                                    endpoint.retry_count, causes.empty() ? "" : " (" + causes + ")");
    if (endpoint.failed_request_count > 0) words += fmt::format(", {} given up", endpoint.failed_request_count);
    return words;
}

void add_retry_findings(const std::vector<StorageResult>& storages, std::vector<Finding>& findings) {
    for (const StorageResult& storage : storages)
        for (const EndpointResult& endpoint : storage.endpoints)
            if (std::string words = retry_words(endpoint); !words.empty())
                findings.push_back({"storage_retries",
                                    "warning",
                                    storage.use + ": " + words,
                                    {{"retry_count", "", static_cast<double>(endpoint.retry_count), "", "count"},
                                     {"request_count", "", static_cast<double>(endpoint.request_count), "", "count"}}});
}

} // namespace feedbench::workloads
