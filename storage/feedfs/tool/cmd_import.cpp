// feedfs import: copies a folder or a bucket into a volume.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/types/units.hpp"
#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/copy_end.hpp"
#include "storage/feedfs/tool/crew.hpp"
#include "storage/feedfs/tool/interruption.hpp"
#include "storage/feedfs/tool/opened.hpp"
#include "storage/feedfs/tool/outside_place.hpp"
#include "storage/feedfs/tool/progress.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct ImportOptions {
    std::string volume, source, into;
    unsigned jobs = 8;
    bool quiet = false, overwrite = false;
};

struct ImportJob {
    OutsideEntry entry;
    InodeId parent = 0;
    std::string name;
};

// Copies files and publishes them in groups. What is published is whole; an interruption loses the group at most.
class Importer final : public Hand<ImportJob> {
  public:
    Importer(FileSystem& files, OutsidePlace& source, Progress& progress)
        : files_(files), source_(source), progress_(progress), buffer_(files.memory().take(kPartBytes)) {}

    Status work(ImportJob& job) override {
        if (is_interrupted()) return {};
        const OutsideEntry& entry = job.entry;
        Expected<std::unique_ptr<OutsideFile>> file = source_.open(entry);
        if (!file) return file.error();
        WriteOptions how;
        how.entry = {.mode = entry.mode, .uid = entry.uid, .gid = entry.gid};
        how.size_hint = entry.size_bytes;
        Expected<std::unique_ptr<Writer>> writer = files_.create(job.parent, job.name, how);
        if (!writer) return writer.error();
        std::uint64_t offset = 0;
        for (;;) {
            if (is_interrupted()) return {};
            // One more byte than it was said to have, so that one that grew meanwhile is noticed.
            const std::uint64_t wanted =
                std::min<std::uint64_t>(kPartBytes, std::max<std::uint64_t>(entry.size_bytes, offset) - offset + 1);
            const Expected<std::uint64_t> got =
                (*file)->read(offset, {buffer_.data(), static_cast<std::size_t>(wanted)});
            if (!got) return got.error();
            if (*got > 0)
                if (Status ok = (*writer)->append({buffer_.data(), static_cast<std::size_t>(*got)}); !ok) return ok;
            offset += *got;
            progress_.advance(*got);
            if (*got < wanted) break;
        }
        if (offset != entry.size_bytes)
            return storage_error("read", source_.display(entry.path), EIO,
                                 "it has " + std::to_string(offset) + " bytes, and had " +
                                     std::to_string(entry.size_bytes) + " when it was found: it is being changed");
        AttributeChange times;
        if (source_.keeps_attributes()) {
            times.mtime_ns = entry.mtime_ns;
            times.atime_ns = entry.atime_ns;
        }
        (*writer)->set_attributes(times);
        group_bytes_ += std::min(offset, files_.volume().chunk_bytes);
        group_.push_back(std::move(*writer));
        if (group_.size() >= kGroupFiles || group_bytes_ >= kGroupBytes) return publish();
        return {};
    }
    Status finish() override { return publish(); }

  private:
    static constexpr std::size_t kPartBytes = 1 * kMiB, kGroupFiles = 512;
    static constexpr std::uint64_t kGroupBytes = 16 * kMiB;

    Status publish() {
        if (group_.empty()) return {};
        std::vector<Writer*> writers;
        for (const auto& one : group_) writers.push_back(one.get());
        const std::vector<Status> answers = files_.publish(writers, Publish::visible);
        Status first;
        for (const Status& one : answers) {
            if (one) progress_.finished_file();
            if (!one && first) first = one;
        }
        group_.clear();
        group_bytes_ = 0;
        return first;
    }

    FileSystem& files_;
    OutsidePlace& source_;
    Progress& progress_;
    BlockBuffer buffer_;
    std::vector<std::unique_ptr<Writer>> group_;
    std::uint64_t group_bytes_ = 0;
};

// Goes through the source, makes directories and links, and gives the files to the crew.
class ImportWalk {
  public:
    ImportWalk(FileSystem& files, const ImportOptions& options, OutsidePlace& source, Progress& progress)
        : files_(files), options_(options), source_(source), progress_(progress) {}

    Status run(const FileSystem::Resolved& top) {
        folders_.push_back({"", top.inode.id});
        Crew<ImportJob> crew(options_.jobs, [this] { return std::make_unique<Importer>(files_, source_, progress_); });
        const Status listed = source_.list(
            [&](OutsideEntry entry) -> Expected<bool> {
                if (is_interrupted()) return false;
                return take(std::move(entry), crew);
            },
            [](const std::string& sentence) { warn(sentence); });
        progress_.found_all();
        const Status worked = crew.finish();
        if (!worked) return worked;
        if (!listed) return listed;
        if (is_interrupted()) return {};
        for (auto it = made_.rbegin(); it != made_.rend(); ++it)
            if (Status ok = finish_directory(*it); !ok) return ok;
        return files_.sync();
    }

  private:
    struct Folder {
        std::string path;
        InodeId id;
    };
    struct Made {
        InodeId parent;
        std::string name;
        OutsideEntry entry;
    };

    // Entries come in order, so the folders above the current one are a stack.
    InodeId parent_of(const std::string& path) {
        const std::size_t slash = path.rfind('/');
        const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
        while (folders_.size() > 1 && folders_.back().path != above) folders_.pop_back();
        return folders_.back().path == above ? folders_.back().id : 0;
    }

