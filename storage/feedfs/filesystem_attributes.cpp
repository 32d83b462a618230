// Attributes of entries, and the times of directories.
#include <cerrno>

#include "storage/feedfs/filesystem_parts.hpp"

namespace feedbench::feedfs {

Expected<Inode> VolumeFileSystem::set_attributes(InodeId parent, std::string_view name, const AttributeChange& wanted) {
    const std::string key = entry_key(parent, name);
    Inode inode;
    auto status = change([&](ReadView& view, Batch& batch) -> Status {
        std::string value;
        auto found = get_entry(view, key, value, inode);
        if (!found) return found.error();
        if (!*found) return entry_error("setattr", name, ENOENT);
        if (auto timed = add_directory_times(view, inode); !timed) return timed; // they go on from there
        if (wanted.mode && inode.type != InodeType::symlink) inode.mode = *wanted.mode & 07777;
        if (wanted.uid) inode.uid = *wanted.uid;
        if (wanted.gid) inode.gid = *wanted.gid;
        if (wanted.atime_ns) inode.atime_ns = *wanted.atime_ns;
        if (wanted.mtime_ns) inode.mtime_ns = *wanted.mtime_ns;
        inode.ctime_ns = options_.now_ns();
        batch.require_equals(key, value);
        batch.put(key, encode_inode(inode));
        return {};
    });
    if (!status) return status.error();
    return inode;
}

Status VolumeFileSystem::touch_directory(InodeId directory) {
    return change([&](ReadView& view, Batch& batch) -> Status {
        auto there = view.get(directory_key(directory));
        if (!there) return there.error();
        if (!*there) return {}; // it went, too
        batch.require_present(directory_key(directory));
        feedfs::touch_directory(batch, directory, options_.now_ns());
        return {};
    });
}

} // namespace feedbench::feedfs
