// What follows from the runs of a tree: reports over them, sizing and the manifest of edition 3.0.
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/types/units.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/submission/findings.hpp"
#include "reporters/submission/new_files.hpp"
#include "reporters/submission/writer.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
std::string or_empty(const std::optional<std::uint32_t>& value) { return value ? std::to_string(*value) : ""; }

struct Spread {
    double sum = 0, squares = 0, count = 0;
    void add(double x) {
        sum += x;
        squares += x * x;
        ++count;
    }
    double mean() const { return count > 0 ? sum / count : 0; }
    double stdev() const { return count > 0 ? std::sqrt(std::max(0.0, squares / count - mean() * mean())) : 0; }
};

std::string name_of(const RunFacts& run) { return fs::path(run.path).filename().string(); }

// As reportgen of edition 1.0 writes it: accelerators as a string, MB that are MiB.
Json training_report(const RunSet& set) {
    Spread rate;
    Json runs = Json::object();
    const RunFacts& first = set.runs.front();
    const double to_MiB_per_second = to_MiB(first.record_length_bytes.value_or(0));
    for (const RunFacts& run : set.runs) {
        Json one;
        if (run.samples_per_second) {
            if (!run.is_warm_up) rate.add(*run.samples_per_second);
            one["train_throughput_samples_per_second"] = *run.samples_per_second;
            one["train_throughput_MB_per_second"] = *run.samples_per_second * to_MiB_per_second;
        }
        one["train_au_mean_percentage"] = or_null(run.au_percentage);
        one["train_num_accelerators"] = or_empty(run.accelerator_count);
        one["model"] = run.model;
        one["accelerator"] = run.accelerator;
        one["num_files_train"] = or_null(run.file_count);
        one["num_samples_per_file"] = or_null(run.samples_per_file);
        if (run.is_warm_up) one["warm_up"] = true;
        runs[name_of(run)] = one;
    }
    Json overall;
    overall["model"] = set.model;
    overall["accelerator"] = set.accelerator;
    overall["num_benchmark_runs"] = set.runs.size();
    overall["train_num_accelerators"] = or_empty(first.accelerator_count);
    overall["num_files_train"] = or_null(first.file_count);
    overall["num_samples_per_file"] = or_null(first.samples_per_file);
    overall["train_throughput_mean_samples_per_second"] = rate.mean();
    overall["train_throughput_stdev_samples_per_second"] = rate.stdev();
    overall["train_throughput_mean_MB_per_second"] = rate.mean() * to_MiB_per_second;
    overall["train_throughput_stdev_MB_per_second"] = rate.stdev() * to_MiB_per_second;
    return {{"overall", overall}, {"runs", runs}};
}

// The figures of its runs as their summaries say them: writes and reads may lie in two.
Json checkpoint_report(const RunSet& set) {
    Json runs = Json::object(), overall;
    overall["model"] = set.model;
    overall["num_benchmark_runs"] = set.runs.size();
    overall["num_processes"] = or_null(set.runs.front().accelerator_count);
    for (const RunFacts& run : set.runs) {
        Json one;
        one["checkpoints_written"] = or_null(run.checkpoint_writes);
        one["checkpoints_read"] = or_null(run.checkpoint_reads);
        if (const auto summary = ingest::read_json(fs::path(run.path) / "summary.json"))
            for (const auto& [key, value] : ingest::member(summary->value, "metric").items())
                if (key.find("checkpoint") != std::string::npos) {
                    one[key] = value;
                    if (!value.is_null()) overall[key] = value;
                }
        runs[name_of(run)] = one;
    }
    return {{"overall", overall}, {"runs", runs}};
}

// The figures of a checkpoint set's summaries, whichever of its runs has them.
std::optional<double> summary_figure(const RunSet& set, const char* key) {
    std::optional<double> found;
    for (const RunFacts& run : set.runs)
        if (const auto summary = ingest::read_json(fs::path(run.path) / "summary.json"))
            if (const auto value = ingest::number_at(ingest::member(summary->value, "metric"), key)) found = value;
    return found;
}

// A row of results.json, by the columns of the report tool of edition 3.0.
Json row_3(const RunSet& set, const Submitter& submitter) {
    const RunFacts& first = set.runs.front();
    Json row;
    row["statement"] = kStatement;
    row["benchmark_type"] = set.kind == kTraining ? "training" : "checkpointing";
    row["model"] = set.model;
    row["orgname"] = submitter.name;
    row["systemname"] = set.system;
    row["category"] = submitter.division;
    row["issues"] = "";
    if (set.kind == kCheckpoint) {
        row["checkpoint_num_client_nodes"] = or_null(first.host_count);
        row["checkpoint_mode"] = first.checkpoint_mode == "subset" ? "Subset" : "Default";
        row["checkpoint_write_bw_gibps"] = or_null(summary_figure(set, "save_checkpoint_io_mean_GB_per_second"));
        row["checkpoint_read_bw_gibps"] = or_null(summary_figure(set, "load_checkpoint_io_mean_GB_per_second"));
        row["checkpoint_write_duration_secs"] = or_null(summary_figure(set, "save_checkpoint_duration_mean_seconds"));
        row["checkpoint_read_duration_secs"] = or_null(summary_figure(set, "load_checkpoint_duration_mean_seconds"));
        return row;
    }
    Spread rate, au;
    for (const RunFacts& run : set.runs) {
        if (run.is_warm_up) continue;
        if (run.samples_per_second) rate.add(*run.samples_per_second);
        if (run.au_percentage) au.add(*run.au_percentage);
    }
    row["accelerator"] = set.accelerator;
    row["train_num_client_nodes"] = or_null(first.host_count);
    row["train_num_simulated_accelerators"] = or_null(first.accelerator_count);
    row["train_mean_of_throughput_samples_per_second"] = rate.mean();
    row["train_mean_of_au_percentage"] = au.mean();
    row["train_read_bw_gibps"] = to_GiB(rate.mean() * first.record_length_bytes.value_or(0));
    return row;
}

