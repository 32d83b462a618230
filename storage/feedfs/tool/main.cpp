// The binary `feedfs`: one table of commands, one place where errors become exit codes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "storage/feedfs/tool/commands.hpp"

namespace feedbench::feedfs::tool {

namespace {

constexpr std::array kCommands{
    Command{"mkfs", add_mkfs, "Make a volume: a folder with volume.yaml, metadata and targets"},
    Command{"mount", add_mount, "Mount a volume through FUSE, so that any program can use it"},
    Command{"import", add_import, "Copy a folder or s3://bucket/prefix into a volume; can be interrupted and resumed"},
    Command{"export", add_export, "Copy a volume, or a part of it, to a folder or s3://bucket/prefix; can be resumed"},
    Command{"ls", add_ls, "List a directory of a volume"},
    Command{"cat", add_cat, "Write files of a volume to standard output"},
    Command{"stat", add_stat, "What a volume holds: files, bytes, segments, targets; or what is known of one path"},
    Command{"fsck", add_fsck, "Check a volume, and repair it"},
    Command{"compact", add_compact, "Give back the space of deleted files, while readers go on"},
    Command{"tier", add_tier, "Move segments between the fast tier and the object tier"},
};

int run(int argc, char** argv) {
    if (argc > 1 && argv[1][0] != '-' &&
        std::none_of(kCommands.begin(), kCommands.end(), [&](const Command& one) { return one.name == argv[1]; })) {
        std::string names;
        for (const Command& command : kCommands) names += (names.empty() ? "" : ", ") + std::string(command.name);
        return report(usage_error("there is no command '" + std::string(argv[1]) + "': there are " + names));
    }
    CLI::App app(
        "feedfs: a filesystem for training data: small files packed into segments, large ones cut into chunks,\n"
        "metadata in LMDB or Redis, an object store below a fast tier. docs/feedfs.md says the rest.",
        "feedfs");
    app.set_version_flag("--version", "feedfs " FEEDBENCH_VERSION);
    app.footer("Example: feedfs mkfs /data/volume && feedfs import /data/volume /data/images && "
               "feedfs mount /data/volume /mnt/images");
    app.require_subcommand(1);
    Body chosen;
    std::array<Body, kCommands.size()> bodies;
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
        CLI::App* command = app.add_subcommand(std::string(kCommands[i].name), std::string(kCommands[i].summary));
        bodies[i] = kCommands[i].add(*command);
        command->callback([&chosen, &body = bodies[i]] { chosen = body; });
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& shown) { // --help, --version
        return app.exit(shown);
    } catch (const CLI::ParseError& error) {
        return report(usage_error(std::string(error.what()) + " (feedfs --help shows what there is)"));
    }
    return chosen();
}

} // namespace

int report(const Error& error) {
    std::fprintf(stderr, "feedfs: %s\n", error.describe().c_str());
    return exit_code(error.kind);
}

void warn(std::string_view sentence) {
    std::fprintf(stderr, "feedfs: warning: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

} // namespace feedbench::feedfs::tool

int main(int argc, char** argv) { return feedbench::feedfs::tool::run(argc, argv); }
