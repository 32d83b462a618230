#include "reporters/ingest/ingest.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <string>
#include <system_error>

#include "reporters/ingest/feedbench_run.hpp"
#include "reporters/ingest/find_results.hpp"
#include "reporters/ingest/light_result.hpp"
#include "reporters/ingest/reference_run.hpp"
#include "reporters/ingest/surroundings.hpp"

namespace feedbench::ingest {
namespace {

namespace fs = std::filesystem;

// "run3", "run-3", "cosmoflow_a100_run_1", "20260701_100000", "2023-04-04-11-34-32": a folder of one repetition.
bool is_one_of_many(const std::string& name) {
    std::string text;
    std::size_t digits = 0;
    for (const char c : name) {
        const auto u = static_cast<unsigned char>(c);
        if (std::isdigit(u) != 0) ++digits;
        if (std::isalnum(u) != 0) text += static_cast<char>(std::tolower(u));
    }
    if (text.size() == digits && digits >= 12) return true;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
    return digits > 0 && text.ends_with("run");
}

// Repetitions lie side by side, some with a client's folder between. What they are called decides only which runs are
// averaged: counts, workload and accelerator must agree as well.
std::string set_of(const fs::path& run_folder) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(run_folder, ignored).lexically_normal();
    fs::path at = whole;
    for (int level = 0; level < 3 && at.has_filename(); ++level, at = at.parent_path())
        if (is_one_of_many(at.filename().string())) return at.parent_path().string();
    return whole.string();
}

std::string shown(const fs::path& input) {
    std::string text = input.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

// What was measured outside a submission is called as it was given, and by where it lies below that.
std::string name_below(const fs::path& input, const fs::path& set) {
    std::error_code ignored;
    const fs::path below = set.lexically_relative(fs::absolute(shown(input), ignored));
    const std::string text = below.string();
    return text.empty() || text == "." || text.starts_with("..") ? shown(input) : shown(input) + "/" + text;
}

class Ingest {
  public:
    Ingested result;

    void add(const fs::path& input, std::size_t index) {
        FoundResults found = find_results(input);
        std::move(found.problems.begin(), found.problems.end(), std::back_inserter(result.problems));
        for (const fs::path& path : found.reports) around_.report(path);
        for (const fs::path& path : found.systems) around_.description(path);
        for (const fs::path& path : found.lists) add_list(path, found.runs, input, index);
        for (const RunFolder& folder : found.runs) {
            std::error_code ignored;
            const fs::path real = fs::canonical(folder.folder, ignored);
            if (const auto [known, is_new] = seen_.emplace(real, index); !is_new) {
                result.problems.push_back({folder.folder.string(), "was given twice", "each result once", true});
                continue;
            }
            if (auto run = read(folder)) {
                run->input_index = index;
                run->set_path = set_of(folder.folder);
                if (run->system.empty()) run->system = name_below(input, run->set_path);
                result.runs.push_back(std::move(*run));
            }
        }
        if (found.runs.empty() && found.lists.empty() && found.problems.empty())
            result.problems.push_back({input.string(), "no result below it",
                                       "result.json of feedbench, or summary.json of the reference tool"});
    }

  private:
    // A results.json whose runs lie beside it only describes them; alone, it stands for them.
    void add_list(const fs::path& path, const std::vector<RunFolder>& runs, const fs::path& input, std::size_t index) {
        const std::vector<ReportRow>* rows = around_.list(path);
        if (rows == nullptr) return;
        const std::string folder = path.parent_path().string() + "/";
        const auto below = [&](const RunFolder& run) { return run.folder.string().starts_with(folder); };
        if (std::any_of(runs.begin(), runs.end(), below)) return;
        std::error_code ignored;
        if (!seen_.emplace(fs::canonical(path, ignored), index).second) return;
        for (const ReportRow& row : *rows) {
            auto run = run_of_row(row, path.string());
            if (!run) {
                result.problems.push_back({path.string(), fmt::format("a row of {} without figures", row.model),
                                           "samples/s and accelerators, or rates of checkpoints"});
                continue;
            }
            run->input_index = index;
            run->set_path = fs::absolute(path.parent_path(), ignored).lexically_normal().string();
            if (run->system.empty()) run->system = name_below(input, run->set_path);
            result.runs.push_back(std::move(*run));
        }
    }

    std::optional<IngestedRun> read(const RunFolder& folder) {
        if (!folder.result.empty()) {
            const auto measured = read_light_result(folder.result);
            if (measured) {
                if (auto run = from_run_result(*measured, folder.folder.string()))
                    return std::move(*run);
                else
                    result.problems.push_back(
                        {folder.result.string(), run.error().message, "a complete training or checkpoint result"});
                return {};
            }
            // The summary beside it says less, but what it says can be read.
            result.problems.push_back({folder.result.string(), measured.error().message, "a result of this feedbench",
                                       !folder.summary.empty()});
            if (folder.summary.empty()) return {};
        }
        auto run = read_reference_run(folder, around_, result.problems);
        if (run) return std::move(*run);
        result.problems.push_back({folder.summary.string(), run.error().message,
                                   "summary.json of a training or checkpoint run as the reference tool writes it"});
        return {};
    }

    std::map<fs::path, std::size_t> seen_;
    Surroundings around_{result.problems};
};

} // namespace

Ingested ingest(std::span<const fs::path> inputs) {
    Ingest all;
    for (std::size_t i = 0; i < inputs.size(); ++i) all.add(inputs[i], i);
    return std::move(all.result);
}

} // namespace feedbench::ingest
