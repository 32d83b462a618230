#include "storage/mounts.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace feedbench::storage {

namespace {

// mountinfo writes space, tab, newline and backslash as \040, \011, \012, \134.
std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
            out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else
            out += text[i];
    }
    return out;
}

std::string_view next_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

bool holds(std::string_view mount_point, std::string_view path) {
    if (mount_point == "/") return true;
    return path.starts_with(mount_point) && (path.size() == mount_point.size() || path[mount_point.size()] == '/');
}

std::string read_mountinfo() {
    std::ifstream file("/proc/self/mountinfo");
    return {std::istreambuf_iterator<char>(file), {}};
}

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (type == name) return true;
    return false;
}

// Where mountinfo is not to be had (a chroot without /proc).
std::string type_by_magic(long magic) {
    switch (static_cast<unsigned long>(magic) & 0xffffffffUL) {
    case 0xEF53:
        return "ext4";
    case 0x58465342:
        return "xfs";
    case 0x9123683E:
        return "btrfs";
    case 0x01021994:
        return "tmpfs";
    case 0x858458f6:
        return "ramfs";
    case 0x794c7630:
        return "overlay";
    case 0x6969:
        return "nfs";
    case 0xFE534D42:
    case 0xFF534D42:
        return "cifs";
    case 0x65735546:
        return "fuse";
    case 0x0BD00BD0:
        return "lustre";
    case 0x00c36400:
        return "ceph";
    case 0x47504653:
        return "gpfs";
    case 0x2fc12fc1:
        return "zfs";
    default:
        return "unknown";
    }
}

} // namespace

Mount find_mount(std::string_view mountinfo, std::string_view real_path) {
    Mount best;
    std::size_t best_length = 0;
    while (!mountinfo.empty()) {
        const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
        std::string_view line = mountinfo.substr(0, end);
        mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
        // id parent major:minor root MOUNT_POINT options optional... - TYPE DEVICE super_options
        for (int skipped = 0; skipped < 2; ++skipped) next_word(line);
        const std::string_view number = next_word(line);
        next_word(line);
        const std::string mount_point = unescaped(next_word(line));
        const std::string_view flags = next_word(line);
        // There may be no optional field between the flags and the dash.
        const std::size_t dash = line.starts_with("- ") ? 0 : line.find(" - ");
        if (mount_point.empty() || dash == std::string_view::npos) continue;
        if (!holds(mount_point, real_path) || mount_point.size() < best_length) continue;
        line.remove_prefix(dash == 0 ? 2 : dash + 3);
        best_length = mount_point.size();
        best.mount_point = mount_point;
        best.flags = std::string(flags);
        best.type = std::string(next_word(line));
        best.device = unescaped(next_word(line));
        best.options = std::string(next_word(line));
        best.major = best.minor = 0;
        const char* const number_end = number.data() + number.size();
        const auto colon = std::from_chars(number.data(), number_end, best.major).ptr;
        if (colon != number_end && *colon == ':') std::from_chars(colon + 1, number_end, best.minor);
    }
    return best;
}

std::vector<std::string> option_values(const Mount& mount, std::string_view key) {
    std::vector<std::string> values;
    for (std::string_view rest = mount.options; !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size()); // a comma in a value is written as \054
        const std::string_view one = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (one.starts_with(key) && one.size() > key.size() && one[key.size()] == '=')
            values.push_back(unescaped(one.substr(key.size() + 1)));
    }
    return values;
}

std::string shown_options(const Mount& mount) {
    std::vector<std::string_view> seen;
    std::string shown;
    for (std::string_view rest : {std::string_view(mount.flags), std::string_view(mount.options)})
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            const std::string_view one = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (one.empty() || std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
            seen.push_back(one);
            const std::string_view key = one.substr(0, one.find('='));
            const bool is_secret = key.size() < one.size() && (key.find("pass") != std::string_view::npos ||
                                                               key.find("secret") != std::string_view::npos);
            if (!shown.empty()) shown += ',';
            shown += is_secret ? std::string(key) + "=<hidden>" : unescaped(one);
        }
    return shown;
}

bool is_memory_filesystem(std::string_view type) {
    return is_one_of(type, {"tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs"});
}

bool is_network_filesystem(std::string_view type) {
    return (type.starts_with("fuse") && type != "fuseblk") ||
           is_one_of(type, {"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "gpfs", "beegfs", "9p", "afs", "virtiofs",
                            "glusterfs", "pvfs2", "wekafs", "ocfs2", "gfs2", "orangefs"});
}

Expected<Filesystem> filesystem_at(const std::string& path) {
    std::string there = path.empty() ? "/" : path;
    struct statfs status {};
    while (::statfs(there.c_str(), &status) != 0) {
        const int error = errno;
        const std::size_t slash = there.find_last_of('/');
        if ((error != ENOENT && error != ENOTDIR) || slash == std::string::npos || there == "/")
            return storage_error("statfs", path, error);
        there.resize(slash == 0 ? 1 : slash);
    }
    char real[PATH_MAX];
    const Mount mount = find_mount(read_mountinfo(), ::realpath(there.c_str(), real) ? real : there.c_str());
    Filesystem fs;
    fs.type = mount.type.empty() ? type_by_magic(status.f_type) : mount.type;
    fs.device = mount.device;
    fs.mount_point = mount.mount_point;
    fs.options = shown_options(mount);
    const auto block_bytes = static_cast<std::uint64_t>(status.f_frsize > 0 ? status.f_frsize : status.f_bsize);
    fs.free_bytes = status.f_bavail * block_bytes;
    fs.total_bytes = status.f_blocks * block_bytes;
    fs.free_inodes = status.f_files == 0 ? 0 : status.f_ffree;
    static_assert(sizeof status.f_fsid == sizeof fs.id);
    std::memcpy(&fs.id, &status.f_fsid, sizeof fs.id);
    if (struct stat file{}; fs.id == 0 && ::stat(there.c_str(), &file) == 0) fs.id = file.st_dev;
    fs.is_memory = is_memory_filesystem(fs.type);
    fs.is_network = fs.type == "fuseblk" || is_network_filesystem(fs.type); // a daemon answers there, too
    fs.buffers_odirect = fs.is_memory || fs.type == "zfs";
    return fs;
}

} // namespace feedbench::storage
