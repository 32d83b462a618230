#include "storage/feedfs/mount/ring_reads.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace feedbench::feedfs::mount {

namespace {

timespec timespec_of(std::int64_t ns) {
    std::int64_t whole = ns / 1'000'000'000, rest = ns % 1'000'000'000;
    if (rest < 0) rest += 1'000'000'000, --whole;
    return {.tv_sec = whole, .tv_nsec = rest};
}

mode_t kind_of(InodeType type) {
    switch (type) {
    case InodeType::directory:
        return S_IFDIR;
    case InodeType::symlink:
        return S_IFLNK;
    case InodeType::file:
        break;
    }
    return S_IFREG;
}

} // namespace

struct stat stat_of(const Inode& inode, bool removed) {
    struct stat out {};
    out.st_ino = inode.id;
    out.st_mode = kind_of(inode.type) | (inode.mode & 07777);
    out.st_nlink = removed ? 0 : 1; // 1 for directories too: subdirectories are not counted
    out.st_uid = inode.uid;
    out.st_gid = inode.gid;
    out.st_size = static_cast<off_t>(inode.type == InodeType::directory ? 4096 : inode.size_bytes);
    out.st_blksize = kPreferredBytes;
    out.st_blocks = (out.st_size + 511) / 512;
    out.st_mtim = timespec_of(inode.mtime_ns);
    out.st_ctim = timespec_of(inode.ctime_ns);
    out.st_atim = timespec_of(inode.atime_ns);
    return out;
}

fuse_entry_param entry_of(const Inode& inode, const DoorOptions& options) {
    fuse_entry_param entry{};
    entry.ino = inode.id;
    entry.attr = stat_of(inode);
    entry.entry_timeout = options.entry_timeout_s;
    entry.attr_timeout = options.attribute_timeout_s;
    return entry;
}

int errno_of(const Error& error) { return error.errno_value > 0 ? error.errno_value : EIO; }

void reply_status(fuse_req_t request, const Status& status) {
    fuse_reply_err(request, status ? 0 : errno_of(status.error()));
}

void reply_error(fuse_req_t request, const Error& error) { fuse_reply_err(request, errno_of(error)); }

void reply_entry(fuse_req_t request, Door& door, Inode inode, InodeId parent, const std::string& name) {
    const InodeId node = inode.id;
    door.nodes.remember(node, parent, name);
    fuse_entry_param entry = entry_of(inode, door.options);
    // What is still being written changes without the kernel's doing: it asks each time.
    if (door.pending.by_node(node))
        entry.attr_timeout = 0;
    else
        door.nodes.keep(inode, door.options.now_ns());
    RingReads* const reads = RingReads::of_this_thread();
    if (!reads || !reads->looked_up(inode, parent, name)) door.looked_up(std::move(inode));
    if (fuse_reply_entry(request, &entry) != 0) door.nodes.forget(node, 1); // interrupted: it was not heard
}

} // namespace feedbench::feedfs::mount
