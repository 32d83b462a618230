#include "storage/feedfs/tool/opened.hpp"

#include <vector>

#include "harness/engine/clock.hpp"
#include "storage/feedfs/tool/commands.hpp"

namespace feedbench::feedfs::tool {

namespace {

constexpr std::size_t kPageEntries = 1024;

} // namespace

std::int64_t now_ns() { return engine::unix_time_ns(); }

Expected<std::unique_ptr<FileSystem>> open_volume(const std::string& place, Access access, const std::string& purpose) {
    OpenOptions options;
    options.read_only = access == Access::read;
    options.purpose = purpose;
    options.warn = [](const std::string& sentence) { warn(sentence); };
    return FileSystem::open(place, options);
}

Status walk(FileSystem& files, const std::string& path, const std::function<Expected<bool>(const Walked&)>& each) {
    Expected<FileSystem::Resolved> top = files.resolve(path);
    if (!top) return top.error();
    Expected<bool> go_on = each({"", top->parent, top->name, top->inode});
    if (!go_on) return go_on.error();
    if (!*go_on || top->inode.type != InodeType::directory) return {};
    struct Level {
        InodeId id = 0;
        std::string path, after;
        std::vector<DirectoryEntry> page;
        std::size_t next = 0;
        bool complete = false;
    };
    std::vector<Level> levels;
    levels.push_back({.id = top->inode.id, .path = "", .after = "", .page = {}});
    while (!levels.empty()) {
        Level& level = levels.back();
        if (level.next == level.page.size()) {
            if (level.complete) {
                levels.pop_back();
                continue;
            }
            level.page.clear();
            level.next = 0;
            if (Status ok = files.read_directory(level.id, level.after, kPageEntries, level.page); !ok) return ok;
            level.complete = level.page.size() < kPageEntries;
            if (!level.page.empty()) level.after = level.page.back().name;
            continue;
        }
        DirectoryEntry& entry = level.page[level.next++];
        const std::string below = level.path.empty() ? entry.name : level.path + "/" + entry.name;
        const InodeId id = entry.inode.id;
        const bool is_directory = entry.inode.type == InodeType::directory;
        go_on = each({below, level.id, std::move(entry.name), std::move(entry.inode)});
        if (!go_on) return go_on.error();
        if (!*go_on) return {};
        if (is_directory) levels.push_back({.id = id, .path = below, .after = "", .page = {}});
    }
    return {};
}

} // namespace feedbench::feedfs::tool
