// Where the bytes of a folder come from on this host: the block devices or the interface below it, and their counters.
//
// Thread: any; data_source may look up a host name. Owner: the caller. Units: bytes. Errors: what cannot be counted is
// a reason, never a guess. Source: DESIGN section 8 (cache evidence); proc(5) mountinfo; overlay, btrfs, zfs and
// network filesystems have no device number of their own, so that their mount options and sources say it.
#pragma once

#include <string>
#include <vector>

#include "harness/probes/block_device.hpp"

namespace feedbench::probes {

struct DataSource {
    std::string kind = "none"; // CacheEvidence::source_kind: block, network, memory, none
    std::string name;          // "vda (ext4 on /data)", "eth0 (nfs4 from 10.0.0.1:/data)"
    std::string reason;        // why its bytes cannot be counted; empty: they can
    std::vector<BlockDevice> devices;
    std::string interface;
};

// `real_path`: absolute, without symbolic links.
DataSource data_source(const Machine& machine, const std::string& real_path);
// Of a server that no mount stands for (an object store).
DataSource data_source_of_host(const Machine& machine, const std::string& host);

// Bytes that came from there since boot; the difference of two is what came in between, for whoever read it.
std::optional<std::uint64_t> bytes_so_far(const Machine& machine, const DataSource& source);
// Bytes that went there since boot, likewise: what is written back later is not in it yet.
std::optional<std::uint64_t> bytes_out_so_far(const Machine& machine, const DataSource& source);
// read_bytes of /proc/self/io: what the block layer fetched for this process, O_DIRECT included.
std::optional<std::uint64_t> process_read_bytes(const Machine& machine);

} // namespace feedbench::probes
