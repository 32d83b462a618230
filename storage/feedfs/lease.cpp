#include "storage/feedfs/lease.hpp"

#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "storage/feedfs/object_target.hpp"

namespace feedbench::feedfs {

namespace {

std::string first_line(const char* path) {
    std::ifstream stream(path);
    std::string line;
    std::getline(stream, line);
    return line;
}

// Field 22 of /proc/self/stat; the second is in brackets and may hold blanks.
std::uint64_t start_of_this_process() {
    const std::string line = first_line("/proc/self/stat");
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos) return 0;
    std::istringstream fields(line.substr(bracket + 1));
    std::string field;
    for (int number = 3; number < 22; ++number) fields >> field;
    std::uint64_t start = 0;
    fields >> start;
    return start;
}

} // namespace

LeaseRecord lease_of_this_process(const std::string& purpose, std::int64_t expires_ns) {
    LeaseRecord lease;
    char host[HOST_NAME_MAX + 1] = {};
    if (::gethostname(host, sizeof host - 1) == 0) lease.host = host;
    lease.boot_id = first_line("/proc/sys/kernel/random/boot_id");
    lease.pid = static_cast<std::uint64_t>(::getpid());
    lease.pid_start = start_of_this_process();
    lease.expires_ns = expires_ns;
    lease.purpose = purpose;
    return lease;
}

std::vector<std::shared_ptr<Target>> make_targets(const VolumeConfig& volume) {
    std::vector<std::shared_ptr<Target>> targets;
    for (const TargetConfig& config : volume.targets) {
        if (config.tier == Tier::fast)
            targets.push_back(make_directory_target(config, volume.absolute_place(config.place)));
        else
            targets.push_back(make_object_target(config, volume));
    }
    return targets;
}

} // namespace feedbench::feedfs
