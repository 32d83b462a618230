// Block devices as the kernel numbers them, and how many bytes were read from one or written to it.
//
// Thread: any. Owner: none. Units: bytes. Errors: nullopt where the machine does not know the device.
// Source: the kernel's block/stat.rst (fields 3 and 7: sectors read and written, of 512 bytes whatever its own are),
// iostats.rst (/proc/diskstats), sysfs-block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/probes/probe.hpp"

namespace feedbench::probes {

struct BlockDevice {
    std::uint32_t major = 0, minor = 0;
    std::string name; // "nvme0n1p2", "dm-0"
    bool operator==(const BlockDevice& other) const { return major == other.major && minor == other.minor; }
};

std::optional<BlockDevice> block_device(const Machine& machine, std::uint32_t major, std::uint32_t minor);
// "/dev/sda2", "/dev/mapper/vg-data": what mountinfo calls it.
std::optional<BlockDevice> block_device_called(const Machine& machine, const std::string& path);
// All devices of the btrfs filesystem that has this one; only itself where that cannot be told.
std::vector<BlockDevice> btrfs_devices(const Machine& machine, const BlockDevice& one);
// Since boot. Reads that the page cache answered are not in it.
std::optional<std::uint64_t> bytes_read(const Machine& machine, const BlockDevice& device);
// Likewise; pages that still wait in the page cache are not in it.
std::optional<std::uint64_t> bytes_written(const Machine& machine, const BlockDevice& device);

bool is_memory_device(const BlockDevice& device); // ram0, zram0
// The file behind a loop device.
std::optional<std::string> loop_backing_file(const Machine& machine, const BlockDevice& device);

} // namespace feedbench::probes