std::string text_of(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Status write_set_reports(const Submitter& submitter, const EditionFacts& edition) {
    std::map<fs::path, std::vector<const RunSet*>> by_path;
    for (const RunSet& set : submitter.sets) {
        const LayoutRow* row = find_row(What::report, edition, set.kind);
        if (row == nullptr || !set.in_place) continue;
        by_path[submitter.root /
                fill(row->pattern, {{"system", set.system}, {"model", set.model}, {"accelerator", set.accelerator}})]
            .push_back(&set);
    }
    for (const auto& [path, sets] : by_path) {
        Json report = edition.bit == k30 ? Json::array() : Json::object({{"statement", kStatement}});
        for (const RunSet* set : sets) {
            if (edition.bit == k30) {
                report.push_back(row_3(*set, submitter));
                continue;
            }
            const Json part = set->kind == kTraining ? training_report(*set) : checkpoint_report(*set);
            // The first stands where readers of one result look for it.
            if (set == sets.front()) report.update(part);
            if (sets.size() > 1) report[set->accelerator] = part;
        }
        if (Status written = write_over(path, text_of(report)); !written) return written;
    }
    return {};
}

bool sizing_is_there(const fs::path& place, double file_count) {
    std::error_code error;
    for (fs::directory_iterator it(place, error); !error && it != fs::directory_iterator(); it.increment(error))
        if (const auto file = ingest::read_json(it->path() / "training_datasize_metadata.json")) {
            const auto files = ingest::number_at(ingest::member(ingest::member(file->value, "parameters"), "dataset"),
                                                 "num_files_train");
            if (files && *files == file_count) return true;
        }
    return false;
}

// Sizing is a pure function of what a run says; feedbench datasize gives the same numbers.
Status write_sizing(const RunSet& set, const Submitter& submitter, const EditionFacts& edition) {
    const LayoutRow* row = find_row(What::datasize, edition, set.kind);
    const RunFacts& run = set.runs.front();
    if (row == nullptr || !set.in_place || !run.file_count) return {};
    const fs::path folder =
        submitter.root / fill(row->pattern, {{"system", set.system}, {"model", set.model}, {"stamp", name_of(run)}});
    std::error_code ignored;
    if (sizing_is_there(folder.parent_path(), static_cast<double>(*run.file_count)) || fs::exists(folder, ignored))
        return {};
    Json all;
    all["statement"] = kStatement;
    all["tool"] = "feedbench " FEEDBENCH_VERSION;
    all["args"] = {{"model", set.model},
                   {"accelerator_type", set.accelerator},
                   {"max_accelerators", or_null(run.accelerator_count)},
                   {"num_client_hosts", or_null(run.host_count)},
                   {"client_host_memory_in_gb", run.host_memory_GiB && run.host_count
                                                    ? Json(*run.host_memory_GiB / *run.host_count)
                                                    : Json(nullptr)}};
    all["parameters"] = {
        {"dataset", {{"num_files_train", *run.file_count}, {"num_samples_per_file", or_null(run.samples_per_file)}}}};
    if (Status made = make_folders(folder); !made) return made;
    if (Status written = write_new(folder / "training_datasize_metadata.json", text_of(all)); !written) return written;
    return write_new(folder / "training_datasize.stdout.log",
                     fmt::format("{}.\n\n{} files of {} samples for {} accelerators\n", kStatement, *run.file_count,
                                 run.samples_per_file.value_or(1), run.accelerator_count.value_or(0)));
}

Status write_manifest(const Submitter& submitter, const EditionFacts& edition) {
    const LayoutRow* row = find_row(What::manifest, edition, kAnyKind);
    if (row == nullptr) return {};
    std::string out = fmt::format("# {}. The inventory of this folder, written by feedbench submit.\n"
                                  "organization: {}\ndivision: {}\nrules_edition: \"{}\"\nlayout_version: 3\n"
                                  "tool: feedbench " FEEDBENCH_VERSION "\nsystems:{}\n",
                                  kStatement, submitter.name, submitter.division, edition.name,
                                  submitter.systems.empty() ? " []" : "");
    for (const std::string& system : submitter.systems) out += fmt::format("  - {}\n", Json(system).dump());
    std::string runs;
    for (const RunSet& set : submitter.sets)
        for (const RunFacts& run : set.runs)
            runs += fmt::format("  - {}\n", Json(below(submitter.root, run.path)).dump());
    return write_over(submitter.root / row->pattern, out + (runs.empty() ? "runs: []\n" : "runs:\n" + runs));
}

} // namespace

Status write_reports(const fs::path& root) {
    PublishedProfiles profiles;
    const auto tree = read_tree(root, "", profiles);
    if (!tree) return tree.error();
    for (const Submitter& submitter : tree->submitters) {
        if (Status written = write_set_reports(submitter, *tree->edition); !written) return written;
        for (const RunSet& set : submitter.sets)
            if (Status written = write_sizing(set, submitter, *tree->edition); !written) return written;
        if (Status written = write_manifest(submitter, *tree->edition); !written) return written;
    }
    return {};
}

} // namespace feedbench::submission
