// Rules on the runs that make one result.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <system_error>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/submission/rules.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

// A set that lies elsewhere is said by run_misplaced; its report is looked for around it.
fs::path report_path(const RunSet& set, const Submitter& submitter, const Scene& scene) {
    const LayoutRow* row = find_row(What::report, scene.edition, set.kind);
    if (row == nullptr) return {};
    if (set.in_place)
        return submitter.root /
               fill(row->pattern, {{"system", set.system}, {"model", set.model}, {"accelerator", set.accelerator}});
    const std::string name = fs::path(row->pattern).filename().string();
    for (fs::path at = set.path; at.has_filename() && at != submitter.root; at = at.parent_path())
        if (is_file(at / name)) return at / name;
    return set.path / name;
}

std::string times(const RunFacts& run) { return fs::path(run.path).filename().string(); }

std::optional<double> mean_rate(const RunSet& set) {
    double sum = 0, count = 0;
    for (const RunFacts& run : set.runs) {
        if (run.is_warm_up) continue;
        if (!run.samples_per_second) return {};
        sum += *run.samples_per_second;
        ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// What a report says of one set: edition 3.0 has a list with a row each, earlier ones an object; with several
// accelerators of one model in one folder it has a part for each.
struct ReportPart {
    std::optional<double> mean;
    std::optional<std::size_t> run_count;
};
ReportPart report_part(const nlohmann::json& file, const RunSet& set) {
    ReportPart part;
    if (file.is_array()) {
        for (const auto& row : file)
            if (ingest::text_at(row, "benchmark_type") == "training" &&
                folder_model(ingest::text_at(row, "model")) == set.model &&
                ingest::accelerator_name(ingest::text_at(row, "accelerator")) == set.accelerator)
                part.mean = ingest::number_at(row, "train_mean_of_throughput_samples_per_second");
        return part;
    }
    const auto& own = set.accelerator.empty() ? file : ingest::member(file, set.accelerator.c_str());
    const auto& from = own.is_object() ? own : file;
    part.mean = ingest::number_at(ingest::member(from, "overall"), "train_throughput_mean_samples_per_second");
    if (const auto& runs = ingest::member(from, "runs"); runs.is_object()) part.run_count = runs.size();
    return part;
}

// Folders YYYYMMDD_HHMMSS of a phase, below the set's workload.
std::vector<fs::path> phase_folders(What phase, const RunSet& set, const Submitter& submitter, const Scene& scene,
                                    fs::path& place) {
    const LayoutRow* row = find_row(phase, scene.edition, set.kind);
    if (row == nullptr || !set.in_place) return {};
    place = (submitter.root / fill(row->pattern, {{"system", set.system}, {"model", set.model}})).parent_path();
    std::vector<fs::path> folders;
    std::error_code error, ignored;
    for (fs::directory_iterator it(place, error); !error && it != fs::directory_iterator(); it.increment(error))
        if (it->is_directory(ignored) && is_stamp(it->path().filename().string())) folders.push_back(it->path());
    return folders;
}

} // namespace

void check_place(const RunSet& set, const Submitter& submitter, const Scene& scene, Report& report) {
    const LayoutRow* row = find_row(What::run, scene.edition, set.kind);
    if (row == nullptr) return; // the edition has no such results: workload_unknown
    std::size_t astray = 0;
    const RunFacts* first = nullptr;
    for (const RunFacts& run : set.runs)
        if (!lies_in_place(run, *row, submitter.root)) {
            if (++astray == 1) first = &run;
        }
    if (first == nullptr) return;
    report.finding(first->path,
                   fmt::format("{} of {} run{} lie{} elsewhere", astray, set.runs.size(),
                               set.runs.size() == 1 ? "" : "s", astray == 1 ? "s" : ""),
                   fill(row->pattern, {{"system", "<system>"},
                                       {"model", set.model.empty() ? "<model>" : set.model},
                                       {"accelerator", set.accelerator.empty() ? "<accelerator>" : set.accelerator},
                                       {"number", "<N>"},
                                       {"stamp", "<YYYYMMDD_HHMMSS>"}}));
}

void check_run_count(const RunSet& set, const Submitter&, const Scene& scene, Report& report) {
    const std::size_t least = scene.edition.run_count_least, most = scene.edition.run_count_most;
    if (set.runs.size() >= least && set.runs.size() <= most) return;
    report.finding(set.path, fmt::format("{} run{}", set.runs.size(), set.runs.size() == 1 ? "" : "s"),
                   least == most ? fmt::format("exactly {}", least) : fmt::format("{} or {}", least, most));
}

void check_seeds(const RunSet& set, const Submitter&, const Scene&, Report& report) {
    std::map<std::uint64_t, const RunFacts*> seen;
    for (const RunFacts& run : set.runs) {
        if (!run.run_seed) return report.unknown(set.path, "no file says the runs' seeds");
        if (const auto [other, is_new] = seen.emplace(*run.run_seed, &run); !is_new)
            return report.finding(run.path, fmt::format("seed {}, as in {}", *run.run_seed, times(*other->second)),
                                  "another seed in every run (--seed left out)");
    }
}

void check_run_gaps(const RunSet& set, const Submitter&, const Scene&, Report& report) {
    for (std::size_t i = 1; i < set.runs.size(); ++i) {
        const RunFacts &before = set.runs[i - 1], &run = set.runs[i];
        if (!before.start_s || !before.end_s || !run.start_s)
            return report.unknown(set.path, "start and end of the runs are not said");
        const double gap_s = *run.start_s - *before.end_s, length_s = *before.end_s - *before.start_s;
        if (gap_s < 0)
            report.finding(run.path, fmt::format("began {:.1f} s before {} had ended", -gap_s, times(before)),
                           "one run after the other");
        else if (gap_s >= length_s)
            report.finding(run.path, fmt::format("began {:.1f} s after {}", gap_s, times(before)),
                           fmt::format("less than the {:.1f} s that it took: runs follow each other", length_s));
    }
}

void check_alike(const RunSet& set, const Submitter&, const Scene&, Report& report) {
    const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string("?"); };
    const auto describe = [&](const RunFacts& run) {
        std::string all =
            fmt::format("{} accelerators on {} hosts, {} files of {} samples", text(run.accelerator_count),
                        text(run.host_count), text(run.file_count), text(run.samples_per_file));
        if (run.changes)
            for (const ParameterChange& change : *run.changes)
                if (!change.key.starts_with("checkpoint.num_checkpoints_"))
                    all += fmt::format(", {} = {}", change.key, change.value);
        return all;
    };
    const RunFacts* first = nullptr;
    for (const RunFacts& run : set.runs) {
        if (run.is_unreadable) continue;
        if (first == nullptr) first = &run;
        if (const std::string wanted = describe(*first), other = describe(run); wanted != other)
            return report.finding(run.path, other, fmt::format("as in {}: {}", times(*first), wanted));
    }
}

