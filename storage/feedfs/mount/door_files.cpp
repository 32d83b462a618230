// Door: files that programs have open.
#include <fcntl.h>

#include <cerrno>

#include "storage/feedfs/mount/door.hpp"

namespace feedbench::feedfs::mount {

namespace {

// Between a look-up and the open it was for. What is opened then is what was looked up, though it was replaced in
// between; later the kernel is sent to look again, and opens what is there by now.
constexpr std::int64_t kOpenFollowsNs = 100'000'000;

Error cannot_append() {
    return storage_error("open", {}, EOPNOTSUPP, "a feedfs file that was closed cannot be appended to");
}

} // namespace

std::unique_ptr<OpenFile> Door::open_pending(const PendingPointer& file, InodeId node, bool writing) {
    auto handle = std::make_unique<OpenFile>();
    handle->node = node;
    handle->writing = writing;
    handle->pending = file;
    pending.open(file, writing);
    return handle;
}

Expected<std::shared_ptr<ReadFile>> Door::open_published(InodeId node) {
    const Expected<NodePlace> at = place(node);
    if (!at) return at.error();
    Expected<std::shared_ptr<ReadFile>> file = files.open_read(at->parent, at->name);
    if (!file) {
        if (file.error().errno_value == ENOENT) return storage_error("open", at->name, ESTALE);
        return file.error();
    }
    // Somebody else put another file there: the kernel looks it up once more.
    if ((*file)->inode().id != node) return storage_error("open", at->name, ESTALE);
    return file;
}

Expected<std::shared_ptr<ReadFile>> Door::open_kept(InodeId node) {
    const std::optional<NodePlace> at = nodes.place(node);
    std::optional<Inode> last = at ? nodes.kept(node) : std::nullopt;
    if (!last || last->extents_in_pages) return storage_error("open", at ? at->name : std::string(), ESTALE);
    return files.open_read(std::move(*last), at->parent, at->name);
}

Expected<std::unique_ptr<OpenFile>> Door::open(InodeId node, int flags) {
    const bool writing = (flags & O_ACCMODE) != O_RDONLY;
    const bool truncating = writing && (flags & O_TRUNC) != 0;
    if (writing && files.read_only()) return storage_error("open", {}, EROFS);
    if (const PendingPointer file = pending.by_node(node)) {
        // Counted first: then it cannot lose its writer.
        std::unique_ptr<OpenFile> handle = open_pending(file, node, writing);
        MaybeError refused;
        {
            std::lock_guard io(file->io);
            if (file->writer || (!writing && file->published)) {
                Status ok;
                if (truncating) ok = file->set_size(0);
                if (ok && writing && (flags & O_APPEND) != 0 && !file->may_be_written()) ok = cannot_append();
                if (ok) return handle;
                refused = ok.error();
            }
        }
        pending.close(file, writing);
        if (refused) return *refused;
    }
    if (truncating) {
        const Expected<PendingPointer> file = replace(node);
        if (!file) return file.error();
        return open_pending(*file, node, true);
    }
    Expected<std::shared_ptr<ReadFile>> file = open_published(node);
    if (!file && !writing && file.error().errno_value == ESTALE &&
        options.now_ns() - nodes.looked_up_ns(node) < kOpenFollowsNs)
        file = open_kept(node);
    if (!file) return file.error();
    nodes.keep((*file)->inode());
    if (writing && (flags & O_APPEND) != 0 && (*file)->inode().size_bytes != 0) return cannot_append();
    auto handle = std::make_unique<OpenFile>();
    handle->node = node;
    handle->writing = writing;
    handle->file = std::move(*file);
    return handle;
}

void Door::close(OpenFile& handle) {
    if (handle.pending) pending.close(handle.pending, handle.writing);
}

PendingPointer Door::pending_of(OpenFile& handle) {
    {
        std::lock_guard lock(handle.mutex);
        if (handle.pending) return handle.pending;
    }
    return pending.by_node(handle.node);
}

Status Door::attach(OpenFile& handle, const PendingPointer& file) {
    std::lock_guard lock(handle.mutex);
    if (handle.pending) return {};
    handle.pending = file;
    pending.open(file, handle.writing);
    return {};
}

Expected<std::uint64_t> Door::read(OpenFile& handle, std::uint64_t offset, std::span<std::byte> into) {
    if (const PendingPointer file = pending_of(handle)) {
        std::lock_guard io(file->io);
        if (file->writer || file->published) return file->read(offset, into);
    }
    if (!handle.file) return storage_error("read", {}, ESTALE);
    Expected<std::uint64_t> got = handle.file->read(offset, into);
    if (got || got.error().errno_value != ESTALE) return got;
    // Compaction moved it while it was open: the entry says where it is now.
    const Expected<std::shared_ptr<ReadFile>> again = open_published(handle.node);
    return again ? (*again)->read(offset, into) : got;
}

void Door::looked_up(Inode inode) {
    if (options.open_needs_no_call && inode.type == InodeType::file && !inode.extents_in_pages)
        recent_entries_.keep(std::move(inode));
}

Expected<std::shared_ptr<ReadFile>> Door::file_of_node(InodeId node, std::uint64_t offset, std::uint64_t bytes) {
    if (std::shared_ptr<ReadFile> file = read_cache_.find(node)) return file;
    std::optional<Inode> entry = recent_entries_.take(node);
    std::optional<NodePlace> at = entry ? nodes.place(node) : std::nullopt;
    Expected<std::shared_ptr<ReadFile>> file =
        at ? files.open_read(std::move(*entry), at->parent, at->name) : open_published(node);
    if (!file && file.error().errno_value == ESTALE) file = open_kept(node);
    if (file && (offset != 0 || bytes < (*file)->inode().size_bytes)) read_cache_.keep(node, *file);
    return file;
}

Expected<std::uint64_t> Door::read_node(InodeId node, std::uint64_t offset, std::span<std::byte> into) {
    Expected<std::shared_ptr<ReadFile>> file = file_of_node(node, offset, into.size());
    if (!file) return file.error();
    Expected<std::uint64_t> got = (*file)->read(offset, into);
    if (got || got.error().errno_value != ESTALE) return got;
    // Compaction moved it while it was open: the entry says where it is now.
    read_cache_.forget(node);
    file = open_published(node);
    return file ? (*file)->read(offset, into) : got;
}

Status Door::write(OpenFile& handle, std::uint64_t offset, std::span<const std::byte> bytes) {
    PendingPointer file = pending_of(handle);
    if (!file) {
        if (!handle.file || handle.file->inode().size_bytes != 0)
            return storage_error("write", {}, EOPNOTSUPP, "a published feedfs file cannot be changed, only replaced",
                                 static_cast<std::int64_t>(offset));
        // An empty one has nothing that could be lost: touch first, write later.
        std::lock_guard one_only(begin_mutex_);
        file = pending_of(handle);
        if (!file) {
            Expected<PendingPointer> begun = replace(handle.node);
            if (!begun) return begun.error();
            file = std::move(*begun);
        }
    }
    if (Status ok = attach(handle, file); !ok) return ok;
    std::lock_guard io(file->io);
    return file->write(offset, bytes);
}

Status Door::closing(OpenFile& handle) {
    PendingPointer file;
    {
        std::lock_guard lock(handle.mutex);
        file = handle.pending;
    }
    if (!file || !handle.writing) return {};
    return pending.closing(file);
}

Status Door::sync(OpenFile& handle) {
    const PendingPointer file = pending_of(handle);
    return file ? pending.publish_now(file) : files.sync();
}

void Door::forget(InodeId node, std::uint64_t times) {
    if (!nodes.forget(node, times)) return;
    pending.forgotten(node);
    if (options.open_needs_no_call) read_cache_.forget(node);
}

void Door::complain(const char* operation, InodeId node, const Error& error) {
    if (!options.commits.log || error.errno_value == ESTALE) return;
    const std::optional<NodePlace> at = nodes.place(node);
    options.commits.log(std::string(operation) + " of '" + (at ? at->name : "inode " + std::to_string(node)) +
                        "': " + error.describe());
}

} // namespace feedbench::feedfs::mount
