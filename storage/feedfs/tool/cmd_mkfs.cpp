// feedfs mkfs: makes a volume.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "storage/feedfs/filesystem.hpp"
#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct MkfsOptions {
    std::string folder;
    VolumeConfig config;
    std::vector<std::string> fast, object, metadata_options;
    NewEntry root{.mode = 0755, .uid = ::getuid(), .gid = ::getgid()};
};

int mkfs(MkfsOptions& options) {
    VolumeConfig& config = options.config;
    if (config.name.empty()) {
        std::string path = options.folder;
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        config.name = path.substr(path.rfind('/') + 1);
    }
    if (options.fast.empty()) options.fast = {"data"};
    std::uint32_t id = 0;
    for (const std::string& place : options.fast) config.targets.push_back({++id, place, Tier::fast});
    for (const std::string& place : options.object) config.targets.push_back({++id, place, Tier::object});
    for (const std::string& option : options.metadata_options) {
        const std::size_t equals = option.find('=');
        if (equals == std::string::npos || equals == 0)
            return report(usage_error("--metadata-option '" + option + "': KEY=VALUE is expected"));
        config.metadata_options.emplace_back(option.substr(0, equals), option.substr(equals + 1));
    }
    const Expected<VolumeConfig> made = FileSystem::make(options.folder, config, options.root);
    if (!made) return report(made.error());
    std::printf("feedfs volume '%s' (%s) in %s\n", made->name.c_str(), made->uuid.c_str(), made->folder.c_str());
    std::printf("  metadata  %s at %s\n", made->metadata_engine.c_str(), made->metadata_place.c_str());
    for (const TargetConfig& target : made->targets)
        std::printf("  target %u  %s at %s\n", target.id, target.tier == Tier::fast ? "fast" : "object",
                    target.place.c_str());
    std::printf("  chunks of %s, segments of %s\n", size_text(made->chunk_bytes).c_str(),
                size_text(made->segment_bytes).c_str());
    if (made->fast_capacity_bytes != 0)
        std::printf("  fast tier at most %s\n", size_text(made->fast_capacity_bytes).c_str());
    return 0;
}

} // namespace

Body add_mkfs(CLI::App& command) {
    auto options = std::make_shared<MkfsOptions>();
    command.add_option("VOLUME", options->folder, "the folder to make; volume.yaml, metadata and data lie in it")
        ->required();
    command.add_option("--name", options->config.name, "for people (default: the folder's name)");
    command.add_option(
        "--target", options->fast,
        "folder of the fast tier, absolute or relative to VOLUME; give one for each disk: large files are "
        "spread over them (default: data)");
    command.add_option("--object-target", options->object,
                       "object tier: s3://BUCKET/PREFIX or a folder; sealed segments are copied there");
    add_size_option(command, "--fast-capacity", options->config.fast_capacity_bytes,
                    "limit of the fast tier: cold segments that the object tier has leave it");
    add_size_option(command, "--chunk", options->config.chunk_bytes,
                    "large files are cut into pieces of this size, smaller ones are packed; a power of two");
    add_size_option(command, "--segment", options->config.segment_bytes, "size of the files on the targets");
    command
        .add_option("--metadata", options->config.metadata_engine,
                    "metadata engine: lmdb (this host) or redis (many hosts)")
        ->check(CLI::IsMember({"lmdb", "redis"}))
        ->capture_default_str();
    command.add_option("--metadata-place", options->config.metadata_place,
                       "lmdb: a folder on a local disk, relative to VOLUME; redis: redis://[USER@]HOST:PORT/DB or "
                       "redis+unix:///PATH?db=N (default: metadata)");
    command.add_option("--metadata-option", options->metadata_options,
                       "KEY=VALUE, of lmdb: map_bytes, map_limit_bytes, max_readers; of redis: password_env, "
                       "password_file, durability, timeout_ms");
    command
        .add_option_function<std::string>(
            "--root-mode",
            [options](const std::string& text) {
                std::size_t used = 0;
                unsigned long mode = 010000;
                try {
                    mode = std::stoul(text, &used, 8);
                } catch (const std::exception&) {
                }
                if (mode > 07777 || used != text.size())
                    throw CLI::ValidationError("--root-mode", "'" + text + "' is no octal mode such as 755");
                options->root.mode = static_cast<std::uint32_t>(mode);
            },
            "permissions of the root directory, octal (default 755)")
        ->type_name("MODE");
    command.add_option("--root-uid", options->root.uid, "owner of the root directory (default: who runs this)");
    command.add_option("--root-gid", options->root.gid, "its group (default: of who runs this)");
    command.footer("Example: feedfs mkfs /nvme0/volume --target /nvme0/volume/data --target /nvme1/feedfs "
                   "--object-target s3://cold/volume --fast-capacity 2TB");
    return [options] { return mkfs(*options); };
}

} // namespace feedbench::feedfs::tool
