#include "reporters/submission/tree.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "reporters/ingest/ingest.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/ingest/surroundings.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;

fs::path plain(const fs::path& path) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(path, ignored).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
}

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> all;
    std::error_code error, ignored;
    for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error))
        if (it->is_directory(ignored) && !it->path().filename().string().starts_with('.')) all.push_back(it->path());
    std::sort(all.begin(), all.end());
    return all;
}

bool holds_submitter(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_directory(folder / "results", ignored) || fs::is_directory(folder / "systems", ignored);
}

class Reading {
  public:
    Reading(const fs::path& root, PublishedProfiles& profiles) : profiles_(profiles) { tree.root = plain(root); }
    Tree tree;

    void find_submitters() {
        const std::string own = tree.root.filename().string();
        if (holds_submitter(tree.root)) {
            const std::string above = tree.root.parent_path().filename().string();
            add_submitter(tree.root, division_of(lower(above)) ? above : "");
        }
        for (const fs::path& folder : folders_in(tree.root)) {
            const std::string name = folder.filename().string();
            if (division_of(lower(own)) && holds_submitter(folder)) add_submitter(folder, own);
            if (!division_of(lower(name))) continue;
            for (const fs::path& submitter : folders_in(folder)) add_submitter(submitter, name);
        }
    }

    void read_runs() {
        const std::vector<fs::path> inputs{tree.root};
        ingest::Ingested ingested = ingest::ingest(inputs);
        for (ingest::Problem& problem : ingested.problems)
            if (!is_expected(problem)) tree.problems.push_back(std::move(problem));
        std::map<fs::path, const ingest::IngestedRun*> known;
        for (const ingest::IngestedRun& run : ingested.runs) known[plain(run.path)] = &run;
        std::vector<RunFacts> unreadable;
        for (const ingest::RunFolder& folder : ingest::find_results(tree.root).runs) {
            const fs::path path = plain(folder.folder);
            if (is_no_run(path)) continue;
            const auto found = known.find(path);
            const ingest::IngestedRun* one = found == known.end() ? nullptr : found->second;
            RunFacts facts = facts_of(folder, one, profiles_, tree.problems);
            facts.path = path.string();
            if (facts.is_unreadable) {
                unreadable.push_back(std::move(facts));
                continue;
            }
            ++editions_[facts.edition];
            place(std::move(facts), path, one);
        }
        for (RunFacts& facts : unreadable) place_beside(std::move(facts));
    }

    Status choose_edition(const std::string& asked) {
        std::string name = asked;
        std::error_code ignored;
        for (const fs::path& at : {tree.root, tree.root.parent_path(), tree.root.parent_path().parent_path()})
            if (name.empty() && fs::is_regular_file(at / kTreeFile, ignored))
                if (const auto file = ingest::read_yaml(at / kTreeFile)) name = ingest::text_at(*file, "edition");
        if (name.empty()) {
            editions_.erase("");
            const auto most = std::max_element(editions_.begin(), editions_.end(),
                                               [](const auto& a, const auto& b) { return a.second < b.second; });
            if (most != editions_.end()) name = most->first;
        }
        if (name.empty()) name = by_layout();
        tree.edition = find_edition(name);
        if (tree.edition == nullptr)
            return usage_error(
                fmt::format("there are no rules of edition '{}': there are {}", name, edition_names(kEveryEdition)));
        return {};
    }

  private:
    void add_submitter(const fs::path& root, const std::string& division_folder) {
        Submitter submitter;
        submitter.root = root;
        submitter.name = root.filename().string();
        submitter.division_folder = division_folder;
        submitter.division = lower(division_folder);
        for (const fs::path& system : folders_in(root / "results"))
            submitter.systems.push_back(system.filename().string());
        tree.submitters.push_back(std::move(submitter));
    }

    // Checkpoint results are none of a comparison's, but of ours.
    static bool is_expected(const ingest::Problem& problem) {
        return problem.found.find("only training results are compared") != std::string::npos ||
               problem.found.find("nothing was measured") != std::string::npos ||
               problem.found.find("no result below it") != std::string::npos;
    }

