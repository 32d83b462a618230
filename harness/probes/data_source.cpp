#include "harness/probes/data_source.hpp"

#include <algorithm>

#include "harness/probes/network_interface.hpp"
#include "harness/probes/proc_file.hpp"
#include "harness/probes/remote_host.hpp"
#include "storage/mounts.hpp"

namespace feedbench::probes {
namespace {

constexpr int kDeepest = 4; // layers upon layers: an overlay on a loop device on btrfs

DataSource below(const Machine& machine, const std::string& mountinfo, const std::string& path, int depth);

std::string place(const storage::Mount& mount) { return " (" + mount.type + " on " + mount.mount_point + ")"; }

DataSource uncounted(std::string kind, const storage::Mount& mount, std::string reason) {
    DataSource source;
    source.kind = std::move(kind);
    source.name = mount.type + " on " + mount.mount_point;
    source.reason = std::move(reason);
    return source;
}

DataSource network(const Machine& machine, std::string what, const std::string& host) {
    DataSource source;
    source.kind = "network";
    const auto interface = interface_to(machine, host);
    if (!interface) {
        source.name = std::move(what);
        source.reason = "no route says which interface reaches " + host;
        return source;
    }
    source.interface = *interface;
    source.name = *interface + " (" + what + ")";
    if (!bytes_received(machine, *interface)) source.reason = "the interface " + *interface + " has no counter";
    return source;
}

DataSource remote(const Machine& machine, const storage::Mount& mount) {
    const RemoteHost server = remote_host(mount);
    if (server.host.empty()) return uncounted("network", mount, server.reason);
    return network(machine, mount.type + " from " + mount.device, server.host);
}

// The layers of an overlay that lie elsewhere; reads come from any of them.
std::vector<std::string> overlay_layers(const storage::Mount& mount) {
    std::vector<std::string> layers;
    for (const char* key : {"upperdir", "lowerdir+", "datadir+"})
        for (std::string& layer : storage::option_values(mount, key)) layers.push_back(std::move(layer));
    for (const std::string& list : storage::option_values(mount, "lowerdir")) {
        std::string layer;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == '\\' && i + 1 < list.size())
                layer += list[++i]; // "\:" is a colon of the name
            else if (list[i] != ':')
                layer += list[i];
            else if (!layer.empty()) // "::" separates data-only layers
                layers.push_back(std::exchange(layer, {}));
        }
        if (!layer.empty()) layers.push_back(std::move(layer));
    }
    return layers;
}

void add_devices(DataSource& to, const DataSource& from) {
    for (const BlockDevice& device : from.devices)
        if (std::find(to.devices.begin(), to.devices.end(), device) == to.devices.end()) to.devices.push_back(device);
}

std::string names_of(const std::vector<BlockDevice>& devices) {
    std::string names;
    for (const BlockDevice& device : devices) names += (names.empty() ? "" : "+") + device.name;
    return names;
}

DataSource overlay(const Machine& machine, const std::string& mountinfo, const storage::Mount& mount, int depth) {
    DataSource sum;
    sum.kind = "block";
    for (const std::string& layer : overlay_layers(mount)) {
        if (storage::find_mount(mountinfo, layer).mount_point == mount.mount_point || !layer.starts_with('/'))
            return uncounted("block", mount, "its layer " + layer + " lies outside of what this process can see");
        const DataSource one = below(machine, mountinfo, layer, depth + 1);
        if (one.kind == "memory") continue; // such a layer adds no bytes, and no counter
        if (one.kind != "block" || !one.reason.empty())
            return uncounted(one.kind, mount,
                             "its layer " + layer + " lies on " + one.name +
                                 (one.reason.empty() ? ", which is no disk" : ": " + one.reason));
        add_devices(sum, one);
    }
    if (sum.devices.empty()) return uncounted("memory", mount, "no layer of it lies on a device");
    sum.name = names_of(sum.devices) + place(mount);
    return sum;
}

