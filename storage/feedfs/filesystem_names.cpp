// Names: looking up, listing, and what changes a directory. Each change is one conditional batch, built again where
// somebody else was faster.
#include <algorithm>
#include <cerrno>

#include "storage/feedfs/filesystem_parts.hpp"

namespace feedbench::feedfs {

namespace {
constexpr int kAttempts = 256;
constexpr std::size_t kDepthMost = 4096;
} // namespace

Error entry_error(const char* operation, std::string_view name, int error, std::string message) {
    return storage_error(operation, std::string(name), error, std::move(message));
}

Status check_name(std::string_view name) {
    if (name.size() > kNameBytesMax) return entry_error("name", name, ENAMETOOLONG);
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
        name.find('\0') != std::string_view::npos)
        return entry_error("name", name, EINVAL, "a name is 1 to 255 bytes without '/', and neither '.' nor '..'");
    return {};
}

Expected<bool> get_entry(ReadView& view, const std::string& key, std::string& value, Inode& inode, InodePart part) {
    auto bytes = view.get(key);
    if (!bytes) return bytes.error();
    if (!*bytes) return false;
    value = **bytes;
    if (auto status = decode_inode(value, inode, part); !status) return status.error();
    return true;
}

Expected<Inode> VolumeFileSystem::root() { return lookup(0, ""); }

Expected<Inode> VolumeFileSystem::lookup(InodeId parent, std::string_view name) {
    if (name.size() > kNameBytesMax) return entry_error("lookup", name, ENAMETOOLONG);
    auto view = metadata_->read();
    if (!view) return view.error();
    auto bytes = (*view)->get(entry_key(parent, name));
    if (!bytes) return bytes.error();
    if (!*bytes) return entry_error("lookup", name, ENOENT);
    Inode inode;
    if (auto status = decode_inode(**bytes, inode); !status) return status.error();
    if (auto status = add_directory_times(**view, inode); !status) return status.error();
    return inode;
}

Expected<DirectoryRecord> VolumeFileSystem::locate_directory(InodeId directory) {
    std::string value;
    auto found = metadata_->get(directory_key(directory), value);
    if (!found) return found.error();
    if (!*found) return entry_error("lookup", std::to_string(directory), ENOENT, "there is no such directory");
    return decode_directory(value);
}

Status VolumeFileSystem::read_directory(InodeId directory, std::string_view after, std::size_t limit,
                                        std::vector<DirectoryEntry>& entries) {
    entries.clear();
    auto view = metadata_->read();
    if (!view) return view.error();
    Status damaged;
    const KeyRange range = after.empty() ? entries_of(directory) : entries_behind(directory, after);
    auto end = (*view)->scan(range, limit, [&](std::string_view key, std::string_view value) {
        entries.emplace_back();
        entries.back().name = name_of_entry_key(key);
        damaged = decode_inode(value, entries.back().inode, InodePart::attributes);
        return damaged.has_value();
    });
    if (!damaged) return damaged;
    if (!end) return end.error();
    for (DirectoryEntry& entry : entries)
        if (auto status = add_directory_times(**view, entry.inode); !status) return status;
    return {};
}

Status VolumeFileSystem::change(const BuildChange& build) {
    if (options_.read_only) return storage_error("change", volume_.name, EROFS, "the volume is open for reading");
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        Batch batch;
        {
            auto view = metadata_->read();
            if (!view) return view.error();
            if (auto status = build(**view, batch); !status) return status;
        }
        if (batch.empty()) return {};
        auto outcome = metadata_->apply(batch, Durability::relaxed);
        if (!outcome) return outcome.error();
        if (outcome->applied()) return {};
    }
    return storage_error("change", volume_.name, EBUSY, "others change the same names all the time");
}

