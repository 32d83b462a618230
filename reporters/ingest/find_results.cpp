#include "reporters/ingest/find_results.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <system_error>

namespace feedbench::ingest {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 64;

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// "12_output.json" -> true
bool is_rank_output(const std::string& name) {
    const std::size_t digits = name.find_first_not_of("0123456789");
    return digits != std::string::npos && digits > 0 && name.substr(digits) == "_output.json";
}

// Where a run keeps the effective configuration, by the name that the tool gives the folder.
bool holds_config(const std::string& folder) {
    return folder == "configs" || folder == "dlio_config" || folder == "hydra_config" || folder == ".hydra" ||
           folder == ".hydra_config";
}

class Walk {
  public:
    FoundResults found;

    // `shallow`: only this folder, and the settings of its run.
    void enter(const fs::path& folder, int depth, bool shallow) {
        if (depth > kDeepest) return problem(folder, "folders nested more than 64 deep", "a tree of results");
        std::error_code error;
        std::vector<fs::directory_entry> entries;
        fs::directory_iterator it(folder, error);
        for (; !error && it != fs::directory_iterator(); it.increment(error)) entries.push_back(*it);
        if (error) problem(folder, "cannot be listed: " + error.message(), "a readable folder");
        std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.path() < b.path(); });
        for (const fs::directory_entry& entry : entries) {
            std::error_code ignored; // a broken link is neither folder nor file
            if (entry.is_directory(ignored)) {
                // A link can lead back to where one came from.
                if (entry.is_symlink(ignored) && !links_.insert(fs::canonical(entry.path(), ignored)).second) continue;
                const std::string name = entry.path().filename().string();
                if (name == ".git" || (shallow && !holds_config(name))) continue;
                enter(entry.path(), depth + 1, shallow);
            } else {
                file(entry.path());
            }
        }
    }

    void file(const fs::path& path) {
        const std::string name = path.filename().string(), small = lower(name);
        const std::string folder = path.parent_path().filename().string();
        if (name.starts_with("._")) {
            if (small.ends_with(".json"))
                problem(path, "a macOS AppleDouble file (Finder's data of the file of that name), not JSON",
                        "nothing: such files can be deleted", true);
            return;
        }
        if (name == "config.yaml" && holds_config(folder)) {
            run(path.parent_path().parent_path()).config = path;
        } else if (lower(folder) == "systems") {
            if (small.ends_with(".json") || small.ends_with(".yaml") || small.ends_with(".yml"))
                found.systems.push_back(path);
        } else if (small == "result.json") {
            run(path.parent_path()).result = path;
        } else if (small == "summary.json") {
            run(path.parent_path()).summary = path;
        } else if (small == "mlperf_storage_report.json") {
            found.reports.push_back(path);
        } else if (small == "results.json") {
            found.lists.push_back(path);
        } else if (small == "per_epoch_stats.json" || small == "0_per_epoch_stats.json") {
            run(path.parent_path()).epoch_stats = path;
        } else if (small.ends_with("_metadata.json")) {
            run(path.parent_path()).metadata = path;
        } else if (is_rank_output(small)) {
            run(path.parent_path()).rank_outputs.push_back(path);
        }
    }

    void finish() {
        for (auto& [folder, run] : runs_) {
            if (run.result.empty() && run.summary.empty()) {
                // The files of ranks without a summary: a run that did not end. Settings and metadata alone: no run.
                if (!run.rank_outputs.empty())
                    problem(folder, "files of ranks but no summary.json",
                            "summary.json, which a run writes at its end");
                continue;
            }
            found.runs.push_back(std::move(run));
        }
    }

  private:
    RunFolder& run(const fs::path& folder) {
        RunFolder& one = runs_[folder];
        one.folder = folder;
        return one;
    }
    void problem(const fs::path& path, std::string what, std::string expected, bool used = false) {
        found.problems.push_back({path.string(), std::move(what), std::move(expected), used});
    }
    std::map<fs::path, RunFolder> runs_;
    std::set<fs::path> links_;
};

} // namespace

FoundResults find_results(const fs::path& input) {
    Walk walk;
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    if (!fs::exists(status)) {
        walk.found.problems.push_back({input.string(), "there is no such file or folder",
                                       "a feedbench result, a result tree or a DLIO output folder"});
    } else if (fs::is_directory(status)) {
        walk.enter(input, 0, false);
    } else {
        // A file stands for the run that it belongs to; a report for all runs below it.
        const std::string name = lower(input.filename().string());
        const fs::path folder = input.has_parent_path() ? input.parent_path() : fs::path(".");
        const bool report = name == "mlperf_storage_report.json" || name == "results.json";
        if (report || name == "result.json" || name == "summary.json" || is_rank_output(name) ||
            name.ends_with("per_epoch_stats.json"))
            walk.enter(folder, 0, !report);
        else
            walk.found.problems.push_back(
                {input.string(), "a file that holds no result",
                 "result.json, summary.json, results.json, mlperf_storage_report.json or a folder"});
    }
    walk.finish();
    return std::move(walk.found);
}

} // namespace feedbench::ingest
