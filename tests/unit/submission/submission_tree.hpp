// Small results as feedbench leaves them, and submission trees made of them by the writer, in a folder that goes away
// with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "harness/config/checkpoint_sizes.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/dataset/sizing.hpp"
#include "reporters/ingest/published_workloads.hpp"
#include "reporters/registry.hpp"
#include "reporters/submission/check.hpp"
#include "reporters/submission/description.hpp"
#include "reporters/submission/writer.hpp"

namespace feedbench::submission::test {

namespace fs = std::filesystem;
using RuleFinding = submission::Finding; // a RunResult has findings, too

class TemporaryFolder {
  public:
    TemporaryFolder() {
        // Thousands of small files: in memory where that is offered.
        const fs::path parent = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
        std::string pattern = (parent / "feedbench-submission.XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

inline void write_text(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}
inline std::string read_text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Runs of 100 s, 10 s apart.
inline std::string clock_text(int run, int second, const char* format) {
    char text[64];
    const int total = 10 * 3600 + run * 110 + second;
    std::snprintf(text, sizeof text, format, total / 3600, total / 60 % 60, total % 60);
    return text;
}

inline HostFacts host(int number, std::uint32_t ranks) {
    HostFacts h;
    h.name = "client-" + std::to_string(number);
    h.rank_count = h.accelerator_count = ranks;
    h.cpu_count = 64;
    h.memory_bytes = std::uint64_t{16} << 30;
    h.cpu_model = "Some CPU";
    h.kernel = "6.1.0";
    return h;
}

inline RunResult base(const std::string& model, const std::string& accelerator, const std::string& edition, int run) {
    RunResult r;
    r.feedbench_version = "0.1.0";
    r.status = "complete";
    r.valid = true;
    r.workload = profile_name(model, accelerator);
    r.model = model;
    r.accelerator_model = accelerator;
    r.edition = edition;
    r.command_line = "feedbench run " + r.workload;
    r.start_time = "2026-11-30T" + clock_text(run, 0, "%02d:%02d:%02d.000000+0000");
    r.end_time = "2026-11-30T" + clock_text(run, 100, "%02d:%02d:%02d.000000+0000");
    r.run_id = "20261130_" + clock_text(run, 0, "%02d%02d%02d");
    r.run_seed = 1000 + static_cast<std::uint64_t>(run);
    return r;
}

// Without the keys that nobody said and no rule of its own asks for: half the time of these tests is their JSON.
inline std::vector<ConfigValue> said(std::vector<ConfigValue> values) {
    std::erase_if(values, [](const ConfigValue& one) {
        return one.origin == "default" && !one.key.starts_with("workflow.") && !one.key.starts_with("checkpoint.") &&
               one.key != "model.scale" && !one.key.starts_with("reader.");
    });
    return values;
}

// 4 accelerators on 2 hosts of 16 GiB, with exactly as many files as the rules ask for; AU 95 %.
inline RunResult training(const std::string& model, const std::string& accelerator, const std::string& edition, int run,
                          std::vector<std::string> params = {}) {
    RunResult r = base(model, accelerator, edition, run);
    const ingest::PublishedWorkload* published = ingest::find_published(model, accelerator);
    if (published == nullptr) published = ingest::find_published(model, "b200"); // mi355: its think time is not said
    DatasetSection section;
    section.record_length_bytes = published->record_length_bytes;
    section.num_samples_per_file = model == "resnet50" ? 1251 : 1;
    dataset::SizingRequest request;
    request.accelerator_count = 4;
    request.batch_size = static_cast<std::uint32_t>(published->batch_size);
    request.host_count = 2;
    request.memory_GB_per_host = 16;
    r.num_files_train = dataset::size_dataset(section, request)->file_count;
    params.insert(params.begin(), "dataset.num_files_train=" + std::to_string(r.num_files_train));
    params.insert(params.begin(), "dataset.data_folder=/mnt/x/data");
    if (const auto workload = config::load_workload({.workload = r.workload, .params = params})) {
        r.config = said(workload->values);
        r.num_files_train = workload->dataset.num_files_train;
        section.num_samples_per_file = workload->dataset.num_samples_per_file;
    } // retinanet, mi355: rules, but no profile yet
    r.num_samples_per_file = section.num_samples_per_file;
    r.record_length_bytes = published->record_length_bytes;
    r.batch_size = request.batch_size;
    r.think_time_mean_s = published->think_time_s;
    r.au_required = published->au_bar_percentage / 100;
    r.accelerator_count = 4;
    r.rank_count = 4;
    r.epoch_count = 5;
    r.hosts = {host(1, 2), host(2, 2)};
    const double rate = 0.95 * 4 * published->batch_size / published->think_time_s + run * 0.001;
    r.metrics = {{"au_mean_percentage", "percent", 95.0, "", "rules"},
                 {"samples_per_second_mean", "samples/s", rate, "", "rules"}};
    return r;
}

// As many ranks as CLOSED asks for, 8 on a host; 10 checkpoints written, 10 read.
inline RunResult checkpoint(const std::string& model, const std::string& edition, int run, int writes = 10,
                            int reads = 10, std::vector<std::string> params = {}) {
    RunResult r = base(model, "", edition, run);
    r.kind = "checkpoint";
    params.insert(params.begin(), "checkpoint.checkpoint_folder=/mnt/x/checkpoints");
    if (writes != 10) params.push_back("checkpoint.num_checkpoints_write=" + std::to_string(writes > 0 ? writes : -1));
    if (reads != 10) params.push_back("checkpoint.num_checkpoints_read=" + std::to_string(reads > 0 ? reads : -1));
    if (const auto workload = config::load_workload({.workload = r.workload, .params = params}))
        r.config = said(workload->values);
    const auto ranks = static_cast<std::uint32_t>(*config::closed_rank_count(model));
    r.accelerator_count = r.rank_count = ranks;
    for (std::uint32_t i = 0; i < ranks / 8; ++i) r.hosts.push_back(host(static_cast<int>(i) + 1, 8));
    for (int i = 0; i < writes + reads; ++i) {
        CheckpointResult one;
        one.kind = i < writes ? "write" : "read";
        one.bytes = std::uint64_t{1} << 30;
        one.committed = true;
        one.duration_s = 2;
        one.start_s = 3 * i;
        r.checkpoints.push_back(one);
    }
    return r;
}

// A folder as `run` leaves it.
inline fs::path leave_result(const fs::path& parent, const RunResult& result) {
    const fs::path folder = parent / result.kind / result.model / "run" / result.run_id;
    fs::create_directories(folder);
    for (const char* name : {"json", "mlperf_summary", "mlperf_epochs"}) { // the pages are not copied
        const reporters::Reporter* reporter = reporters::find_reporter(name);
        write_text(folder / reporter->file_name, reporter->render(result, {}));
    }
    write_text(folder / "config.yaml",
               "workflow:\n  train: " + std::string(result.kind == "training" ? "true" : "false") +
                   "\n  checkpoint: true\ncheckpoint:\n  fsync: true\n");
    write_text(folder / "log.txt", "run complete\n");
    return folder;
}

inline std::string filled_description() {
    std::string text = description_yaml(
        {{{"client-1", "client-2"}, "Some CPU", "6.1.0", "Debian GNU/Linux 12", 64, 16, "eth0", 100}}, {}, "big4000");
    const std::pair<const char*, const char*> answers[]{{"vendor_name", "Acme"},
                                                        {"solution_name", "Big 4000"},
                                                        {"access_type", "NAS"},
                                                        {"access_protocol", "NFSv4.2"},
                                                        {"usable_capacity_GiB", "1000"},
                                                        {"raw_capacity_GiB", "1200"},
                                                        {"max_power_watts", "2400"},
                                                        {"hardware", "2 nodes"},
                                                        {"software", "7.1"},
                                                        {"multi_host_support", "true"},
                                                        {"simultaneous_write_support", "true"},
                                                        {"simultaneous_read_support", "true"},
                                                        {"remapping_time_s", "0"}};
    for (const auto& [key, answer] : answers) {
        const std::string waiting = std::string(key) + ": FILL IN";
        text.replace(text.find(waiting), waiting.size(), std::string(key) + ": " + answer);
    }
    return text;
}

inline std::vector<RunResult> golden_runs(const std::string& edition, const std::string& model,
                                          const std::string& accelerator) {
    std::vector<RunResult> runs;
    if (find_workload(*find_edition(edition), model)->kinds == kCheckpoint) return {checkpoint(model, edition, 0)};
    for (int run = 0; run < static_cast<int>(find_edition(edition)->run_count_least); ++run)
        runs.push_back(training(model, accelerator, edition, run));
    return runs;
}

// A whole tree in `root`; the submitter's folder. `place`: the writer without its refusals, so that defects get in.
inline fs::path write_tree(const fs::path& root, const std::string& edition, const std::string& division,
                           const std::vector<RunResult>& runs) {
    const auto must = [](const Status& status) {
        if (!status) throw std::runtime_error(status.error().describe());
    };
    write_text(root / "big4000.yaml", filled_description());
    write_text(root / "big4000.pdf", "%PDF-1.4\n");
    write_text(root / "data" / "feedbench-manifest.json", "{\"state\": \"complete\"}\n");
    const fs::path tree = root / "tree";
    must(init_tree({tree, edition, "acme", division, "big4000", root / "big4000.yaml", root / "big4000.pdf"}));
    const Target target{tree / division / "acme", find_edition(edition), "big4000"};
    PublishedProfiles profiles;
    for (const RunResult& run : runs) {
        const auto placed = place_run(target, leave_result(root / "results", run), profiles);
        if (!placed) throw std::runtime_error(placed.error().describe());
        if (run.kind == "training") must(place_dataset(target, folder_model(run.model), root / "data"));
    }
    must(write_reports(tree));
    return target.submitter;
}

// A golden tree, written once: not to be changed, but copied.
inline const fs::path& golden_tree(const std::string& edition, const std::string& division, const std::string& model,
                                   const std::string& accelerator) {
    static std::map<std::string, std::unique_ptr<TemporaryFolder>> written;
    auto& golden = written[edition + division + model + accelerator];
    if (!golden) {
        golden = std::make_unique<TemporaryFolder>();
        write_tree(golden->path(), edition, division, golden_runs(edition, model, accelerator));
    }
    return golden->path();
}

inline std::string lines(const CheckResult& result) {
    std::string all;
    for (const Finding& finding : result.findings) all += line_of(finding) + "\n";
    return all;
}

} // namespace feedbench::submission::test