DataSource on_device(const Machine& machine, const std::string& mountinfo, const storage::Mount& mount,
                     std::vector<BlockDevice> devices, int depth) {
    if (!storage::option_values(mount, "dax").empty() || ("," + mount.options + ",").find(",dax,") != std::string::npos)
        return uncounted("block", mount, "it is mounted with dax: reads pass the block layer and its counters by");
    if (devices.size() == 1) {
        // Pages of the file behind a loop device may be in memory: what counts is what comes from below that file.
        if (const auto file = loop_backing_file(machine, devices.front())) {
            DataSource source = below(machine, mountinfo, *file, depth + 1);
            source.name = devices.front().name + place(mount) + " in " + *file + " on " + source.name;
            return source;
        }
        if (is_memory_device(devices.front())) {
            DataSource source = uncounted("memory", mount, "a disk in memory: nothing lies below it");
            source.name = devices.front().name + place(mount);
            return source;
        }
    }
    DataSource source;
    source.kind = "block";
    source.devices = std::move(devices);
    source.name = names_of(source.devices) + place(mount);
    if (!bytes_so_far(machine, source)) source.reason = "the kernel gives no statistics of " + names_of(source.devices);
    return source;
}

DataSource below(const Machine& machine, const std::string& mountinfo, const std::string& path, int depth) {
    const storage::Mount mount = storage::find_mount(mountinfo, path);
    if (mount.type.empty()) return uncounted("none", mount, "no mount point holds " + path);
    if (depth > kDeepest) return uncounted("none", mount, "more layers than can be followed");
    if (storage::is_memory_filesystem(mount.type))
        return uncounted("memory", mount, mount.type + " is memory: nothing lies below it");
    if (storage::is_network_filesystem(mount.type)) return remote(machine, mount);
    if (mount.type == "overlay") return overlay(machine, mountinfo, mount, depth);
    if (mount.type == "zfs") return uncounted("block", mount, "zfs does not say which devices its pool reads");
    std::optional<BlockDevice> device;
    if (mount.major != 0) device = block_device(machine, mount.major, mount.minor);
    if (!device) device = block_device_called(machine, mount.device);
    if (!device)
        return uncounted("block", mount, "the kernel does not say which device " + mount.device + " stands for");
    const bool is_btrfs = mount.type == "btrfs";
    return on_device(machine, mountinfo, mount,
                     is_btrfs ? btrfs_devices(machine, *device) : std::vector<BlockDevice>{*device}, depth);
}

} // namespace

DataSource data_source(const Machine& machine, const std::string& real_path) {
    const auto mountinfo = read_proc_file(machine.proc + "/self/mountinfo");
    if (!mountinfo) return uncounted("none", {}, "/proc/self/mountinfo cannot be read");
    return below(machine, *mountinfo, real_path, 0);
}

DataSource data_source_of_host(const Machine& machine, const std::string& host) {
    return network(machine, "from " + host, host);
}

namespace {

std::optional<std::uint64_t> sum_over(const Machine& machine, const std::vector<BlockDevice>& devices,
                                      std::optional<std::uint64_t> (*of)(const Machine&, const BlockDevice&)) {
    if (devices.empty()) return {};
    std::uint64_t sum = 0;
    for (const BlockDevice& device : devices) {
        const auto one = of(machine, device);
        if (!one) return {};
        sum += *one;
    }
    return sum;
}

} // namespace

std::optional<std::uint64_t> bytes_so_far(const Machine& machine, const DataSource& source) {
    if (!source.reason.empty()) return {};
    if (!source.interface.empty()) return bytes_received(machine, source.interface);
    return sum_over(machine, source.devices, bytes_read);
}

std::optional<std::uint64_t> bytes_out_so_far(const Machine& machine, const DataSource& source) {
    if (!source.reason.empty()) return {};
    if (!source.interface.empty()) return bytes_sent(machine, source.interface);
    return sum_over(machine, source.devices, bytes_written);
}

std::optional<std::uint64_t> process_read_bytes(const Machine& machine) {
    const auto content = read_proc_file(machine.proc + "/self/io");
    if (!content) return {};
    const auto text = field(*content, "read_bytes");
    if (!text || text->empty() || text->find_first_not_of("0123456789") != std::string::npos) return {};
    return std::strtoull(text->c_str(), nullptr, 10);
}

} // namespace feedbench::probes
