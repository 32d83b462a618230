#include "harness/probes/remote_host.hpp"

#include <algorithm>
#include <array>

namespace feedbench::probes {
namespace {

constexpr const char* kRdma = "RDMA passes the counters of the network interface by";

// "a", "[::1]:6789", "1.2.3.4:6789", "user@a"
std::string host_alone(std::string text) {
    if (const std::size_t at = text.find_last_of('@'); at != std::string::npos) text.erase(0, at + 1);
    if (text.starts_with('[')) return text.substr(1, text.find(']') - 1);
    if (std::count(text.begin(), text.end(), ':') == 1) text.resize(text.find(':'));
    return text;
}

RemoteHost found(std::string host) {
    if (host.empty()) return {{}, "its mount names no server"};
    return {std::move(host), {}};
}

// 10.0.0.1@tcp:10.0.0.2@tcp:/name; the first is as good as any: clients of one filesystem sit on one network.
RemoteHost lustre_host(const std::string& device) {
    const std::string first = device.substr(0, std::min(device.find(":/"), device.find(':')));
    const std::size_t at = first.find('@');
    if (at != std::string::npos && !first.substr(at + 1).starts_with("tcp")) return {{}, kRdma};
    return found(first.substr(0, at));
}

RemoteHost ceph_host(const storage::Mount& mount) {
    // mon_addr=1.2.3.4:6789/1.2.3.5:6789 in the newer form; 1.2.3.4:6789,1.2.3.5:6789:/path in the older
    const auto monitors = storage::option_values(mount, "mon_addr");
    std::string first = monitors.empty() ? mount.device : monitors.front();
    if (monitors.empty()) first.resize(std::min(first.find(":/"), first.size()));
    first.resize(std::min(first.find_first_of(",/"), first.size()));
    return found(host_alone(first));
}

} // namespace

RemoteHost remote_host(const storage::Mount& mount) {
    const std::string &type = mount.type, &device = mount.device;
    for (const char* key : {"proto", "rdma"})
        for (const std::string& value : storage::option_values(mount, key))
            if (value.starts_with("rdma")) return {{}, kRdma};
    if (const auto address = storage::option_values(mount, "addr"); !address.empty()) return found(address.front());
    if (type == "9p" || type == "virtiofs")
        return {{}, type + " comes from the machine that this one runs on, and nothing counts its bytes on this side"};
    if (type == "lustre") return lustre_host(device);
    if (type == "ceph") return ceph_host(mount);
    if (device.starts_with("//")) return found(device.substr(2, device.find('/', 2) - 2));
    // "server:/export", "user@host:dir", "[fe80::1]:/export"
    std::size_t end = device.starts_with('[') ? device.find("]:") : device.find(':');
    if (end != std::string::npos && end > 0 && device.find('/') > end)
        return found(host_alone(device.substr(0, device.starts_with('[') ? end + 1 : end)));
    if (type.starts_with("fuse")) return {{}, "only the FUSE daemon of " + type + " knows where its bytes come from"};
    return {{}, "a mount of " + type + " does not say which server its bytes come from"};
}

} // namespace feedbench::probes
