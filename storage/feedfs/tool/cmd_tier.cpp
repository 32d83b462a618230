// feedfs tier: moves segments between the fast tier and the object tier.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "storage/feedfs/tier.hpp"
#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/interruption.hpp"
#include "storage/feedfs/tool/opened.hpp"
#include "storage/feedfs/tool/progress.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct TierOptions {
    std::string volume, action = "status";
    std::uint64_t bytes = 0;
    bool quiet = false;
};

std::string amount_text(const TierAmount& amount) {
    return count_text(amount.segments) + " segments, " + size_text(amount.bytes);
}

int show_figures(Tiering& tiering) {
    const Expected<TierFigures> figures = tiering.figures();
    if (!figures) return report(figures.error());
    const auto line = [](const char* what, const std::string& value) {
        std::printf("%-30s %s\n", what, value.c_str());
    };
    line("being written", amount_text(figures->unsealed));
    line("fast tier only, to be uploaded", amount_text(figures->fast_only));
    line("both tiers", amount_text(figures->both));
    line("object tier only", amount_text(figures->object_only));
    line("pieces kept in the fast tier", amount_text(figures->pieces));
    if (figures->left_over.segments != 0) line("left over in the fast tier", amount_text(figures->left_over));
    line("fast tier",
         size_text(figures->fast_bytes) +
             (figures->capacity_bytes != 0 ? " of at most " + size_text(figures->capacity_bytes) : ", no limit"));
    return 0;
}

int finish(const TierWork& work) {
    std::printf("%s done", amount_text(work.done).c_str());
    if (work.failed.segments != 0) std::printf("; %s failed", amount_text(work.failed).c_str());
    std::printf("%s\n", work.stopped ? "; interrupted: the same command goes on where this one stopped" : "");
    if (work.first_error) return report(*work.first_error);
    return work.stopped ? exit_code(ErrorKind::interrupted) : 0;
}

int tier(const TierOptions& options) {
    const bool looks_only = options.action == "status";
    const auto files = open_volume(options.volume, looks_only ? Access::read : Access::write, "tier");
    if (!files) return report(files.error());
    const Expected<std::unique_ptr<Tiering>> tiering = Tiering::make(**files);
    if (!tiering) return report(tiering.error());
    if (looks_only) return show_figures(**tiering);
    watch_interruption();
    ProgressLine line(options.quiet);
    const TierWatcher watch = [&](const TierProgress& progress) {
        line.show([&] { return "tier: " + amount_text(progress.done) + " of " + amount_text(progress.all); });
        return !is_interrupted();
    };
    if (options.action == "upload") return finish((*tiering)->upload(watch));
    if (options.action == "make-room") return finish((*tiering)->make_room(watch));
    if (options.action == "drain") return finish((*tiering)->drain(watch));
    if (options.action == "fetch") return finish((*tiering)->fetch(watch));
    return finish((*tiering)->evict(options.bytes == 0 ? ~std::uint64_t{0} : options.bytes, watch));
}

} // namespace

Body add_tier(CLI::App& command) {
    auto options = std::make_shared<TierOptions>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command
        .add_option("ACTION", options->action,
                    "status: where segments are (default)\n"
                    "upload: copy sealed segments to the object tier\n"
                    "evict: take segments out of the fast tier that the object tier has, the coldest first\n"
                    "make-room: evict until the fast tier is below the volume's limit\n"
                    "drain: upload everything, then evict everything\n"
                    "fetch: copy segments back until the fast tier is full")
        ->check(CLI::IsMember({"status", "upload", "evict", "make-room", "drain", "fetch"}));
    add_size_option(command, "--bytes", options->bytes, "evict: how much; everything where it is not given");
    command.add_flag("-q,--quiet", options->quiet, "no progress");
    command.footer(
        "A mount does uploads and evictions by itself, in the background.\nExample: feedfs tier /data/volume upload");
    return [options] { return tier(*options); };
}

} // namespace feedbench::feedfs::tool
