// Operations on names: look-up, making and removing entries, rename.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "storage/feedfs/mount/reply.hpp"

namespace feedbench::feedfs::mount {

namespace {

Owner owner_of(fuse_req_t request) {
    const fuse_ctx& who = *fuse_req_ctx(request);
    return {who.uid, who.gid};
}

void look_up(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Door& door = door_of(request);
    Expected<Inode> found = door.find(parent, name);
    if (!found) return reply_error(request, found.error());
    reply_entry(request, door, std::move(*found), parent, name);
}

void forget(fuse_req_t request, fuse_ino_t node, std::uint64_t times) {
    door_of(request).forget(node, times);
    fuse_reply_none(request);
}

void forget_many(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
    for (std::size_t i = 0; i < count; ++i) door_of(request).forget(forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(request);
}

void make_directory(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
    Door& door = door_of(request);
    const Expected<Inode> made =
        door.files.make_directory(parent, name, door.new_entry(parent, mode, owner_of(request), true));
    if (!made) return reply_error(request, made.error());
    reply_entry(request, door, *made, parent, name);
}

void make_link(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
    Door& door = door_of(request);
    const Expected<Inode> made =
        door.files.make_symlink(parent, name, target, door.new_entry(parent, 0777, owner_of(request), false));
    if (!made) return reply_error(request, made.error());
    reply_entry(request, door, *made, parent, name);
}

void make_node(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
    Door& door = door_of(request);
    if (!S_ISREG(mode)) return void(fuse_reply_err(request, EPERM)); // mknod(2): the filesystem has no such type
    if (door.find(parent, name)) return void(fuse_reply_err(request, EEXIST));
    const Expected<PendingPointer> file =
        door.create(parent, name, door.new_entry(parent, mode, owner_of(request), false), true);
    if (!file) return reply_error(request, file.error());
    Inode inode;
    {
        std::lock_guard io((*file)->io);
        inode = (*file)->attributes();
    }
    reply_entry(request, door, inode, parent, name);
    door.pending.enqueue_if_closed(*file);
}

void hard_link(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) {
    fuse_reply_err(request, EPERM); // link(2): the filesystem has no hard links
}

void unlink_name(fuse_req_t request, fuse_ino_t parent, const char* name) {
    reply_status(request, door_of(request).unlink(parent, name));
}

void remove_directory(fuse_req_t request, fuse_ino_t parent, const char* name) {
    reply_status(request, door_of(request).remove_directory(parent, name));
}

void rename_name(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
                 unsigned flags) {
    if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) return void(fuse_reply_err(request, EINVAL));
    reply_status(request,
                 door_of(request).rename({parent, name, new_parent, new_name, (flags & RENAME_NOREPLACE) == 0}));
}

} // namespace

void set_name_operations(fuse_lowlevel_ops& table) {
    table.lookup = look_up;
    table.forget = forget;
    table.forget_multi = forget_many;
    table.mkdir = make_directory;
    table.symlink = make_link;
    table.mknod = make_node;
    table.link = hard_link;
    table.unlink = unlink_name;
    table.rmdir = remove_directory;
    table.rename = rename_name;
}

} // namespace feedbench::feedfs::mount
