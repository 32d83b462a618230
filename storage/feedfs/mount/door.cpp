#include "storage/feedfs/mount/door.hpp"

#include <algorithm>
#include <cerrno>

namespace feedbench::feedfs::mount {

namespace {

bool is_usable(const PendingFile& file) { return file.writer || file.published; }

} // namespace

Expected<Inode> Door::find(InodeId parent, const std::string& name) {
    if (const PendingPointer file = pending.by_name(parent, name)) {
        std::lock_guard io(file->io);
        if (file->writer) return file->attributes();
    }
    Expected<Inode> found = files.lookup(parent, name);
    if (found) add_own_names(*found);
    return found;
}

void Door::add_own_names(Inode& inode) {
    if (inode.type != InodeType::directory) return;
    const std::int64_t named_ns = pending.last_named_ns(inode.id);
    inode.mtime_ns = std::max(inode.mtime_ns, named_ns);
    inode.ctime_ns = std::max(inode.ctime_ns, named_ns);
}

Expected<NodePlace> Door::place(InodeId node) {
    if (std::optional<NodePlace> known = nodes.place(node)) return std::move(*known);
    return storage_error("look-up", "inode " + std::to_string(node), ESTALE);
}

Expected<Inode> Door::attributes(InodeId node, bool* removed) {
    if (const PendingPointer file = pending.by_node(node)) {
        std::unique_lock io(file->io);
        if (is_usable(*file)) {
            Inode inode = file->attributes();
            const bool is_settled = !file->writer;
            if (removed) *removed = file->removed;
            io.unlock();
            if (is_settled) { // under its own number by now; this node stands for it as long as somebody has it open
                const std::optional<NodePlace> at = nodes.place(node);
                Expected<Inode> now =
                    at ? files.lookup(at->parent, at->name) : Expected<Inode>(storage_error("", {}, ESTALE));
                if (now && now->id == file->id)
                    inode = std::move(*now);
                else if (removed)
                    *removed = true;
            }
            inode.id = node;
            return inode;
        }
    }
    Expected<Inode> found = published_attributes(node, removed);
    if (found) add_own_names(*found);
    return found;
}

Expected<Inode> Door::published_attributes(InodeId node, bool* removed) {
    if (node == kRootInode) return files.root();
    if (std::optional<Inode> last = nodes.last_of_removed(node)) {
        if (removed) *removed = true;
        return std::move(*last);
    }
    Expected<NodePlace> at = place(node);
    if (!at) return at.error();
    Expected<Inode> found = files.lookup(at->parent, at->name);
    if (found && found->id == node) {
        nodes.keep(*found);
        return found;
    }
    if (!found && found.error().errno_value != ENOENT) return found;
    // Directories know where they are, however somebody else renamed them.
    if (const Expected<DirectoryRecord> record = files.locate_directory(node)) {
        nodes.moved(node, record->parent, record->name);
        return files.lookup(record->parent, record->name);
    }
    // Somebody else removed it, replaced it or gave it another name; here it may still be open.
    if (removed)
        if (std::optional<Inode> last = nodes.kept(node)) {
            *removed = true;
            return std::move(*last);
        }
    return storage_error("look-up", at->name, ESTALE);
}

Status Door::set_attributes(InodeId node, const AttributeChange& change) {
    bool also_published = true;
    if (const PendingPointer file = pending.by_node(node)) {
        std::lock_guard io(file->io);
        if (file->writer) {
            file->writer->set_attributes(change);
            if (file->removed || file->dirty) also_published = false;
        }
    }
    if (!also_published) return {};
    Expected<NodePlace> at = place(node);
    if (!at) return at.error();
    AttributeChange whole = change;
    const bool has_own_names =
        pending.last_named_ns(node) != 0; // a directory: what it shows by now goes into the volume
    if (has_own_names && !whole.mtime_ns)
        if (const Expected<Inode> shown = attributes(node)) whole.mtime_ns = shown->mtime_ns;
    const Expected<Inode> changed = files.set_attributes(at->parent, at->name, whole);
    if (!changed) return changed.error();
    if (has_own_names) pending.times_were_set(node);
    return {};
}

Status Door::set_size(InodeId node, std::uint64_t bytes, OpenFile* handle) {
    if (const PendingPointer file = handle ? pending_of(*handle) : pending.by_node(node)) {
        std::lock_guard io(file->io);
        if (file->writer) return file->set_size(bytes);
    }
    const Expected<Inode> inode = attributes(node);
    if (!inode) return inode.error();
    if (inode->type != InodeType::file) return storage_error("truncate", {}, EISDIR);
    if (bytes == inode->size_bytes) return {};
    if (bytes != 0)
        return storage_error("truncate", {}, EOPNOTSUPP,
                             "a published feedfs file keeps its size, or is replaced whole");
    const Expected<PendingPointer> file = replace(node);
    if (!file) return file.error();
    if (handle && handle->writing) return attach(*handle, *file);
    pending.enqueue_if_closed(*file);
    return {};
}

NewEntry Door::new_entry(InodeId parent, std::uint32_t mode, Owner owner, bool directory) {
    NewEntry entry{.mode = mode & 07777, .uid = owner.uid, .gid = owner.gid};
    if (const Expected<Inode> above = attributes(parent); above && (above->mode & 02000)) {
        entry.gid = above->gid;
        if (directory) entry.mode |= 02000;
    }
    return entry;
}

Expected<PendingPointer> Door::create(InodeId parent, const std::string& name, NewEntry entry, bool exclusive) {
    WriteOptions how;
    how.entry = entry;
    how.exclusive = exclusive;
    Expected<std::unique_ptr<Writer>> writer = files.create(parent, name, how);
    if (!writer) return writer.error();
    return pending.add(std::move(*writer), parent, name, 0);
}

Expected<PendingPointer> Door::replace(InodeId node) {
    const Expected<Inode> inode = attributes(node);
    if (!inode) return inode.error();
    const Expected<NodePlace> at = place(node);
    if (!at) return at.error();
    WriteOptions how;
    how.entry = {.mode = inode->mode, .uid = inode->uid, .gid = inode->gid};
    Expected<std::unique_ptr<Writer>> writer = files.create(at->parent, at->name, how);
    if (!writer) return writer.error();
    return pending.add(std::move(*writer), at->parent, at->name, node);
}

} // namespace feedbench::feedfs::mount
