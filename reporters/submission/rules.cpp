#include "reporters/submission/rules.hpp"

#include <array>

namespace feedbench::submission {
namespace {

using enum Severity;
constexpr unsigned kSince20 = k20 | k30;

// One run: columns are id, editions, divisions, kinds, severity, before a run, belongs, what is checked, source.
constexpr Rule of_run(std::string_view id, unsigned editions, unsigned divisions, unsigned kinds, bool before_run,
                      bool belongs, std::string_view checks, std::string_view source, RunCheck check) {
    return {id, editions, divisions, kinds, error, before_run, belongs, checks, source, check, nullptr, nullptr};
}
constexpr Rule of_set(std::string_view id, unsigned editions, unsigned kinds, Severity severity,
                      std::string_view checks, std::string_view source, SetCheck check) {
    return {id, editions, kBoth, kinds, severity, false, false, checks, source, nullptr, check, nullptr};
}
constexpr Rule of_submitter(std::string_view id, unsigned editions, Severity severity, std::string_view checks,
                            std::string_view source, SubmitterCheck check) {
    return {id, editions, kBoth, kAnyKind, severity, false, false, checks, source, nullptr, nullptr, check};
}

constexpr std::array kRules{
    // What was run.
    of_run("workload_unknown", kEveryEdition, kBoth, kAnyKind, true, true,
           "model and accelerator are ones of the edition", "rules 1.0-3.0, workloads; 3.0 rules 2.1.11, 2.1.21",
           check_workload),
    of_run("parameter_not_allowed", kEveryEdition, kBoth, kAnyKind, true, true,
           "a key that differs from the published workload is one that the division may change",
           "rules 1.0-3.0, tables of parameters; 3.0 rules 3.6.2, 3.6.3, 4.6.3", check_parameters),
    of_run("workflow", kEveryEdition, kBoth, kAnyKind, true, false,
           "workflow.*: training runs train, checkpoint runs do not; edition 2.0 wants unet3d's checkpoint",
           "rules 1.0-3.0, workload files", check_workflow),
    of_run("model_scaled", kEveryEdition, kBoth, kAnyKind, true, true, "model.scale is 1",
           "feedbench's own key: a scaled model is another workload", check_scale),
    of_run("edition_differs", kEveryEdition, kBoth, kAnyKind, false, true,
           "the run was measured for the edition of its tree", "rules 1.0-3.0: one set of rules a submission",
           check_edition),
    // How large it was.
    of_run("dataset_too_small", kEveryEdition, kBoth, kTraining, true, false,
           "num_files_train is at least max(500 steps, 5 x memory of all client hosts), truncated as the rules do",
           "rules 1.0-3.0, dataset sizing; 3.0 rule 3.1.2", check_dataset_size),
    of_run("host_memory_unknown", kEveryEdition, kBoth, kTraining, false, false,
           "the memory of every client host is said", "3.0 rule 3.1.2: sizing needs it", check_host_memory),
    of_run("uneven_accelerators", kEveryEdition, kBoth, kTraining, true, false,
           "every host has the same number of accelerators", "rules 1.0-3.0; 3.0 rule 3.3.6", check_even_accelerators),
    of_run("results_on_storage", kEveryEdition, kBoth, kAnyKind, true, false,
           "results do not lie on the storage under test", "rules 1.0-3.0; 3.0 rules 3.4.2, 4.4.2",
           check_results_place),
    // What came out.
    of_run("run_not_valid", kEveryEdition, kBoth, kAnyKind, true, true,
           "the run was measured to its end, not simulated, and feedbench calls it valid (not cached, not implausible)",
           "rules 1.0-3.0, caching; docs/trust.md", check_validity),
    of_run("au_below_bar", kEveryEdition, kBoth, kTraining, false, false,
           "mean AU of the run reaches the workload's bar", "rules 1.0-3.0, bars; 3.0 rule 3.3.2", check_au),
    of_run("files_disagree", kEveryEdition, kBoth, kAnyKind, false, false, "summary.json and result.json say the same",
           "feedbench writes both from one result", check_agreement),
    // Checkpoints.
    of_run("checkpoint_ranks", kSince20, kBoth, kCheckpoint, true, false,
           "CLOSED: 8, 64, 512, 1024 ranks for 8b, 70b, 405b, 1t; OPEN: a multiple of TP x PP",
           "rules 2.0, 3.0; 3.0 rules 4.3.5, 4.6.1, 4.6.4", check_checkpoint_ranks),
    of_run("checkpoint_ranks_per_host", kSince20, kBoth, kCheckpoint, true, false, "at least 4 ranks on every host",
           "rules 2.0, 3.0; 3.0 rule 4.6.2", check_ranks_of_hosts),
    of_run("checkpoint_count", kSince20, kBoth, kCheckpoint, true, false,
           "CLOSED: 10 checkpoints written, 10 read, or one of both left to another run", "rules 2.0, 3.0, table 3",
           check_checkpoint_count),
    of_run("checkpoint_fsync", kSince20, kBoth, kCheckpoint, true, false, "checkpoint.fsync is true",
           "rules 2.0, 3.0; 3.0 rule 4.3.2", check_fsync),
    of_set("checkpoint_phases", kSince20, kCheckpoint, error, "one run writes, and the same or one other reads",
           "rules 2.0, 3.0; 3.0 rules 2.1.23, 4.7.1", check_checkpoint_phases),
    of_set("checkpoint_gap", k30, kCheckpoint, error,
           "at most 30 s from the end of the writes to the start of the process that reads", "3.0 rule 4.7.1",
           check_checkpoint_gap),
    // The runs of one result.
    of_set("run_misplaced", kEveryEdition, kAnyKind, error, "runs lie where the edition's layout says",
           "trees of editions 1.0-3.0", check_place),
    of_set("run_count", kEveryEdition, kTraining, error,
           "5 runs; 2.0: 5, or 6 with the warm-up; 3.0: 6, the first is warm-up", "rules 1.0-3.0; 3.0 rule 2.1.17",
           check_run_count),
    of_set("run_seed_repeated", kEveryEdition, kTraining, error, "every run has another seed",
           "rules 1.0-3.0: random seeds", check_seeds),
    of_set("run_gap", kSince20, kTraining, error, "from one run to the next less time passes than the one before took",
           "3.0 rule 2.1.18", check_run_gaps),
    of_set("runs_not_alike", kEveryEdition, kAnyKind, error,
           "the runs of one result have the same counts and parameters", "rules 1.0-3.0; 3.0 rule 2.1.9", check_alike),
    of_set("runs_differ", kEveryEdition, kTraining, warning, "samples/s of every run is within 5 % of their mean",
           "rules 1.0-3.0: replicable within 5 %", check_spread),
    of_set("report_missing", kEveryEdition, kAnyKind, error, "the report over the runs is there",
           "trees of editions 1.0-3.0; 3.0 rules 2.1.16, 2.1.22", check_report_there),
    of_set("report_disagrees", kEveryEdition, kTraining, error,
           "the report's mean is the mean of its runs, and it knows all of them", "rules 1.0-3.0", check_report_says),
    of_set("phase_missing", kSince20, kTraining, error,
           "what was said when the dataset was generated is there; 3.0: sizing, too",
           "trees of editions 2.0, 3.0; 3.0 rules 2.1.12, 2.1.13", check_phases),
    of_set("datasize_differs", k30, kTraining, error, "runs use as many files as sizing said", "3.0 rule 3.3.1",
           check_datasize),
    // The submission around them.
    of_submitter("division_name", kEveryEdition, error, "the submitter's folder lies in one called closed or open",
                 "trees of editions 1.0-3.0: names are case-sensitive", check_division),
    of_submitter("folder_missing", kEveryEdition, error, "results and systems are there; 1.0, 2.0: code, too",
                 "trees of editions 1.0-3.0; 3.0 rule 2.1.5", check_folders),
    of_submitter("system_without_runs", kEveryEdition, error, "every folder of a system holds runs", "3.0 rule 2.1.8",
                 check_systems_have_runs),
    of_submitter("description_missing", kEveryEdition, error, "systems/<system>.json (1.0) or .yaml describes it",
                 "rules 1.0-3.0; 3.0 rule 2.1.7", check_description_there),
    of_submitter("description_incomplete", kEveryEdition, error,
                 "a description made by `system describe` fits its schema, and nothing in it waits to be filled in",
                 "reporters/schema/system.schema.json", check_description_whole),
    of_submitter("pdf_missing", kEveryEdition, error, "systems/<system>.pdf is there, and is one",
                 "rules 1.0-3.0; 3.0 rule 2.1.7", check_pdf),
    of_submitter("statement_missing", kEveryEdition, error,
                 "README.md beside results of feedbench says that they are not verified by MLCommons",
                 "MLPerf is a trademark of MLCommons", check_statement),
    of_submitter("manifest_missing", k30, error, "submission.yaml is there and of the edition",
                 "3.0, submission manifest", check_manifest),
    of_submitter("file_missing", kEveryEdition, error,
                 "folders of runs, of generation and of sizing hold the files of the layout",
                 "trees of editions 1.0-3.0; 3.0 rules 2.1.14, 2.1.15, 2.1.19, 2.1.20, 2.1.25", check_leaf_files),
    of_submitter("not_of_layout", k30, error, "nothing else lies in the tree, but for dot-files and *.md",
                 "3.0 rules 2.1.7-2.1.12", check_nothing_else),
    of_submitter("file_broken", kEveryEdition, error, "every file can be read as what it is",
                 "rules 1.0-3.0; docs/compare.md lists what is read after a repair", check_broken_files),
    of_submitter("file_stray", kEveryEdition, warning, "no AppleDouble files, no JSON schemas among systems",
                 "published trees of edition 1.0", check_stray_files),
};

} // namespace

std::span<const Rule> rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
    for (const Rule& rule : kRules)
        if (rule.id == id) return &rule;
    return nullptr;
}

bool applies(const Rule& rule, const Scene& scene, unsigned kind) {
    return (rule.editions & scene.edition.bit) != 0 && (rule.divisions & scene.division) != 0 &&
           (rule.kinds & kind) != 0;
}

std::string Report::shown(const std::filesystem::path& path) const {
    return path.is_absolute() && !root_.empty() ? below(root_, path) : path.string();
}

void Report::finding(const std::filesystem::path& path, std::string found, std::string expected) {
    result_.findings.push_back(
        {std::string(rule_.id), rule_.severity, shown(path), std::move(found), std::move(expected)});
}

void Report::unknown(const std::filesystem::path& path, std::string reason) {
    result_.not_checked.push_back({std::string(rule_.id), shown(path), std::move(reason)});
}

} // namespace feedbench::submission
