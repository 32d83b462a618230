// Door: names go, and change. The kernel holds the lock of each directory concerned, so a name is changed by one
// request at a time; the thread that publishes is kept out by each file's own lock.
#include <cerrno>

#include "storage/feedfs/mount/door.hpp"

namespace feedbench::feedfs::mount {

Status Door::unlink(InodeId parent, const std::string& name) {
    const PendingPointer file = pending.by_name(parent, name);
    std::unique_lock<std::mutex> io;
    if (file) io = std::unique_lock(file->io);
    const bool is_pending = file && file->writer;
    Expected<Inode> published = files.lookup(parent, name);
    if (!published && (published.error().errno_value != ENOENT || !is_pending)) return published.error();
    if (published) {
        if (Status ok = files.unlink(parent, name); !ok) return ok;
        nodes.removed(std::move(*published));
    }
    if (is_pending) pending.drop(file);
    io = {};
    return published ? Status() : files.touch_directory(parent); // the volume knew nothing of it
}

Status Door::remove_directory(InodeId parent, const std::string& name) {
    Expected<Inode> directory = files.lookup(parent, name);
    if (!directory) return directory.error();
    if (pending.any_in(directory->id)) return storage_error("rmdir", name, ENOTEMPTY);
    if (Status ok = files.remove_directory(parent, name); !ok) return ok;
    nodes.removed(std::move(*directory));
    return {};
}

Status Door::rename(const Rename& names) {
    if (names.from_parent == names.to_parent && names.from_name == names.to_name) return {};
    if (!names.may_replace && find(names.to_parent, names.to_name))
        return storage_error("rename", names.to_name, EEXIST);
    const PendingPointer moved = pending.by_name(names.from_parent, names.from_name);
    const PendingPointer replaced = pending.by_name(names.to_parent, names.to_name);
    // Both, for as long as it takes: neither is published in between, under a name that is the other's by then.
    std::unique_lock<std::mutex> moved_io, replaced_io;
    if (moved) moved_io = std::unique_lock(moved->io, std::defer_lock);
    if (replaced) replaced_io = std::unique_lock(replaced->io, std::defer_lock);
    if (moved && replaced)
        std::lock(moved_io, replaced_io);
    else if (moved)
        moved_io.lock();
    else if (replaced)
        replaced_io.lock();
    const bool is_pending = moved && moved->writer;
    Expected<Inode> target = files.lookup(names.to_parent, names.to_name);
    const Expected<Inode> source = files.lookup(names.from_parent, names.from_name);
    if (!source && (source.error().errno_value != ENOENT || !is_pending)) return source.error();
    if (source) {
        const FileSystem::Rename change{names.from_parent, names.from_name, names.to_parent, names.to_name,
                                        names.may_replace};
        if (Status ok = files.rename(change); !ok) return ok;
        nodes.moved(source->id, names.to_parent, names.to_name);
    } else if (target && target->type == InodeType::directory) {
        return storage_error("rename", names.to_name, EISDIR);
    }
    if (replaced && replaced->writer) pending.drop(replaced);
    if (is_pending) {
        pending.rename(moved, names.to_parent, names.to_name);
        nodes.moved(moved->id, names.to_parent, names.to_name);
    }
    if (target) nodes.removed(std::move(*target));
    if (!source && names.from_parent != names.to_parent) return files.touch_directory(names.from_parent);
    return {};
}

} // namespace feedbench::feedfs::mount
