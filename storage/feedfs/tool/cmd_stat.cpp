// feedfs stat: what a volume holds, or what is known of one path.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/opened.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct StatOptions {
    std::string volume, path;
    bool json = false;
};

struct SegmentSums {
    std::uint64_t segments = 0, open_segments = 0, bytes = 0, live_bytes = 0, records = 0, in_object_tier = 0;
};

// Sums of the segments' rows, by target.
Status sum_segments(MetadataEngine& metadata, std::map<std::uint32_t, SegmentSums>& sums) {
    std::map<std::uint64_t, std::uint32_t> target_of;
    MaybeError problem;
    const auto scan = [&](const KeyRange& all, const ScanVisitor& visit) -> Status {
        KeyRange range = all;
        for (;;) {
            const Expected<ReadHandle> view = metadata.read();
            if (!view) return view.error();
            const Expected<ScanEnd> end = (*view)->scan(range, 4096, visit);
            if (!end) return end.error();
            if (problem) return *problem;
            if (end->complete) return {};
            range.from = end->next_key;
        }
    };
    const Status rows = scan(all_segments(), [&](std::string_view key, std::string_view value) {
        const Expected<SegmentRecord> record = decode_segment(value);
        if (!record) problem = record.error();
        if (!record) return false;
        SegmentSums& sum = sums[record->target];
        ++sum.segments;
        sum.bytes += record->bytes;
        if (!record->sealed) ++sum.open_segments;
        if (record->tiers & SegmentRecord::kObject) ++sum.in_object_tier;
        target_of[id_of_key(key)] = record->target;
        return true;
    });
    if (!rows) return rows;
    return scan(all_live(), [&](std::string_view key, std::string_view value) {
        const std::vector<std::int64_t> live = decode_counters(value);
        const auto known = target_of.find(id_of_key(key));
        if (known == target_of.end() || live.size() < 2) return true;
        sums[known->second].live_bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(live[0], 0));
        sums[known->second].records += static_cast<std::uint64_t>(std::max<std::int64_t>(live[1], 0));
        return true;
    });
}

int stat_volume(FileSystem& files, bool as_json) {
    const VolumeConfig& volume = files.volume();
    const Expected<Space> space = files.space();
    if (!space) return report(space.error());
    const Expected<EngineFigures> engine = files.metadata().figures();
    if (!engine) return report(engine.error());
    std::map<std::uint32_t, SegmentSums> sums;
    if (Status ok = sum_segments(files.metadata(), sums); !ok) return report(ok.error());
    const EngineProperties& about = files.metadata().properties();
    const Totals& totals = space->totals;
    if (as_json) {
        nlohmann::ordered_json out = {{"name", volume.name},
                                      {"uuid", volume.uuid},
                                      {"folder", volume.folder},
                                      {"format_version", volume.format_version},
                                      {"chunk_bytes", volume.chunk_bytes},
                                      {"segment_bytes", volume.segment_bytes},
                                      {"fast_capacity_bytes", volume.fast_capacity_bytes},
                                      {"files", totals.files},
                                      {"directories", totals.directories},
                                      {"symlinks", totals.symlinks},
                                      {"payload_bytes", totals.payload_bytes},
                                      {"free_bytes", space->free_bytes},
                                      {"total_bytes", space->total_bytes},
                                      {"metadata",
                                       {{"engine", about.engine},
                                        {"place", about.place},
                                        {"keys", engine->keys},
                                        {"used_bytes", engine->used_bytes},
                                        {"file_bytes", engine->file_bytes},
                                        {"limit_bytes", engine->limit_bytes},
                                        {"durability", about.durability}}},
                                      {"targets", nlohmann::ordered_json::array()}};
        for (const TargetConfig& target : volume.targets) {
            const SegmentSums& sum = sums[target.id];
            out["targets"].push_back({{"id", target.id},
                                      {"place", target.place},
                                      {"tier", target.tier == Tier::fast ? "fast" : "object"},
                                      {"segments", sum.segments},
                                      {"open_segments", sum.open_segments},
                                      {"bytes", sum.bytes},
                                      {"live_bytes", sum.live_bytes},
                                      {"records", sum.records},
                                      {"in_object_tier", sum.in_object_tier}});
        }
        std::printf("%s\n", out.dump(2).c_str());
        return 0;
    }
    const auto line = [](const char* what, const std::string& value) {
        std::printf("%-12s %s\n", what, value.c_str());
    };
    const auto count = [](std::int64_t value) {
        return count_text(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
    };
    line("volume", fmt::format("{} ({}), format {}", volume.name, volume.uuid, volume.format_version));
    line("holds", fmt::format("{} files, {} directories, {} symbolic links, {}", count(totals.files),
                              count(totals.directories), count(totals.symlinks),
                              size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(totals.payload_bytes, 0)))));
    line("space", fmt::format("{} free of {}", size_text(space->free_bytes), size_text(space->total_bytes)));
    line("layout",
         fmt::format("chunks of {}, segments of {}", size_text(volume.chunk_bytes), size_text(volume.segment_bytes)));
    line("metadata", fmt::format("{} at {}: {} keys, {} used{}", about.engine, about.place, count_text(engine->keys),
                                 size_text(engine->used_bytes),
                                 engine->limit_bytes != 0 ? " of at most " + size_text(engine->limit_bytes) : ""));
    line("", about.durability);
    for (const TargetConfig& target : volume.targets) {
        const SegmentSums& sum = sums[target.id];
        line(fmt::format("target {}", target.id).c_str(),
             target.tier == Tier::object
                 ? fmt::format("object tier, {}", target.place)
                 : fmt::format("{}: {} segments ({} being written, {} in the object tier), {}, of which {} are live in "
                               "{} records",
                               target.place, count_text(sum.segments), count_text(sum.open_segments),
                               count_text(sum.in_object_tier), size_text(sum.bytes), size_text(sum.live_bytes),
                               count_text(sum.records)));
    }
    return 0;
}

