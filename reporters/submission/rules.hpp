// The rules of a submission, as data: ONE table, which the checker, `run --closed`, `submit add` and the docs go by.
//
// Thread: any (constant table; checks are pure functions but for the files that those of submitters look at). Owner:
// none. Units: as in run_facts.hpp. Errors: a check that lacks a fact says so (unknown); it never guesses. Source:
// rules of editions 1.0, 2.0, 3.0, named in each row. To add a rule: a function and a row in rules.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reporters/submission/findings.hpp"
#include "reporters/submission/tree.hpp"

namespace feedbench::submission {

struct Rule;

// Where a check puts what it found.
class Report {
  public:
    Report(const Rule& rule, const std::filesystem::path& root, CheckResult& result)
        : rule_(rule), root_(root), result_(result) {}
    // `path`: absolute, shown below the tree; or a name, shown as it stands.
    void finding(const std::filesystem::path& path, std::string found, std::string expected);
    void unknown(const std::filesystem::path& path, std::string reason);

  private:
    std::string shown(const std::filesystem::path& path) const;
    const Rule& rule_;
    const std::filesystem::path& root_;
    CheckResult& result_;
};

struct Scene {
    const EditionFacts& edition;
    unsigned division; // one bit
    PublishedProfiles& profiles;
};

using RunCheck = void (*)(const RunFacts& run, const Scene& scene, Report& report);
using SetCheck = void (*)(const RunSet& set, const Submitter& submitter, const Scene& scene, Report& report);
using SubmitterCheck = void (*)(const Submitter& submitter, const Tree& tree, const Scene& scene, Report& report);

struct Rule {
    std::string_view id;
    unsigned editions, divisions, kinds;
    Severity severity;
    bool before_run; // `run --closed` looks at it before it measures, and refuses
    bool belongs;    // `submit add` refuses a run that breaks it
    std::string_view checks, source;
    // Exactly one of the three.
    RunCheck run = nullptr;
    SetCheck set = nullptr;
    SubmitterCheck submitter = nullptr;
};

std::span<const Rule> rules();
const Rule* find_rule(std::string_view id);
bool applies(const Rule& rule, const Scene& scene, unsigned kind);

// run_rules.cpp
void check_workload(const RunFacts&, const Scene&, Report&);
void check_parameters(const RunFacts&, const Scene&, Report&);
void check_workflow(const RunFacts&, const Scene&, Report&);
void check_dataset_size(const RunFacts&, const Scene&, Report&);
void check_au(const RunFacts&, const Scene&, Report&);
void check_even_accelerators(const RunFacts&, const Scene&, Report&);
void check_results_place(const RunFacts&, const Scene&, Report&);
void check_host_memory(const RunFacts&, const Scene&, Report&);
void check_validity(const RunFacts&, const Scene&, Report&);
void check_scale(const RunFacts&, const Scene&, Report&);
void check_agreement(const RunFacts&, const Scene&, Report&);
void check_edition(const RunFacts&, const Scene&, Report&);
// checkpoint_rules.cpp
void check_checkpoint_ranks(const RunFacts&, const Scene&, Report&);
void check_ranks_of_hosts(const RunFacts&, const Scene&, Report&);
void check_checkpoint_count(const RunFacts&, const Scene&, Report&);
void check_fsync(const RunFacts&, const Scene&, Report&);
void check_checkpoint_phases(const RunSet&, const Submitter&, const Scene&, Report&);
void check_checkpoint_gap(const RunSet&, const Submitter&, const Scene&, Report&);
// set_rules.cpp
void check_place(const RunSet&, const Submitter&, const Scene&, Report&);
void check_run_count(const RunSet&, const Submitter&, const Scene&, Report&);
void check_seeds(const RunSet&, const Submitter&, const Scene&, Report&);
void check_run_gaps(const RunSet&, const Submitter&, const Scene&, Report&);
void check_alike(const RunSet&, const Submitter&, const Scene&, Report&);
void check_spread(const RunSet&, const Submitter&, const Scene&, Report&);
void check_report_there(const RunSet&, const Submitter&, const Scene&, Report&);
void check_report_says(const RunSet&, const Submitter&, const Scene&, Report&);
void check_phases(const RunSet&, const Submitter&, const Scene&, Report&);
void check_datasize(const RunSet&, const Submitter&, const Scene&, Report&);
// submitter_rules.cpp
void check_division(const Submitter&, const Tree&, const Scene&, Report&);
void check_folders(const Submitter&, const Tree&, const Scene&, Report&);
void check_systems_have_runs(const Submitter&, const Tree&, const Scene&, Report&);
void check_description_there(const Submitter&, const Tree&, const Scene&, Report&);
void check_description_whole(const Submitter&, const Tree&, const Scene&, Report&);
void check_pdf(const Submitter&, const Tree&, const Scene&, Report&);
void check_statement(const Submitter&, const Tree&, const Scene&, Report&);
void check_manifest(const Submitter&, const Tree&, const Scene&, Report&);
// file_rules.cpp
void check_leaf_files(const Submitter&, const Tree&, const Scene&, Report&);
void check_nothing_else(const Submitter&, const Tree&, const Scene&, Report&);
void check_broken_files(const Submitter&, const Tree&, const Scene&, Report&);
void check_stray_files(const Submitter&, const Tree&, const Scene&, Report&);

} // namespace feedbench::submission
