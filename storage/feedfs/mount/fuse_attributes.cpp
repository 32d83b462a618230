// Operations on attributes of nodes, targets of links, and the volume's own figures.
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "storage/feedfs/mount/reply.hpp"

namespace feedbench::feedfs::mount {

namespace {

void reply_attributes(fuse_req_t request, Door& door, fuse_ino_t node) {
    bool removed = false;
    const Expected<Inode> inode = door.attributes(node, &removed);
    if (!inode) return reply_error(request, inode.error());
    const struct stat out = stat_of(*inode, removed);
    // What is still being written changes without the kernel's doing: it asks each time.
    const bool changing = door.pending.by_node(node) != nullptr;
    fuse_reply_attr(request, &out, changing ? 0 : door.options.attribute_timeout_s);
}

void get_attributes(fuse_req_t request, fuse_ino_t node, fuse_file_info*) {
    reply_attributes(request, door_of(request), node);
}

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

void set_attributes(fuse_req_t request, fuse_ino_t node, struct stat* wanted, int which, fuse_file_info* info) {
    Door& door = door_of(request);
    if (which & FUSE_SET_ATTR_SIZE) {
        OpenFile* handle = info && info->fh != 0 ? &file_of(*info) : nullptr;
        if (Status ok = door.set_size(node, static_cast<std::uint64_t>(wanted->st_size), handle); !ok)
            return reply_error(request, ok.error());
    }
    AttributeChange change;
    if (which & FUSE_SET_ATTR_MODE) change.mode = wanted->st_mode & 07777;
    if (which & FUSE_SET_ATTR_UID) change.uid = wanted->st_uid;
    if (which & FUSE_SET_ATTR_GID) change.gid = wanted->st_gid;
    const std::int64_t now = door.options.now_ns();
    if (which & FUSE_SET_ATTR_ATIME) change.atime_ns = ns_of(wanted->st_atim);
    if (which & FUSE_SET_ATTR_ATIME_NOW) change.atime_ns = now;
    if (which & FUSE_SET_ATTR_MTIME) change.mtime_ns = ns_of(wanted->st_mtim);
    if (which & FUSE_SET_ATTR_MTIME_NOW) change.mtime_ns = now;
    const bool given = change.mode || change.uid || change.gid || change.atime_ns || change.mtime_ns;
    if (given)
        if (Status ok = door.set_attributes(node, change); !ok) return reply_error(request, ok.error());
    reply_attributes(request, door, node);
}

void read_link(fuse_req_t request, fuse_ino_t node) {
    const Expected<Inode> inode = door_of(request).attributes(node);
    if (!inode) return reply_error(request, inode.error());
    if (inode->type != InodeType::symlink) return void(fuse_reply_err(request, EINVAL));
    fuse_reply_readlink(request, inode->symlink_target.c_str());
}

void volume_figures(fuse_req_t request, fuse_ino_t) {
    Door& door = door_of(request);
    const Expected<Space> space = door.files.space();
    if (!space) return reply_error(request, space.error());
    const auto counted = [](std::int64_t count) { return static_cast<fsblkcnt_t>(count < 0 ? 0 : count); };
    struct statvfs out {};
    out.f_bsize = out.f_frsize = kBlockBytes;
    out.f_blocks = space->total_bytes / kBlockBytes;
    out.f_bfree = out.f_bavail = space->free_bytes / kBlockBytes;
    // Entries cost no fixed number of anything: as many more as blocks are free.
    out.f_ffree = out.f_favail = out.f_bfree;
    out.f_files = out.f_ffree + 1 + counted(space->totals.files) + counted(space->totals.directories) +
                  counted(space->totals.symlinks);
    out.f_namemax = kNameBytesMax;
    fuse_reply_statfs(request, &out);
}

} // namespace

void set_attribute_operations(fuse_lowlevel_ops& table) {
    table.getattr = get_attributes;
    table.setattr = set_attributes;
    table.readlink = read_link;
    table.statfs = volume_figures;
}

} // namespace feedbench::feedfs::mount