Expected<Inode> VolumeFileSystem::make_entry(InodeId parent, std::string_view name, Inode inode) {
    if (options_.read_only) return entry_error("create", name, EROFS, "the volume is open for reading");
    if (auto status = check_name(name); !status) return status.error();
    auto id = new_inode();
    if (!id) return id.error();
    inode.id = *id;
    inode.mode &= 07777;
    inode.mtime_ns = inode.ctime_ns = inode.atime_ns = options_.now_ns();
    const std::string key = entry_key(parent, name);
    auto status = change([&](ReadView& view, Batch& batch) -> Status {
        auto directory = view.get(directory_key(parent));
        if (!directory) return directory.error();
        if (!*directory) return entry_error("create", name, ENOENT, "its directory is no more");
        auto taken = view.get(key);
        if (!taken) return taken.error();
        if (*taken) return entry_error("create", name, EEXIST);
        batch.require_present(directory_key(parent));
        batch.require_absent(key);
        put_entry(batch, key, inode);
        Totals totals;
        if (inode.type == InodeType::directory) {
            batch.put(directory_key(inode.id), encode(DirectoryRecord{parent, std::string(name)}));
            totals.directories = 1;
        } else
            totals.symlinks = 1;
        add_totals(batch, totals);
        feedfs::touch_directory(batch, parent, inode.mtime_ns);
        return {};
    });
    if (!status) return status.error();
    return inode;
}

Expected<Inode> VolumeFileSystem::make_directory(InodeId parent, std::string_view name, NewEntry entry) {
    Inode inode;
    inode.type = InodeType::directory;
    inode.mode = entry.mode;
    inode.uid = entry.uid;
    inode.gid = entry.gid;
    return make_entry(parent, name, std::move(inode));
}

Expected<Inode> VolumeFileSystem::make_symlink(InodeId parent, std::string_view name, std::string target,
                                               NewEntry entry) {
    if (target.empty()) return entry_error("symlink", name, ENOENT, "a symbolic link points somewhere");
    if (target.size() >= 4096) return entry_error("symlink", name, ENAMETOOLONG);
    Inode inode;
    inode.type = InodeType::symlink;
    inode.mode = 0777;
    inode.uid = entry.uid;
    inode.gid = entry.gid;
    inode.size_bytes = target.size();
    inode.symlink_target = std::move(target);
    return make_entry(parent, name, std::move(inode));
}

Status VolumeFileSystem::unlink(InodeId parent, std::string_view name) {
    const std::string key = entry_key(parent, name);
    return change([&](ReadView& view, Batch& batch) -> Status {
        std::string value;
        Inode inode;
        auto found = get_entry(view, key, value, inode);
        if (!found) return found.error();
        if (!*found) return entry_error("unlink", name, ENOENT);
        if (inode.type == InodeType::directory) return entry_error("unlink", name, EISDIR);
        batch.require_equals(key, value);
        feedfs::touch_directory(batch, parent, options_.now_ns());
        return add_removal(view, key, inode, batch);
    });
}

// Of a file or symbolic link: entry, pages, live bytes, totals.
Status VolumeFileSystem::add_removal(ReadView& view, const std::string& key, const Inode& inode, Batch& batch) {
    Totals totals;
    if (inode.type == InodeType::file) {
        ExtentList gone;
        if (auto status = read_extents(view, inode, 0, inode.size_bytes, gone); !status) return status;
        add_live(batch, gone, -1);
        totals.files = -1;
        totals.payload_bytes = -static_cast<std::int64_t>(inode.size_bytes);
    } else
        totals.symlinks = -1;
    erase_entry(batch, key, inode);
    add_totals(batch, totals);
    return {};
}

// Of a directory, which must be empty.
Status VolumeFileSystem::add_directory_removal(ReadView& view, const std::string& key, const Inode& inode,
                                               Batch& batch) {
    bool is_empty = true;
    auto end = view.scan(entries_of(inode.id), 1, [&](std::string_view, std::string_view) {
        is_empty = false;
        return false;
    });
    if (!end) return end.error();
    if (!is_empty) return entry_error("rmdir", name_of_entry_key(key), ENOTEMPTY);
    batch.require_empty(entries_of(inode.id));
    erase_entry(batch, key, inode);
    batch.erase(directory_key(inode.id));
    batch.erase(directory_times_key(inode.id));
    add_totals(batch, {.directories = -1});
    return {};
}

