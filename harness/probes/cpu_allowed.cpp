#include "harness/probes/cpu_allowed.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

#include "harness/probes/proc_file.hpp"

namespace feedbench::probes {
namespace {

// Folders of a group's files, from the group to the root of its hierarchy. A group that a container does not see under
// this path is looked for at the root, where its namespace puts it.
template <class Read>
std::optional<double> smallest(const std::string& hierarchy, std::string group, Read read) {
    std::optional<double> least;
    for (;;) {
        if (group == "/") group.clear();
        if (const auto quota = read(hierarchy + group); quota && (!least || *quota < *least)) least = quota;
        if (group.empty()) return least;
        group.resize(group.find_last_of('/'));
    }
}

// "150000 100000" or "max 100000"
std::optional<double> quota_v2(const std::string& folder) {
    const auto content = read_proc_file(folder + "/cpu.max");
    long long quota_us = 0, period_us = 0;
    if (!content || std::sscanf(content->c_str(), "%lld %lld", &quota_us, &period_us) != 2 || period_us <= 0) return {};
    return static_cast<double>(quota_us) / static_cast<double>(period_us);
}

std::optional<double> quota_v1(const std::string& folder) {
    const auto quota = read_proc_file(folder + "/cpu.cfs_quota_us"),
               period = read_proc_file(folder + "/cpu.cfs_period_us");
    if (!quota || !period) return {};
    const long long quota_us = std::atoll(quota->c_str()), period_us = std::atoll(period->c_str());
    if (quota_us <= 0 || period_us <= 0) return {};
    return static_cast<double>(quota_us) / static_cast<double>(period_us);
}

bool names_cpu(const std::string& controllers) {
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');)
        if (name == "cpu") return true;
    return false;
}

} // namespace

std::optional<std::string> affinity_list(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/self/status");
    return content ? field(*content, "Cpus_allowed_list") : std::nullopt;
}

std::optional<double> cgroup_cpu_quota(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/self/cgroup");
    if (!content) return {};
    std::optional<double> least;
    const auto take = [&](std::optional<double> quota) {
        if (quota && (!least || *quota < *least)) least = quota;
    };
    std::istringstream lines(*content);
    for (std::string line; std::getline(lines, line);) { // "0::/group", "4:cpu,cpuacct:/group"
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos || line[second + 1] != '/') continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
        const std::string root = machine.sys + "/fs/cgroup";
        if (controllers.empty()) {
            take(smallest(root, group, quota_v2));
            take(smallest(root + "/unified", group, quota_v2));
        } else if (names_cpu(controllers)) {
            take(smallest(root + "/cpu", group, quota_v1));
            if (controllers != "cpu") take(smallest(root + "/" + controllers, group, quota_v1));
        }
    }
    return least;
}

std::optional<double> cpus_allowed(const std::vector<std::string>& affinity_lists, std::optional<double> quota) {
    std::set<std::uint32_t> cpus;
    for (const std::string& list : affinity_lists) {
        const auto numbers = numbers_of_list(list);
        if (!numbers) return quota;
        cpus.insert(numbers->begin(), numbers->end());
    }
    if (cpus.empty()) return quota;
    const auto count = static_cast<double>(cpus.size());
    return quota ? std::min(count, *quota) : count;
}

} // namespace feedbench::probes
