// Which filesystem a path lies on, as the kernel says.
//
// Thread: any. Owner: none. Units: bytes. Errors: storage_error where not even an ancestor of the path can be looked
// at. Source: statfs(2), proc(5) mountinfo; magic numbers of linux/magic.h and of the filesystems themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::storage {

struct Filesystem {
    std::string type;        // "ext4", "tmpfs", "nfs4", "fuse.sshfs", ...
    std::string device;      // "/dev/vda", "server:/export", "tmpfs"
    std::string mount_point; // "/"
    std::string options;     // "rw,relatime,addr=10.0.0.1"; what looks like a secret is hidden
    std::uint64_t id = 0;
    std::uint64_t free_bytes = 0, total_bytes = 0;
    std::uint64_t free_inodes = 0; // 0 = not said
    bool is_memory = false;        // tmpfs, ramfs: the page cache is the storage
    bool is_network = false;       // an open or a stat may take a round trip to a server (or to a FUSE daemon)
    bool buffers_odirect = false;  // takes O_DIRECT and may serve it from a cache all the same
};

// Of `path`, or of its nearest ancestor that exists.
Expected<Filesystem> filesystem_at(const std::string& path);

// The line of /proc/self/mountinfo (given as text) whose mount point holds `real_path`; the last of the longest ones.
struct Mount {
    std::string mount_point, type, device;
    std::string flags;                  // of this mount: "rw,relatime"
    std::string options;                // of the filesystem, as written there: "rw,addr=10.0.0.1"
    std::uint32_t major = 0, minor = 0; // of its device; major 0: a number that stands for no device
};
Mount find_mount(std::string_view mountinfo, std::string_view real_path);

// Values of an option, without the escapes of mountinfo; some may be there more than once ("lowerdir+").
std::vector<std::string> option_values(const Mount& mount, std::string_view key);

// What mount(8) shows: flags and options, each once; values of keys that name a secret are hidden.
std::string shown_options(const Mount& mount);

bool is_memory_filesystem(std::string_view type);  // the page cache is the storage
bool is_network_filesystem(std::string_view type); // FUSE included

} // namespace feedbench::storage