Status VolumeFileSystem::remove_directory(InodeId parent, std::string_view name) {
    const std::string key = entry_key(parent, name);
    return change([&](ReadView& view, Batch& batch) -> Status {
        std::string value;
        Inode inode;
        auto found = get_entry(view, key, value, inode);
        if (!found) return found.error();
        if (!*found) return entry_error("rmdir", name, ENOENT);
        if (inode.type != InodeType::directory) return entry_error("rmdir", name, ENOTDIR);
        if (inode.id == kRootInode) return entry_error("rmdir", name, EBUSY, "the root stays");
        batch.require_equals(key, value);
        feedfs::touch_directory(batch, parent, options_.now_ns());
        return add_directory_removal(view, key, inode, batch);
    });
}

// EINVAL where `directory` lies at or below `moved`; requires that nobody moves what is above it meanwhile.
Status VolumeFileSystem::require_not_below(ReadView& view, InodeId directory, InodeId moved, Batch& batch) {
    for (std::size_t depth = 0; directory != kRootInode && directory != 0; ++depth) {
        if (directory == moved)
            return entry_error("rename", std::to_string(moved), EINVAL, "a directory cannot be moved into itself");
        const std::string key = directory_key(directory);
        auto bytes = view.get(key);
        if (!bytes) return bytes.error();
        if (!*bytes || depth > kDepthMost)
            return entry_error("rename", std::to_string(directory), ENOENT, "a directory on the way is no more");
        batch.require_equals(key, std::string(**bytes));
        auto record = decode_directory(**bytes);
        if (!record) return record.error();
        directory = record->parent;
    }
    return {};
}

Status VolumeFileSystem::rename(const Rename& names) {
    if (auto status = check_name(names.to_name); !status) return status;
    const std::string from = entry_key(names.from_parent, names.from_name);
    const std::string to = entry_key(names.to_parent, names.to_name);
    return change([&](ReadView& view, Batch& batch) -> Status {
        std::string value, old_value;
        Inode inode, old;
        auto found = get_entry(view, from, value, inode);
        if (!found) return found.error();
        if (!*found) return entry_error("rename", names.from_name, ENOENT);
        if (inode.id == kRootInode) return entry_error("rename", names.from_name, EBUSY, "the root stays");
        auto directory = view.get(directory_key(names.to_parent));
        if (!directory) return directory.error();
        if (!*directory) return entry_error("rename", names.to_name, ENOENT, "the directory to rename into is no more");
        auto taken = get_entry(view, to, old_value, old);
        if (!taken) return taken.error();
        if (*taken && !names.may_replace) return entry_error("rename", names.to_name, EEXIST);
        if (from == to) return {};
        const bool is_directory = inode.type == InodeType::directory;
        batch.require_equals(from, value);
        batch.require_present(directory_key(names.to_parent));
        if (is_directory)
            if (auto status = require_not_below(view, names.to_parent, inode.id, batch); !status) return status;
        if (*taken) {
            const bool old_is_directory = old.type == InodeType::directory;
            // As Linux answers it: what holds the file that is moved is not empty.
            Batch unused;
            if (old_is_directory && !is_directory && !require_not_below(view, names.from_parent, old.id, unused))
                return entry_error("rename", names.to_name, ENOTEMPTY);
            if (is_directory != old_is_directory)
                return entry_error("rename", names.to_name, is_directory ? ENOTDIR : EISDIR);
            batch.require_equals(to, old_value);
            auto status =
                old_is_directory ? add_directory_removal(view, to, old, batch) : add_removal(view, to, old, batch);
            if (!status) return status;
        } else
            batch.require_absent(to);
        if (auto status = add_directory_times(view, inode); !status) return status;
        inode.ctime_ns = options_.now_ns();
        feedfs::touch_directory(batch, names.from_parent, inode.ctime_ns);
        if (names.to_parent != names.from_parent) feedfs::touch_directory(batch, names.to_parent, inode.ctime_ns);
        batch.erase(from); // pages of a long list are under the inode's number and stay
        batch.put(to, encode_inode(inode));
        if (is_directory)
            batch.put(directory_key(inode.id), encode(DirectoryRecord{names.to_parent, std::string(names.to_name)}));
        return {};
    });
}

} // namespace feedbench::feedfs