int stat_path(FileSystem& files, const std::string& path) {
    const Expected<FileSystem::Resolved> found = files.resolve(path, false);
    if (!found) return report(found.error());
    const Inode& inode = found->inode;
    const char kind = inode.type == InodeType::directory ? 'd' : inode.type == InodeType::symlink ? 'l' : '-';
    const auto line = [](const char* what, const std::string& value) {
        std::printf("%-10s %s\n", what, value.c_str());
    };
    line("path", "/" + path);
    line("inode", std::to_string(inode.id));
    line("mode", fmt::format("{} uid {} gid {}", mode_text(kind, inode.mode), inode.uid, inode.gid));
    line("size", fmt::format("{} ({} bytes)", size_text(inode.size_bytes), inode.size_bytes));
    line("modified", time_text(inode.mtime_ns));
    line("changed", time_text(inode.ctime_ns));
    if (inode.type == InodeType::symlink) line("target", inode.symlink_target);
    if (inode.type != InodeType::file) return 0;
    const Expected<std::shared_ptr<ReadFile>> file = files.open_read(found->parent, found->name);
    if (!file) return report(file.error());
    std::vector<Location> pieces;
    if (Status ok = (*file)->locate(0, inode.size_bytes, pieces); !ok) return report(ok.error());
    for (const Location& piece : pieces)
        line("extent", fmt::format("{} bytes at {} in segment {:016x} at {}", piece.bytes, piece.file_offset,
                                   piece.segment, piece.offset));
    return 0;
}

} // namespace

Body add_stat(CLI::App& command) {
    auto options = std::make_shared<StatOptions>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    CLI::Option* path = command.add_option("PATH", options->path, "in the volume: what is known of this one");
    command.add_flag("--json", options->json, "the volume's figures for programs")->excludes(path);
    return [options, path] {
        const auto files = open_volume(options->volume, Access::read, "stat");
        if (!files) return report(files.error());
        return path->count() != 0 ? stat_path(**files, options->path) : stat_volume(**files, options->json);
    };
}

} // namespace feedbench::feedfs::tool
