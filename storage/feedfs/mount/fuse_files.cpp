// Operations on open files.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include <cerrno>

#include "storage/feedfs/mount/ring_reads.hpp"

namespace feedbench::feedfs::mount {

namespace {

// How the kernel may cache it. A published file never changes under its inode number, so what the kernel holds of it
// stays good; what is being written by others is not cached at all.
void set_caching(const OpenFile& handle, fuse_file_info& info) {
    if (handle.pending && !handle.writing)
        info.direct_io = 1;
    else if (!handle.pending)
        info.keep_cache = 1;
    info.noflush = handle.writing ? 0 : 1;
}

void open_file(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    Door& door = door_of(request);
    if (door.options.open_needs_no_call) return void(fuse_reply_err(request, ENOSYS));
    Expected<std::unique_ptr<OpenFile>> opened = door.open(node, info->flags);
    if (!opened) return reply_error(request, opened.error());
    OpenFile* handle = opened->release();
    set_caching(*handle, *info);
    info->fh = reinterpret_cast<std::uint64_t>(handle);
    if (fuse_reply_open(request, info) != 0) { // interrupted: nobody will close it
        door.close(*handle);
        delete handle;
    }
}

void create_file(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
    Door& door = door_of(request);
    Expected<Inode> there = door.find(parent, name);
    if (there && (info->flags & O_EXCL)) return void(fuse_reply_err(request, EEXIST));
    if (!there && there.error().errno_value != ENOENT) return reply_error(request, there.error());
    std::unique_ptr<OpenFile> handle;
    Inode inode;
    if (there) { // another client was quicker
        door.nodes.remember(there->id, parent, name);
        Expected<std::unique_ptr<OpenFile>> opened = door.open(there->id, info->flags);
        if (!opened) {
            door.nodes.forget(there->id, 1);
            return reply_error(request, opened.error());
        }
        handle = std::move(*opened);
        inode = *there;
    } else {
        const fuse_ctx& who = *fuse_req_ctx(request);
        const Expected<PendingPointer> file = door.create(
            parent, name, door.new_entry(parent, mode, {who.uid, who.gid}, false), (info->flags & O_EXCL) != 0);
        if (!file) return reply_error(request, file.error());
        handle = door.open_pending(*file, (*file)->id, (info->flags & O_ACCMODE) != O_RDONLY);
        std::lock_guard io((*file)->io);
        inode = (*file)->attributes();
        door.nodes.remember(inode.id, parent, name);
    }
    set_caching(*handle, *info);
    info->fh = reinterpret_cast<std::uint64_t>(handle.get());
    fuse_entry_param entry = entry_of(inode, door.options);
    entry.attr_timeout = 0;
    if (fuse_reply_create(request, &entry, info) != 0) {
        door.nodes.forget(inode.id, 1);
        door.close(*handle);
        return;
    }
    handle.release(); // until release_file
}

void read_file(fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset, fuse_file_info* info) {
    Door& door = door_of(request);
    const ReadRequest asked{request, node, static_cast<std::uint64_t>(offset), size};
    if (RingReads* reads = RingReads::of_this_thread())
        reads->begin(asked);
    else
        answer_read(door, asked, door.options.open_needs_no_call ? nullptr : &file_of(*info));
}

void write_file(fuse_req_t request, fuse_ino_t, const char* data, std::size_t size, off_t offset,
                fuse_file_info* info) {
    const Status ok = door_of(request).write(file_of(*info), static_cast<std::uint64_t>(offset),
                                             std::as_bytes(std::span(data, size)));
    if (!ok) return reply_error(request, ok.error());
    fuse_reply_write(request, size);
}

void flush_file(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    Door& door = door_of(request);
    // Nothing is written in this mount: the kernel need not tell of closes any more.
    if (door.options.open_needs_no_call) return void(fuse_reply_err(request, ENOSYS));
    reply_status(request, door.closing(file_of(*info)));
}

void release_file(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    if (info->fh != 0) {
        const std::unique_ptr<OpenFile> handle(&file_of(*info));
        door_of(request).close(*handle);
    }
    fuse_reply_err(request, 0);
}

void sync_file(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
    Door& door = door_of(request);
    if (info->fh == 0) return reply_status(request, door.pending.sync());
    reply_status(request, door.sync(file_of(*info)));
}

// Room is reserved segment by segment as it is written: a promise for one file alone would have nothing behind it, and
// what is asked for most (posix_fallocate of a file about to be written) is the size.
void reserve(fuse_req_t request, fuse_ino_t node, int mode, off_t offset, off_t length, fuse_file_info* info) {
    Door& door = door_of(request);
    if ((mode & ~FALLOC_FL_KEEP_SIZE) != 0) return void(fuse_reply_err(request, EOPNOTSUPP));
    const Expected<Inode> inode = door.attributes(node);
    if (!inode) return reply_error(request, inode.error());
    const auto end = static_cast<std::uint64_t>(offset + length);
    if ((mode & FALLOC_FL_KEEP_SIZE) != 0 || end <= inode->size_bytes) return void(fuse_reply_err(request, 0));
    reply_status(request, door.set_size(node, end, info->fh != 0 ? &file_of(*info) : nullptr));
}

} // namespace

void set_file_operations(fuse_lowlevel_ops& table) {
    table.open = open_file;
    table.create = create_file;
    table.read = read_file;
    table.write = write_file;
    table.flush = flush_file;
    table.release = release_file;
    table.fsync = sync_file;
    table.fallocate = reserve;
}

} // namespace feedbench::feedfs::mount