void check_spread(const RunSet& set, const Submitter&, const Scene&, Report& report) {
    const auto mean = mean_rate(set);
    if (!mean) return report.unknown(set.path, "samples/s of a run are not said");
    for (const RunFacts& run : set.runs)
        if (!run.is_warm_up && std::abs(*run.samples_per_second / *mean - 1) > 0.05)
            report.finding(run.path,
                           fmt::format("{:.2f} samples/s, {:+.1f} % from the mean", *run.samples_per_second,
                                       100 * (*run.samples_per_second / *mean - 1)),
                           fmt::format("within 5 % of {:.2f}", *mean));
}

void check_report_there(const RunSet& set, const Submitter& submitter, const Scene& scene, Report& report) {
    const fs::path path = report_path(set, submitter, scene);
    if (!path.empty() && !is_file(path))
        report.finding(set.path, "no " + path.filename().string(), below(submitter.root, path));
}

void check_report_says(const RunSet& set, const Submitter& submitter, const Scene& scene, Report& report) {
    const fs::path path = report_path(set, submitter, scene);
    if (path.empty() || !is_file(path)) return; // said by report_missing
    const auto file = ingest::read_json(path);
    if (!file) return; // said by file_broken
    const ReportPart part = report_part(file->value, set);
    const auto mean = mean_rate(set);
    if (!part.mean) {
        report.finding(path, fmt::format("no mean samples/s of {} {}", set.model, set.accelerator),
                       "a report over the runs that are there");
        return;
    }
    if (!mean) return; // said by runs_differ as unknown
    const std::size_t counted = set.runs.size() - (set.runs.front().is_warm_up ? 1 : 0);
    if (std::abs(*part.mean - *mean) > std::max(0.005, 1e-6 * *mean)) // two decimals are what the rules ask for
        report.finding(path, fmt::format("a mean of {:.4f} samples/s", *part.mean),
                       fmt::format("{:.4f}, the mean of {} runs", *mean, counted));
    else if (part.run_count && *part.run_count != set.runs.size())
        report.finding(path, fmt::format("{} runs", *part.run_count),
                       fmt::format("the {} runs there are", set.runs.size()));
}

void check_phases(const RunSet& set, const Submitter& submitter, const Scene& scene, Report& report) {
    for (const What phase : {What::datagen, What::datasize}) {
        fs::path place;
        const auto folders = phase_folders(phase, set, submitter, scene, place);
        if (place.empty()) continue; // not of this edition, or the set lies elsewhere
        const bool one_only = scene.edition.nothing_else && phase == What::datagen;
        if (folders.empty() || (one_only && folders.size() > 1))
            report.finding(place, fmt::format("{} folders YYYYMMDD_HHMMSS", folders.size()),
                           one_only ? "exactly one" : "at least one");
    }
}

void check_datasize(const RunSet& set, const Submitter& submitter, const Scene& scene, Report& report) {
    fs::path place;
    bool any = false;
    for (const fs::path& folder : phase_folders(What::datasize, set, submitter, scene, place)) {
        std::error_code error;
        for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
            if (!fits("*_metadata.json", it->path().filename().string())) continue;
            const auto file = ingest::read_json(it->path());
            if (!file) return report.finding(it->path(), file.error().message, "what sizing said, in JSON");
            const auto files = ingest::number_at(ingest::member(ingest::member(file->value, "parameters"), "dataset"),
                                                 "num_files_train");
            if (!files) return report.finding(it->path(), "no parameters.dataset.num_files_train", "what sizing said");
            any = true;
            for (const RunFacts& run : set.runs)
                if (run.file_count && static_cast<double>(*run.file_count) == *files) return;
        }
    }
    if (any)
        report.finding(set.path,
                       fmt::format("runs with {} files",
                                   set.runs.front().file_count ? std::to_string(*set.runs.front().file_count) : "?"),
                       "as many as a datasize/ beside them says");
}

} // namespace feedbench::submission