    Expected<bool> take(OutsideEntry entry, Crew<ImportJob>& crew) {
        const InodeId parent = parent_of(entry.path);
        if (parent == 0) return internal_error("the folder of " + entry.path + " was not told of before it");
        const std::string name = entry.path.substr(entry.path.rfind('/') + 1); // npos + 1 = 0
        const Expected<Inode> there = files_.lookup(parent, name);
        if (!there && there.error().errno_value != ENOENT) return there.error();
        if (there && there->type != entry.type &&
            (entry.type == InodeType::directory || there->type == InodeType::directory))
            return storage_error("import", source_.display(entry.path), EEXIST,
                                 "the volume has a directory where a file is to be, or the reverse");
        if (entry.type == InodeType::directory) return take_directory(std::move(entry), parent, name, there);
        if (entry.type == InodeType::symlink) return take_symlink(entry, parent, name, there);
        progress_.found(entry.size_bytes);
        if (there && !options_.overwrite && there->size_bytes == entry.size_bytes &&
            (!source_.keeps_attributes() || there->mtime_ns == entry.mtime_ns)) {
            progress_.skipped_file(entry.size_bytes);
            return true;
        }
        return crew.give({std::move(entry), parent, name});
    }

    Expected<bool> take_directory(OutsideEntry entry, InodeId parent, const std::string& name,
                                  const Expected<Inode>& there) {
        InodeId id = there ? there->id : 0;
        if (!there) {
            const Expected<Inode> made =
                files_.make_directory(parent, name, {.mode = entry.mode | 0700, .uid = entry.uid, .gid = entry.gid});
            if (!made) return made.error();
            id = made->id;
        }
        folders_.push_back({entry.path, id});
        if (source_.keeps_attributes()) made_.push_back({parent, name, std::move(entry)});
        return true;
    }

    Expected<bool> take_symlink(const OutsideEntry& entry, InodeId parent, const std::string& name,
                                const Expected<Inode>& there) {
        if (there && there->type == InodeType::symlink && there->symlink_target == entry.symlink_target) return true;
        if (there)
            if (Status ok = files_.unlink(parent, name); !ok) return ok.error();
        const Expected<Inode> made =
            files_.make_symlink(parent, name, entry.symlink_target, {.mode = 0777, .uid = entry.uid, .gid = entry.gid});
        if (!made) return made.error();
        AttributeChange times;
        times.mtime_ns = entry.mtime_ns;
        times.atime_ns = entry.atime_ns;
        const Expected<Inode> timed = files_.set_attributes(parent, name, times);
        if (!timed) return timed.error();
        return true;
    }

    Status finish_directory(const Made& made) {
        AttributeChange change;
        change.mode = made.entry.mode;
        change.uid = made.entry.uid;
        change.gid = made.entry.gid;
        change.mtime_ns = made.entry.mtime_ns;
        change.atime_ns = made.entry.atime_ns;
        const Expected<Inode> changed = files_.set_attributes(made.parent, made.name, change);
        if (!changed) return changed.error();
        return {};
    }

    FileSystem& files_;
    const ImportOptions& options_;
    OutsidePlace& source_;
    Progress& progress_;
    std::vector<Folder> folders_;
    std::vector<Made> made_;
};

int import_tree(const ImportOptions& options) {
    const auto source = make_outside_place(options.source);
    if (!source) return report(source.error());
    if (options.source.find("://") == std::string::npos && ::access(options.source.c_str(), R_OK | X_OK) != 0)
        return report(storage_error("open", options.source, errno, "the folder to import cannot be read"));
    const auto files = open_volume(options.volume, Access::write, "import");
    if (!files) return report(files.error());
    FileSystem& volume = **files;
    if (!options.into.empty())
        if (Status ok = volume.make_directories(options.into, {.mode = 0755, .uid = ::getuid(), .gid = ::getgid()});
            !ok)
            return report(ok.error());
    const Expected<FileSystem::Resolved> top = volume.resolve(options.into);
    if (!top) return report(top.error());
    if (top->inode.type != InodeType::directory) return report(storage_error("import", options.into, ENOTDIR));
    watch_interruption();
    Progress progress("imported", options.quiet ? Progress::Form::quiet : Progress::Form::automatic);
    const Status done = ImportWalk(volume, options, **source, progress).run(*top);
    progress.finish();
    if (!done) return report(done.error());
    return tell_end(progress, "imported", options.quiet);
}

} // namespace

Body add_import(CLI::App& command) {
    auto options = std::make_shared<ImportOptions>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command
        .add_option("SOURCE", options->source, "a folder, or s3://BUCKET/PREFIX (AWS_* environment as in docs/s3.md)")
        ->required();
    command.add_option("--into", options->into, "directory in the volume, made when missing (default: its root)");
    command.add_option("-j,--jobs", options->jobs, "files in flight")->check(CLI::Range(1, 256))->capture_default_str();
    command.add_flag("--overwrite", options->overwrite,
                     "also what is there already with the same size and time (s3: size)");
    command.add_flag("-q,--quiet", options->quiet, "no progress, no summary");
    command.footer("A file appears whole or not at all. Files that are there already, with the same size and time "
                   "(from s3: size),\n"
                   "are left alone, so an interrupted import goes on where it stopped.\n"
                   "Example: feedfs import /data/volume s3://datasets/imagenet/train --into imagenet/train");
    return [options] { return import_tree(*options); };
}

} // namespace feedbench::feedfs::tool
