// `submit add`: a run of feedbench into its place.
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <system_error>

#include "reporters/ingest/find_results.hpp"
#include "reporters/ingest/lenient_json.hpp"
#include "reporters/read_result.hpp"
#include "reporters/registry.hpp"
#include "reporters/submission/check.hpp"
#include "reporters/submission/new_files.hpp"
#include "reporters/submission/writer.hpp"

namespace feedbench::submission {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kManifest = "feedbench-manifest.json";

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::vector<std::string> folders_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error, ignored;
    for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error))
        if (it->is_directory(ignored)) names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::string overrides_text(const RunFacts& facts) {
    std::string out = fmt::format("# What differs from the published workload. {}.\n", kStatement);
    if (!facts.changes || facts.changes->empty()) return out + "[]\n";
    for (const ParameterChange& change : *facts.changes)
        out += fmt::format("- {}\n", Json(fmt::format("++workload.{}={}", change.key, change.value)).dump());
    return out;
}

std::string metadata_text(const RunResult& result, const RunFacts& facts) {
    Json all;
    all["statement"] = kStatement;
    all["tool"] = "feedbench " + result.feedbench_version;
    all["rules_edition"] = result.edition;
    all["benchmark_type"] = facts.kind == kTraining ? "training" : "checkpointing";
    all["model"] = facts.model;
    all["accelerator"] = facts.accelerator;
    all["num_processes"] = result.accelerator_count;
    all["num_hosts"] = result.hosts.size();
    all["run_datetime"] = result.run_id;
    all["command"] = result.command_line;
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<std::string> content_of(const LeafFile& file, const RunResult& result, const RunFacts& facts,
                                 const fs::path& folder) {
    if (file.source == "@console")
        return fmt::format("{}.\n\n", kStatement) + reporters::find_reporter("console")->render(result, {});
    if (file.source == "@overrides") return overrides_text(facts);
    if (file.source == "@metadata") return metadata_text(result, facts);
    return ingest::read_text(folder / file.source, std::uintmax_t{1} << 30);
}

// A run that is there already under another number: edition 1.0 numbers them.
Status refuse_known(const fs::path& set, const RunResult& result) {
    for (const std::string& name : folders_in(set)) {
        const fs::path known = set / name / "result.json";
        if (!is_there(known)) continue;
        const auto other = reporters::read_result(known);
        if (other && other->run_id == result.run_id && other->run_seed == result.run_seed)
            return usage_error(
                fmt::format("the run {} is there already: {}", result.run_id, known.parent_path().string()));
    }
    return {};
}

Expected<fs::path> place_for(const Target& target, const RunResult& result, const RunFacts& facts) {
    const LayoutRow* row = find_row(What::run, *target.edition, facts.kind);
    if (row == nullptr)
        return usage_error(
            fmt::format("edition {} has no results of this kind ({})", target.edition->name, result.kind));
    if (!is_stamp(result.run_id))
        return usage_error(fmt::format("the run's id '{}' is not YYYYMMDD_HHMMSS", result.run_id));
    Variables variables{{"system", target.system},
                        {"model", facts.model},
                        {"accelerator", facts.accelerator},
                        {"stamp", result.run_id},
                        {"number", "1"}};
    fs::path path = target.submitter / fill(row->pattern, variables);
    if (row->pattern.find("{number}") != std::string_view::npos) {
        if (Status known = refuse_known(path.parent_path(), result); !known) return known.error();
        for (int number = 2; is_there(path); ++number) {
            variables["number"] = std::to_string(number);
            path = target.submitter / fill(row->pattern, variables);
        }
    }
    if (is_there(path)) return usage_error(path.string() + " is there already: nothing is overwritten");
    return path;
}

// A folder's runs, oldest first.
Expected<std::vector<std::pair<fs::path, RunResult>>> collect(const std::vector<fs::path>& inputs) {
    std::vector<std::pair<fs::path, RunResult>> all;
    for (const fs::path& input : inputs) {
        const ingest::FoundResults found = ingest::find_results(input);
        bool any = false;
        for (const ingest::RunFolder& folder : found.runs) {
            if (folder.result.empty()) continue;
            auto result = reporters::read_result(folder.result);
            if (!result) return result.error();
            all.emplace_back(folder.folder, std::move(*result));
            any = true;
        }
        if (!any)
            return usage_error(fmt::format("{}: no result.json of feedbench below it{}", input.string(),
                                           found.problems.empty() ? "" : " (" + found.problems.front().found + ")"));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second.start_time < b.second.start_time; });
    return all;
}

Status refuse_foreign(const fs::path& folder, const RunResult& result, const Target& target,
                      PublishedProfiles& profiles) {
    const std::string division = target.submitter.parent_path().filename().string();
    const RunFacts facts = facts_of(result, folder.string(), profiles);
    const CheckResult judged =
        check_run(facts, {std::string(target.edition->name), division, RunJudgement::When::belonging}, profiles);
    if (judged.findings.empty()) return {};
    std::string message =
        fmt::format("{} does not belong into {} of edition {}:", folder.string(), division, target.edition->name);
    for (const Finding& finding : judged.findings)
        message += fmt::format(" {}: {}; right is: {}.", finding.rule, finding.found, finding.expected);
    return usage_error(message);
}

// The only folder in `parent`, or the asked one, which must be there.
Expected<std::string> only_one(const fs::path& parent, const std::string& asked, const char* option, const char* what) {
    const std::vector<std::string> names = folders_in(parent);
    if (!asked.empty()) return asked;
    if (names.size() == 1) return names.front();
    return usage_error(fmt::format("{} has {} {}s: say which one ({})", parent.string(), names.size(), what, option));
}

