// feedfs fsck and feedfs compact.
#include "storage/feedfs/fsck.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/types/option_values.hpp"
#include "storage/feedfs/compact.hpp"
#include "storage/feedfs/tool/commands.hpp"
#include "storage/feedfs/tool/interruption.hpp"
#include "storage/feedfs/tool/opened.hpp"
#include "storage/feedfs/tool/progress.hpp"
#include "storage/feedfs/tool/text.hpp"

namespace feedbench::feedfs::tool {

namespace {

struct FsckCommand {
    std::string volume;
    FsckOptions options;
    bool json = false, quiet = false;
};

const char* weight_text(FindingWeight weight) {
    switch (weight) {
    case FindingWeight::loss:
        return "lost";
    case FindingWeight::wrong:
        return "wrong";
    case FindingWeight::left_over:
        break;
    }
    return "left over";
}

void print(const FsckReport& report, bool repair) {
    std::printf("%s files, %s directories, %s symbolic links, %s in %s records; %s segments, %s\n",
                count_text(report.files).c_str(), count_text(report.directories).c_str(),
                count_text(report.symlinks).c_str(), size_text(report.payload_bytes).c_str(),
                count_text(report.extents).c_str(), count_text(report.segments).c_str(),
                size_text(report.segment_bytes).c_str());
    if (report.bytes_read != 0) std::printf("%s read\n", size_text(report.bytes_read).c_str());
    for (const Finding& finding : report.findings)
        std::printf("%s: %s%s%s\n", weight_text(finding_weight(finding.kind)), finding_name(finding.kind),
                    (": " + finding.message).c_str(), finding.repaired ? " (repaired)" : "");
    if (report.found > report.findings.size())
        std::printf("and %s more\n", count_text(report.found - report.findings.size()).c_str());
    if (!report.note.empty()) std::printf("note: %s\n", report.note.c_str());
    if (report.found == 0)
        std::printf("nothing is wrong\n");
    else
        std::printf("%s found, %s repaired, %s files or parts of them lost%s\n", count_text(report.found).c_str(),
                    count_text(report.repaired).c_str(), count_text(report.losses).c_str(),
                    repair || report.repaired == report.found ? "" : "; --repair puts right what can be");
}

int check(FsckCommand& command) {
    watch_interruption();
    command.options.now_ns = now_ns;
    ProgressLine line(command.quiet);
    command.options.progress = [&](const FsckProgress& progress) {
        line.show([&] {
            return fmt::format("fsck: {}, {}{}", progress.step, count_text(progress.done),
                               progress.all != 0 ? " of " + count_text(progress.all) : "");
        });
        return !is_interrupted();
    };
    const Expected<FsckReport> report = fsck(command.volume, command.options);
    line.clear();
    if (!report && is_interrupted()) return exit_code(ErrorKind::interrupted);
    if (!report) return tool::report(report.error());
    if (command.json)
        std::printf("%s\n", to_json(*report).c_str());
    else
        print(*report, command.options.repair);
    return report->exit_code();
}

struct CompactCommand {
    std::string volume;
    CompactOptions options;
    double grace_s = 60;
    bool json = false, quiet = false;
};

int compact_volume(CompactCommand& command) {
    const auto files = open_volume(command.volume, Access::write, "compact");
    if (!files) return report(files.error());
    watch_interruption();
    command.options.now_ns = now_ns;
    command.options.grace_ns = static_cast<std::int64_t>(command.grace_s * 1e9);
    ProgressLine line(command.quiet);
    command.options.progress = [&](const CompactProgress& progress) {
        line.show([&] {
            return fmt::format("compact: {} of {} segments, {} moved", count_text(progress.segments_done),
                               count_text(progress.segments_all), size_text(progress.bytes_moved));
        });
        return !is_interrupted();
    };
    const Expected<CompactReport> done = compact(**files, command.options);
    line.clear();
    if (!done) return report(done.error());
    if (command.json) {
        std::printf("%s\n", to_json(*done).c_str());
    } else {
        std::printf("%s segments looked at, %s emptied: %s records, %s moved; %s segments removed, %s given back\n",
                    count_text(done->segments_looked_at).c_str(), count_text(done->segments_emptied).c_str(),
                    count_text(done->records_moved).c_str(), size_text(done->bytes_moved).c_str(),
                    count_text(done->segments_removed).c_str(), size_text(done->bytes_reclaimed).c_str());
        if (done->segments_waiting != 0)
            std::printf("%s segments wait for readers until %s are over; the next compact removes them\n",
                        count_text(done->segments_waiting).c_str(), duration_text(command.grace_s).c_str());
        if (done->records_damaged != 0)
            std::printf("%s damaged records were left where they are: feedfs fsck --data says which\n",
                        count_text(done->records_damaged).c_str());
    }
    return done->stopped ? exit_code(ErrorKind::interrupted) : 0;
}

} // namespace

Body add_fsck(CLI::App& command) {
    auto options = std::make_shared<FsckCommand>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command.add_flag("--data", options->options.data, "read every byte and check its CRC");
    command.add_flag("--repair", options->options.repair,
                     "put right what can be derived, remove what dead writers left; nobody may write meanwhile");
    command.add_flag("--json", options->json, "the report for programs");
    command.add_flag("-q,--quiet", options->quiet, "no progress");
    command.footer("Exit codes: 0 nothing is wrong, 1 all that was wrong is repaired, 4 something is left, 2 and 3 as "
                   "everywhere.\n"
                   "Example: feedfs fsck /data/volume --data");
    return [options] { return check(*options); };
}

// CLI11's own ranges let "nan" pass.
CLI::Validator between(double least, double most, const std::string& text) {
    return {[=](const std::string& word) {
                const Expected<double> value = parse_number(word);
                return value && *value >= least && *value <= most ? std::string()
                                                                  : "'" + word + "' is not a number from " + text;
            },
            ""};
}

Body add_compact(CLI::App& command) {
    auto options = std::make_shared<CompactCommand>();
    command.add_option("VOLUME", options->volume, "the volume's folder")->required();
    command
        .add_option("--live-below", options->options.live_below, "empty segments of which less than this part is live")
        ->check(between(0, 1, "0 to 1"))
        ->capture_default_str();
    command
        .add_option("--grace", options->grace_s,
                    "seconds that an emptied segment stays for readers who have just looked it up; 0: nobody else has "
                    "the volume open")
        ->check(between(0, 365 * 86400.0, "0 to 31536000, a year"))
        ->capture_default_str();
    command.add_flag("--json", options->json, "the report for programs");
    command.add_flag("-q,--quiet", options->quiet, "no progress");
    command.footer("Readers and writers may go on meanwhile.\nExample: feedfs compact /data/volume --live-below 0.8");
    return [options] { return compact_volume(*options); };
}

} // namespace feedbench::feedfs::tool
