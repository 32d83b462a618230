// feedfs ls and feedfs cat: a look into a volume without mounting it.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>

#include "harness/types/units.hpp"
#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/opened.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct LsOptions {
    std::string volume, path;
    bool details = false, recursive = false;
};

char kind_of(InodeType type) { return type == InodeType::directory ? 'd' : type == InodeType::symlink ? 'l' : '-'; }

void print(FileSystem& files, const LsOptions& options, const Walked& entry, const std::string& shown) {
    if (!options.details) return void(std::printf("%s\n", shown.c_str()));
    std::string target;
    if (entry.inode.type == InodeType::symlink)
        if (const Expected<Inode> whole = files.lookup(entry.parent, entry.name))
            target = " -> " + whole->symlink_target;
    std::printf("%s %6u %6u %14llu  %s  %s%s\n", mode_text(kind_of(entry.inode.type), entry.inode.mode).c_str(),
                entry.inode.uid, entry.inode.gid, static_cast<unsigned long long>(entry.inode.size_bytes),
                time_text(entry.inode.mtime_ns).c_str(), shown.c_str(), target.c_str());
}

int ls(const LsOptions& options) {
    const auto files = open_volume(options.volume, Access::read, "ls");
    if (!files) return report(files.error());
    FileSystem& volume = **files;
    const Expected<FileSystem::Resolved> top = volume.resolve(options.path);
    if (!top) return report(top.error());
    if (top->inode.type != InodeType::directory) {
        print(volume, options, {"", top->parent, top->name, top->inode}, options.path);
        return 0;
    }
    if (options.recursive) {
        const Status walked = walk(volume, options.path, [&](const Walked& entry) -> Expected<bool> {
            if (!entry.path.empty()) print(volume, options, entry, entry.path);
            return true;
        });
        return walked ? 0 : report(walked.error());
    }
    std::vector<DirectoryEntry> page;
    std::string after;
    do {
        page.clear();
        if (Status ok = volume.read_directory(top->inode.id, after, 1024, page); !ok) return report(ok.error());
        for (const DirectoryEntry& one : page)
            print(volume, options, {"", top->inode.id, one.name, one.inode}, one.name);
        if (!page.empty()) after = page.back().name;
    } while (page.size() == 1024);
    return 0;
}

struct CatOptions {
    std::string volume;
    std::vector<std::string> paths;
};

Status copy_out(FileSystem& files, const std::string& path) {
    const Expected<std::shared_ptr<ReadFile>> file = files.open_read(path);
    if (!file) return file.error();
    const BlockBuffer buffer = files.memory().take(4 * kMiB);
    for (std::uint64_t offset = 0;;) {
        const Expected<std::uint64_t> got = (*file)->read(offset, {buffer.data(), 4 * kMiB});
        if (!got) return got.error();
        if (*got == 0) return {};
        offset += *got;
        for (std::uint64_t sent = 0; sent < *got;) {
            const ssize_t wrote = ::write(STDOUT_FILENO, buffer.data() + sent, *got - sent);
            if (wrote < 0 && errno != EINTR) return storage_error("write", "standard output", errno);
            if (wrote > 0) sent += static_cast<std::uint64_t>(wrote);
        }
    }
}

int cat(const CatOptions& options) {
    const auto files = open_volume(options.volume, Access::read, "cat");
    if (!files) return report(files.error());
    for (const std::string& path : options.paths)
        if (Status ok = copy_out(**files, path); !ok) return report(ok.error());
    return 0;
}

} // namespace

Body add_ls(CLI::App& command) {
    auto options = std::make_shared<LsOptions>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command.add_option("PATH", options->path, "in the volume (default: its root)");
    command.add_flag("-l", options->details, "mode, owner, size, time");
    command.add_flag("-R", options->recursive, "with everything below");
    return [options] { return ls(*options); };
}

Body add_cat(CLI::App& command) {
    auto options = std::make_shared<CatOptions>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command.add_option("PATH", options->paths, "files in the volume")->required();
    return [options] { return cat(*options); };
}

} // namespace feedbench::feedfs::tool
