// Paths: from the root, component by component, through symbolic links.
#include <cerrno>

#include "storage/feedfs/filesystem_parts.hpp"

namespace feedbench::feedfs {

namespace {
constexpr int kLinksMost = 40; // as Linux

std::string_view next_component(std::string_view& path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    const std::string_view component = path.substr(0, path.find('/'));
    path.remove_prefix(component.size());
    while (path.starts_with('/')) path.remove_prefix(1);
    return component;
}
} // namespace

struct VolumeFileSystem::Walk {
    ReadView& view;
    std::string_view whole; // for messages
    int links = 0;
};

Expected<FileSystem::Resolved> VolumeFileSystem::walk(Walk& walk, InodeId start, std::string_view path,
                                                      bool last_may_be_absent, bool follow_last) {
    Resolved at{.parent = 0, .name = "", .inode = {}};
    std::string value;
    const auto failed = [&](int error) { return entry_error("lookup", walk.whole, error); };
    // To the entry of a directory by its number.
    const auto stand_in = [&](InodeId directory) -> Status {
        auto bytes = walk.view.get(directory_key(directory));
        if (!bytes) return bytes.error();
        if (!*bytes) return failed(ENOENT);
        auto record = decode_directory(**bytes);
        if (!record) return record.error();
        at.parent = record->parent;
        at.name = record->name;
        auto found = get_entry(walk.view, entry_key(at.parent, at.name), value, at.inode);
        if (!found) return found.error();
        return *found ? Status{} : Status(failed(ENOENT));
    };
    if (auto status = stand_in(path.starts_with('/') ? kRootInode : start); !status) return status.error();
    const bool must_be_directory = path.ends_with('/');
    for (std::string_view component = next_component(path); !component.empty(); component = next_component(path)) {
        if (at.inode.type != InodeType::directory) return failed(ENOTDIR);
        if (component == ".") continue;
        if (component == "..") {
            if (at.inode.id != kRootInode)
                if (auto status = stand_in(at.parent); !status) return status.error();
            continue;
        }
        if (component.size() > kNameBytesMax) return failed(ENAMETOOLONG);
        const InodeId directory = at.inode.id;
        const bool is_last = path.empty();
        at.parent = directory;
        at.name = component;
        auto found = get_entry(walk.view, entry_key(directory, component), value, at.inode);
        if (!found) return found.error();
        if (!*found) {
            if (!is_last || !last_may_be_absent) return failed(ENOENT);
            at.inode = {}; // id 0
            return at;
        }
        if (at.inode.type == InodeType::symlink && (!is_last || follow_last || must_be_directory)) {
            if (++walk.links > kLinksMost) return failed(ELOOP);
            const std::string target = at.inode.symlink_target;
            auto there = this->walk(walk, directory, target, is_last && last_may_be_absent, true);
            if (!there) return there;
            at = std::move(*there);
        }
    }
    if (must_be_directory && at.inode.id != 0 && at.inode.type != InodeType::directory) return failed(ENOTDIR);
    return at;
}

Expected<FileSystem::Resolved> VolumeFileSystem::resolve(std::string_view path, bool follow_last) {
    auto view = metadata_->read();
    if (!view) return view.error();
    Walk state{**view, path};
    auto found = walk(state, kRootInode, path, false, follow_last);
    if (found)
        if (auto status = add_directory_times(**view, found->inode); !status) return status.error();
    return found;
}

// Without the directory's times, for which nobody asks.
Expected<FileSystem::Resolved> VolumeFileSystem::resolve_directory(std::string_view path) {
    auto view = metadata_->read();
    if (!view) return view.error();
    Walk state{**view, path};
    return walk(state, kRootInode, path, false, true);
}

Expected<FileSystem::Resolved> VolumeFileSystem::resolve_parent(std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (auto status = check_name(name); !status) return status.error();
    auto directory =
        resolve_directory(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1));
    if (!directory) return directory.error();
    if (directory->inode.type != InodeType::directory) return entry_error("lookup", path, ENOTDIR);
    Resolved found{.parent = directory->inode.id, .name = std::string(name), .inode = {}};
    auto inode = lookup(found.parent, name);
    if (inode)
        found.inode = std::move(*inode);
    else if (inode.error().errno_value != ENOENT)
        return inode.error();
    return found;
}

Status VolumeFileSystem::make_directories(std::string_view path, NewEntry entry) {
    InodeId at = kRootInode;
    std::string_view rest = path;
    for (std::string_view component = next_component(rest); !component.empty(); component = next_component(rest)) {
        auto there = lookup(at, component);
        if (!there && there.error().errno_value == ENOENT) {
            there = make_directory(at, component, entry);
            if (!there && there.error().errno_value == EEXIST) there = lookup(at, component); // somebody was faster
        }
        if (!there) return there.error();
        if (there->type == InodeType::symlink) {
            auto target = resolve(path.substr(0, static_cast<std::size_t>(component.end() - path.begin())), true);
            if (!target) return target.error();
            there = target->inode;
        }
        if (there->type != InodeType::directory) return entry_error("mkdir", path, ENOTDIR);
        at = there->id;
    }
    return {};
}

} // namespace feedbench::feedfs