    // datagen/<stamp> of the reference tool holds a summary.json, too.
    static bool is_no_run(const fs::path& path) {
        const std::string phase = path.parent_path().filename().string();
        return phase == "datagen" || phase == "datasize";
    }

    Submitter& submitter_of(const fs::path& run) {
        Submitter* best = nullptr;
        for (Submitter& one : tree.submitters)
            if (!below(one.root, run).starts_with("..") && (best == nullptr || best->root < one.root)) best = &one;
        if (best != nullptr) return *best;
        add_submitter(tree.root, ""); // results that lie in no submission
        return tree.submitters.back();
    }

    void place(RunFacts facts, const fs::path& path, const ingest::IngestedRun* ingested) {
        Submitter& submitter = submitter_of(path);
        RunSet one;
        one.path = path.parent_path();
        if (ingested != nullptr && facts.tool == Tool::reference) one.path = ingested->set_path;
        const std::string inside = below(submitter.root / "results", path);
        one.system = inside.starts_with("..") ? "" : inside.substr(0, inside.find('/'));
        one.model = facts.model;
        one.accelerator = facts.accelerator;
        one.kind = facts.kind;
        for (RunSet& set : submitter.sets)
            if (set.path == one.path && set.model == one.model && set.accelerator == one.accelerator &&
                set.kind == one.kind) {
                set.runs.push_back(std::move(facts));
                return;
            }
        one.runs.push_back(std::move(facts));
        submitter.sets.push_back(std::move(one));
    }

    // Nothing in it says of what it is a run: it is one of those that lie around it.
    void place_beside(RunFacts facts) {
        for (RunSet& set : submitter_of(facts.path).sets)
            if (!below(set.path, facts.path).starts_with("..")) {
                set.runs.push_back(std::move(facts));
                return;
            }
    }

    std::string by_layout() const {
        std::error_code ignored;
        for (const Submitter& submitter : tree.submitters) {
            if (fs::exists(submitter.root / "submission.yaml", ignored)) return "3.0";
            for (const std::string& system : submitter.systems)
                for (const char* folder : {"training", "checkpointing"})
                    if (fs::is_directory(submitter.root / "results" / system / folder, ignored)) return "2.0";
        }
        return tree.submitters.empty() ? "2.0" : "1.0";
    }

    PublishedProfiles& profiles_;
    std::map<std::string, int> editions_;
};

} // namespace

std::string below(const fs::path& root, const fs::path& path) {
    const std::string text = path.lexically_relative(root).string();
    return text.empty() ? path.string() : text;
}

bool lies_in_place(const RunFacts& run, const LayoutRow& row, const fs::path& submitter) {
    const auto found = match(row.pattern, below(submitter, run.path));
    if (!found) return false;
    const auto says = [&](const char* name, const std::string& value) {
        const auto one = found->find(name);
        return one == found->end() || value.empty() || one->second == value;
    };
    return says("model", run.model) && says("accelerator", run.accelerator);
}

Expected<Tree> read_tree(const fs::path& root, const std::string& edition, PublishedProfiles& profiles) {
    std::error_code error;
    if (!fs::is_directory(root, error))
        return usage_error(
            fmt::format("{}: {}; a submission tree is a folder", root.string(), error ? error.message() : "a file"));
    Reading reading(root, profiles);
    reading.find_submitters();
    reading.read_runs();
    if (Status status = reading.choose_edition(edition); !status) return status.error();
    for (Submitter& submitter : reading.tree.submitters)
        for (RunSet& set : submitter.sets) {
            const LayoutRow* row = find_row(What::run, *reading.tree.edition, set.kind);
            for (const RunFacts& run : set.runs)
                set.in_place = set.in_place && row != nullptr && lies_in_place(run, *row, submitter.root);
            std::stable_sort(set.runs.begin(), set.runs.end(), [](const RunFacts& a, const RunFacts& b) {
                return std::tuple(a.start_s.value_or(0), a.path) < std::tuple(b.start_s.value_or(0), b.path);
            });
            if (set.kind == kTraining && set.runs.size() == reading.tree.edition->run_count_with_warm_up)
                set.runs.front().is_warm_up = true;
        }
    return std::move(reading.tree);
}

} // namespace feedbench::submission
