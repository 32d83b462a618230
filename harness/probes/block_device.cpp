#include "harness/probes/block_device.hpp"

#include <cstdio>
#include <filesystem>

#include "harness/probes/proc_file.hpp"

namespace feedbench::probes {
namespace {

constexpr std::uint64_t kSectorBytes = 512;

std::string folder_of(const Machine& machine, std::uint32_t major, std::uint32_t minor) {
    return machine.sys + "/dev/block/" + std::to_string(major) + ":" + std::to_string(minor);
}

std::optional<std::string> first_line(const std::string& path) {
    auto content = read_proc_file(path);
    if (!content) return {};
    content->resize(std::min(content->find('\n'), content->size()));
    return content;
}

// The value behind "DEVNAME=" of a uevent file.
std::optional<std::string> device_name(const std::string& uevent) {
    constexpr std::string_view kKey = "DEVNAME=";
    const std::size_t at = uevent.find(kKey);
    if (at == std::string::npos) return {};
    const std::size_t start = at + kKey.size();
    return uevent.substr(start, uevent.find('\n', start) - start);
}

struct DiskstatsLine {
    std::string name;
    std::uint64_t sectors_read = 0, sectors_written = 0;
};
// For containers that do not show /sys.
std::optional<DiskstatsLine> diskstats_line(const Machine& machine, std::uint32_t major, std::uint32_t minor) {
    const auto content = read_proc_file(machine.proc + "/diskstats");
    if (!content) return {};
    for (std::size_t at = 0; at < content->size();) {
        const std::size_t end = std::min(content->find('\n', at), content->size());
        unsigned line_major = 0, line_minor = 0;
        unsigned long long read = 0, written = 0;
        char name[64] = {};
        if (std::sscanf(content->substr(at, end - at).c_str(), "%u %u %63s %*u %*u %llu %*u %*u %*u %llu", &line_major,
                        &line_minor, name, &read, &written) >= 4 &&
            line_major == major && line_minor == minor)
            return DiskstatsLine{name, read, written};
        at = end + 1;
    }
    return {};
}

std::optional<BlockDevice> device_in(const Machine& machine, const std::string& folder) {
    const auto numbers = first_line(folder + "/dev");
    unsigned major = 0, minor = 0;
    if (!numbers || std::sscanf(numbers->c_str(), "%u:%u", &major, &minor) != 2) return {};
    return block_device(machine, major, minor);
}

std::vector<std::string> entries(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    return names;
}

} // namespace

std::optional<BlockDevice> block_device(const Machine& machine, std::uint32_t major, std::uint32_t minor) {
    if (const auto uevent = read_proc_file(folder_of(machine, major, minor) + "/uevent"))
        if (auto name = device_name(*uevent)) return BlockDevice{major, minor, std::move(*name)};
    if (auto line = diskstats_line(machine, major, minor)) return BlockDevice{major, minor, std::move(line->name)};
    return {};
}

std::optional<BlockDevice> block_device_called(const Machine& machine, const std::string& path) {
    const std::string blocks = machine.sys + "/class/block/";
    if (!path.starts_with("/dev/")) return {};
    const std::string name = path.substr(path.find_last_of('/') + 1);
    if (!path.starts_with("/dev/mapper/")) return device_in(machine, blocks + name);
    for (const std::string& one : entries(blocks))
        if (one.starts_with("dm-") && first_line(blocks + one + "/dm/name") == name)
            return device_in(machine, blocks + one);
    return {};
}

std::vector<BlockDevice> btrfs_devices(const Machine& machine, const BlockDevice& one) {
    const std::string all = machine.sys + "/fs/btrfs/";
    for (const std::string& filesystem : entries(all)) {
        std::vector<BlockDevice> devices;
        bool is_ours = false;
        for (const std::string& name : entries(all + filesystem + "/devices")) {
            auto device = device_in(machine, machine.sys + "/class/block/" + name);
            if (!device) continue;
            is_ours = is_ours || *device == one;
            devices.push_back(std::move(*device));
        }
        if (is_ours) return devices;
    }
    return {one};
}

std::optional<std::uint64_t> bytes_read(const Machine& machine, const BlockDevice& device) {
    if (const auto stat = read_proc_file(folder_of(machine, device.major, device.minor) + "/stat")) {
        unsigned long long sectors = 0;
        if (std::sscanf(stat->c_str(), "%*u %*u %llu", &sectors) == 1) return sectors * kSectorBytes;
    }
    if (const auto line = diskstats_line(machine, device.major, device.minor)) return line->sectors_read * kSectorBytes;
    return {};
}

std::optional<std::uint64_t> bytes_written(const Machine& machine, const BlockDevice& device) {
    if (const auto stat = read_proc_file(folder_of(machine, device.major, device.minor) + "/stat")) {
        unsigned long long sectors = 0;
        if (std::sscanf(stat->c_str(), "%*u %*u %*u %*u %*u %*u %llu", &sectors) == 1) return sectors * kSectorBytes;
    }
    if (const auto line = diskstats_line(machine, device.major, device.minor))
        return line->sectors_written * kSectorBytes;
    return {};
}

bool is_memory_device(const BlockDevice& device) {
    return device.major == 1 || device.name.starts_with("zram"); // 1: ram disks
}

std::optional<std::string> loop_backing_file(const Machine& machine, const BlockDevice& device) {
    return first_line(folder_of(machine, device.major, device.minor) + "/loop/backing_file");
}

} // namespace feedbench::probes
