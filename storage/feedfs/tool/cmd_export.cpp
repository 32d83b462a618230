// feedfs export: copies a volume, or a part of it, to a folder or a bucket.
#include <CLI/CLI.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>

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

struct ExportOptions {
    std::string volume, place, from;
    unsigned jobs = 8;
    bool quiet = false, overwrite = false;
};

OutsideEntry outside_entry(const std::string& path, const Inode& inode) {
    OutsideEntry entry;
    entry.path = path;
    entry.type = inode.type;
    entry.size_bytes = inode.type == InodeType::file ? inode.size_bytes : 0;
    entry.mode = inode.mode;
    entry.uid = inode.uid;
    entry.gid = inode.gid;
    entry.mtime_ns = inode.mtime_ns;
    entry.atime_ns = inode.atime_ns;
    return entry;
}

class Exporter final : public Hand<Walked> {
  public:
    Exporter(FileSystem& files, OutsidePlace& place, const ExportOptions& options, Progress& progress)
        : files_(files), place_(place), options_(options), progress_(progress),
          buffer_(files.memory().take(kPartBytes)) {}

    Status work(Walked& one) override {
        if (is_interrupted()) return {};
        const OutsideEntry entry = outside_entry(one.path, one.inode);
        if (!options_.overwrite) {
            const Expected<bool> there = place_.has(entry);
            if (!there) return there.error();
            if (*there) {
                progress_.skipped_file(entry.size_bytes);
                return {};
            }
        }
        const Expected<std::shared_ptr<ReadFile>> file = files_.open_read(one.parent, one.name);
        if (!file) return file.error();
        std::uint64_t offset = 0, held_from = 0, held = 0;
        const Status written = place_.write(entry, [&](std::span<std::byte> into) -> Expected<std::size_t> {
            std::size_t given = 0;
            while (given < into.size()) {
                if (is_interrupted()) return storage_error("export", entry.path, EINTR, "interrupted");
                if (held_from == held) { // through a buffer of whole blocks, in large reads
                    const Expected<std::uint64_t> got = (*file)->read(offset, {buffer_.data(), kPartBytes});
                    if (!got) return got.error();
                    if (*got == 0) break;
                    offset += *got;
                    held_from = 0;
                    held = *got;
                }
                const std::size_t part = std::min<std::size_t>(into.size() - given, held - held_from);
                std::copy_n(buffer_.data() + held_from, part, into.data() + given);
                held_from += part;
                given += part;
            }
            progress_.advance(given);
            return given;
        });
        if (!written) return is_interrupted() ? Status() : written;
        progress_.finished_file();
        return {};
    }
    Status finish() override { return {}; }

  private:
    static constexpr std::size_t kPartBytes = 1 * kMiB;
    FileSystem& files_;
    OutsidePlace& place_;
    const ExportOptions& options_;
    Progress& progress_;
    BlockBuffer buffer_;
};

struct Exported {
    std::uint64_t links_left_out = 0;
};

Status export_all(FileSystem& files, OutsidePlace& place, const ExportOptions& options, Progress& progress,
                  Exported& about) {
    std::vector<OutsideEntry> directories; // their attributes come last: a read-only one could not be filled
    Crew<Walked> crew(options.jobs, [&] { return std::make_unique<Exporter>(files, place, options, progress); });
    const Status walked = walk(files, options.from, [&](const Walked& one) -> Expected<bool> {
        if (is_interrupted()) return false;
        if (one.path.empty() && one.inode.type != InodeType::directory) {
            Walked alone = one;
            alone.path = one.name;
            progress.found(one.inode.size_bytes);
            return crew.give(std::move(alone));
        }
        switch (one.inode.type) {
        case InodeType::file:
            progress.found(one.inode.size_bytes);
            return crew.give(one);
        case InodeType::directory: {
            directories.push_back(outside_entry(one.path, one.inode));
            if (one.path.empty()) return true;
            const Status made = place.make_directory(directories.back());
            if (!made) return made.error();
            return true;
        }
        case InodeType::symlink:
            break;
        }
        if (!place.keeps_attributes()) {
            ++about.links_left_out;
            return true;
        }
        const Expected<Inode> whole = files.lookup(one.parent, one.name);
        if (!whole) return whole.error();
        OutsideEntry link = outside_entry(one.path, *whole);
        link.symlink_target = whole->symlink_target;
        const Status made = place.make_symlink(link);
        if (!made) return made.error();
        return true;
    });
    progress.found_all();
    const Status worked = crew.finish();
    if (!worked) return worked;
    if (!walked) return walked;
    if (is_interrupted()) return {};
    for (auto it = directories.rbegin(); it != directories.rend(); ++it)
        if (Status ok = place.finish_directory(*it); !ok) return ok;
    return {};
}

int export_tree(const ExportOptions& options) {
    const auto files = open_volume(options.volume, Access::read, "export");
    if (!files) return report(files.error());
    const auto place = make_outside_place(options.place);
    if (!place) return report(place.error());
    if ((*place)->keeps_attributes()) {
        std::error_code code;
        std::filesystem::create_directories(options.place, code);
        if (code) return report(storage_error("mkdir", options.place, code.value()));
    }
    watch_interruption();
    Progress progress("exported", options.quiet ? Progress::Form::quiet : Progress::Form::automatic);
    Exported about;
    const Status done = export_all(**files, **place, options, progress, about);
    progress.finish();
    if (!done) return report(done.error());
    if (about.links_left_out != 0)
        warn(count_text(about.links_left_out) + " symbolic links were left out: a bucket holds none");
    return tell_end(progress, "exported", options.quiet);
}

} // namespace

Body add_export(CLI::App& command) {
    auto options = std::make_shared<ExportOptions>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command.add_option("PLACE", options->place, "a folder, or s3://BUCKET/PREFIX (AWS_* environment as in docs/s3.md)")
        ->required();
    command.add_option("--from", options->from, "directory or file in the volume (default: all)");
    command.add_option("-j,--jobs", options->jobs, "files in flight")->check(CLI::Range(1, 256))->capture_default_str();
    command.add_flag("--overwrite", options->overwrite,
                     "also what is there already with the same size and time (s3: size)");
    command.add_flag("-q,--quiet", options->quiet, "no progress, no summary");
    command.footer(
        "A file appears whole or not at all. Files that are there already, with the same size and time (to s3: size),\n"
        "are left alone, so an interrupted export goes on where it stopped.\n"
        "Example: feedfs export /data/volume /mnt/copy --from imagenet/train");
    return [options] { return export_tree(*options); };
}

} // namespace feedbench::feedfs::tool
