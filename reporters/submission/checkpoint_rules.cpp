// Rules on checkpoints: a single run, and the one or two runs that make a result.
#include <algorithm>
#include <fmt/format.h>

#include "harness/config/checkpoint_sizes.hpp"
#include "reporters/submission/rules.hpp"

namespace feedbench::submission {
namespace {

constexpr std::int64_t kCheckpoints = 10;
constexpr std::uint32_t kRanksOfHostLeast = 4;

std::string counts(const RunFacts& run) {
    return fmt::format("{} written, {} read", run.checkpoint_writes.value_or(0), run.checkpoint_reads.value_or(0));
}

} // namespace

void check_checkpoint_ranks(const RunFacts& run, const Scene& scene, Report& report) {
    if (find_workload(scene.edition, run.model) == nullptr) return; // said by workload_unknown
    if (!run.accelerator_count) return report.unknown(run.path, "the number of ranks is not said");
    if (scene.division == kClosed) {
        Workload workload;
        workload.model.name = run.model;
        workload.checkpoint.mode = run.checkpoint_mode;
        if (config::check_closed_ranks(workload, *run.accelerator_count)) return;
        report.finding(run.path,
                       fmt::format("{} ranks of {}{}", *run.accelerator_count, run.model,
                                   run.checkpoint_mode == "subset" ? " in subset mode" : ""),
                       fmt::format("{} ranks in CLOSED{}", config::closed_rank_count(run.model).value_or(0),
                                   run.checkpoint_mode == "subset" ? "; subset mode for 8b only" : ""));
        return;
    }
    const auto published = scene.profiles.find(run.model, "");
    if (!published) return report.unknown(run.path, published.error().message);
    const ModelSection& model = (*published)->model;
    const std::uint32_t unit = model.parallelism_tensor * model.parallelism_pipeline;
    if (*run.accelerator_count % unit != 0)
        report.finding(run.path, fmt::format("{} ranks of {}", *run.accelerator_count, run.model),
                       fmt::format("a multiple of TP x PP = {}", unit));
}

void check_ranks_of_hosts(const RunFacts& run, const Scene&, Report& report) {
    std::optional<std::uint32_t> least;
    if (!run.accelerators_of_hosts.empty())
        least = *std::min_element(run.accelerators_of_hosts.begin(), run.accelerators_of_hosts.end());
    else if (run.accelerator_count && run.host_count)
        least = *run.accelerator_count / *run.host_count;
    if (!least) return report.unknown(run.path, "ranks or hosts are not said");
    if (*least < kRanksOfHostLeast)
        report.finding(run.path, fmt::format("{} ranks on a host", *least),
                       fmt::format("at least {} on every host", kRanksOfHostLeast));
}

void check_checkpoint_count(const RunFacts& run, const Scene& scene, Report& report) {
    if (!run.checkpoint_writes || !run.checkpoint_reads)
        return report.unknown(run.path, "no file says how many checkpoints were written and read");
    const std::int64_t writes = *run.checkpoint_writes, reads = *run.checkpoint_reads;
    const auto wrong = [&](std::int64_t n) { return n != 0 && scene.division == kClosed && n != kCheckpoints; };
    if (wrong(writes) || wrong(reads) || writes + reads == 0)
        report.finding(run.path, counts(run),
                       scene.division == kClosed ? fmt::format("{} written and {} read, or 0 of what another run does",
                                                               kCheckpoints, kCheckpoints)
                                                 : "at least one");
}

void check_fsync(const RunFacts& run, const Scene&, Report& report) {
    if (!run.checkpoint_fsync) return report.unknown(run.path, "no file says checkpoint.fsync");
    if (!*run.checkpoint_fsync)
        report.finding(run.path, "checkpoint.fsync = false", "true: every checkpoint is synced");
}

void check_checkpoint_phases(const RunSet& set, const Submitter&, const Scene&, Report& report) {
    std::size_t writing = 0, reading = 0;
    for (const RunFacts& run : set.runs) {
        if (!run.checkpoint_writes || !run.checkpoint_reads) return; // said by checkpoint_count
        writing += *run.checkpoint_writes > 0 ? 1 : 0;
        reading += *run.checkpoint_reads > 0 ? 1 : 0;
    }
    if (writing != 1 || reading != 1 || set.runs.size() > 2)
        report.finding(set.path,
                       fmt::format("{} run{}: {} that write, {} that read", set.runs.size(),
                                   set.runs.size() == 1 ? "" : "s", writing, reading),
                       "one run that writes, and the same or one other that reads");
}

void check_checkpoint_gap(const RunSet& set, const Submitter&, const Scene& scene, Report& report) {
    const RunFacts *writer = nullptr, *reader = nullptr;
    for (const RunFacts& run : set.runs) {
        if (run.checkpoint_writes.value_or(0) > 0) writer = &run;
        if (run.checkpoint_reads.value_or(0) > 0) reader = &run;
    }
    if (writer == nullptr || reader == nullptr || writer == reader) return; // in one run there is no gap to judge
    std::optional<double> gap_s = reader->checkpoint_gap_s;
    if (!gap_s && writer->end_s && reader->start_s) gap_s = *reader->start_s - *writer->end_s;
    if (!gap_s) return report.unknown(set.path, "the times of the two runs are not said");
    const std::string expected = fmt::format("0 to {:g} s from the end of the writes", *scene.edition.checkpoint_gap_s);
    if (*gap_s < 0)
        report.finding(reader->path, fmt::format("began {:.1f} s before the writes ended: clocks differ", -*gap_s),
                       expected);
    else if (*gap_s > *scene.edition.checkpoint_gap_s)
        report.finding(reader->path, fmt::format("began {:.1f} s after the writes", *gap_s), expected);
}

} // namespace feedbench::submission