Expected<Target> target_of(const Addition& addition) {
    Target target;
    const auto file = ingest::read_yaml(addition.root / kTreeFile);
    if (!file)
        return usage_error(fmt::format("{} is no tree of feedbench: there is no {} (feedbench submit init)",
                                       addition.root.string(), kTreeFile));
    target.edition = find_edition(ingest::text_at(*file, "edition"));
    if (target.edition == nullptr)
        return format_error((addition.root / kTreeFile).string(),
                            "it names no edition: " + edition_names(kEveryEdition));
    std::string division = addition.division;
    if (division.empty()) {
        for (const char* name : {"closed", "open"})
            if (is_there(addition.root / name)) division = division.empty() ? name : "both";
        if (division == "both" || division.empty())
            return usage_error(fmt::format("{} has {}: say which one (--division)", addition.root.string(),
                                           division.empty() ? "no division" : "both divisions"));
    }
    target.submitter = addition.root / division / ingest::text_at(*file, "organisation");
    if (!is_there(target.submitter))
        return usage_error(
            fmt::format("there is no {}: feedbench submit init --division {}", target.submitter.string(), division));
    target.system = addition.system;
    if (target.system.empty()) {
        std::vector<std::string> described;
        std::error_code error;
        const fs::path systems = target.submitter / "systems";
        for (fs::directory_iterator it(systems, error); !error && it != fs::directory_iterator(); it.increment(error))
            if (it->path().extension() == ".yaml" || it->path().extension() == ".json")
                described.push_back(it->path().stem().string());
        if (described.size() == 1) target.system = described.front();
    }
    auto system = only_one(target.submitter / "results", target.system, "--system", "system");
    if (!system) return system.error();
    target.system = *system;
    return target;
}

} // namespace

Expected<fs::path> place_run(const Target& target, const fs::path& folder, PublishedProfiles& profiles) {
    const auto result = reporters::read_result(folder);
    if (!result) return result.error();
    const RunFacts facts = facts_of(*result, folder.string(), profiles);
    const auto path = place_for(target, *result, facts);
    if (!path) return path.error();
    // A dot in front: whoever looks at the tree meanwhile does not see a run in it.
    const fs::path partial = path->parent_path() / ("." + path->filename().string() + ".partial");
    std::error_code ignored, error;
    fs::remove_all(partial, ignored); // of an attempt that was killed
    const auto give_up = [&](const Error& why) {
        fs::remove_all(partial, ignored);
        return why;
    };
    for (const LeafFile& file : leaf_files()) {
        if (!applies(file, What::run, *target.edition, facts.kind) || file.source.empty()) continue;
        const auto text = content_of(file, *result, facts, folder);
        if (!text) {
            if (!file.required) continue;
            return give_up(text.error());
        }
        const fs::path to = partial / (file.written.empty() ? file.name : file.written);
        if (Status made = make_folders(to.parent_path()); !made) return give_up(made.error());
        if (Status written = write_new(to, *text); !written) return give_up(written.error());
    }
    fs::rename(partial, *path, error);
    if (error) return give_up(storage_error("rename", path->string(), error.value()));
    return *path;
}

Status place_dataset(const Target& target, const std::string& model, const fs::path& dataset) {
    const LayoutRow* row = find_row(What::datagen, *target.edition, kTraining);
    if (row == nullptr) return {}; // edition 1.0 has no place for it
    const fs::path source = dataset.filename() == kManifest ? dataset : dataset / kManifest;
    const auto text = read_named(source);
    if (!text) return text.error();
    struct stat state {};
    if (::stat(source.c_str(), &state) != 0) return storage_error("stat", source.string(), errno);
    std::tm when{};
    localtime_r(&state.st_mtime, &when);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d_%H%M%S", &when);
    const fs::path folder =
        target.submitter / fill(row->pattern, {{"system", target.system}, {"model", model}, {"stamp", stamp}});
    for (const std::string& other : folders_in(folder.parent_path())) {
        const auto known = ingest::read_text(folder.parent_path() / other / kManifest);
        if (known && *known == *text) return {}; // the same dataset, with an earlier run
        if (target.edition->nothing_else)
            return usage_error(fmt::format("{} holds the generation of another dataset already; edition {} wants one",
                                           folder.parent_path().string(), target.edition->name));
    }
    if (Status made = make_folders(folder); !made) return made;
    if (Status written = write_new(folder / kManifest, *text); !written) return written;
    return write_new(folder / "training_datagen.stdout.log",
                     fmt::format("{}.\n\nfeedbench datagen wrote this manifest beside the data, when the last file was "
                                 "committed:\n{}\n",
                                 kStatement, *text));
}

Expected<Added> add_results(const Addition& addition) {
    const auto target = target_of(addition);
    if (!target) return target.error();
    const auto results = collect(addition.results);
    if (!results) return results.error();
    PublishedProfiles profiles;
    for (const auto& [folder, result] : *results)
        if (Status belongs = refuse_foreign(folder, result, *target, profiles); !belongs) return belongs.error();
    Added added;
    for (const auto& [folder, result] : *results) {
        const auto placed = place_run(*target, folder, profiles);
        if (!placed) return placed.error();
        added.placed.push_back(*placed);
    }
    if (!addition.dataset.empty())
        for (const auto& [folder, result] : *results)
            if (result.kind == "training")
                if (Status placed = place_dataset(*target, folder_model(result.model), addition.dataset); !placed)
                    return placed.error();
    if (Status written = write_reports(addition.root); !written) return written.error();
    return added;
}

} // namespace feedbench::submission
