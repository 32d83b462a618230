// A submission tree as it lies there: submitters, systems, sets of runs, and what is broken.
//
// Thread: one. Owner: check(). Units: as in run_facts.hpp. Errors: what cannot be read is a Problem; a tree without any
// run is one too. Source: layout.hpp; reporters/ingest finds runs in any of the published layouts, one level too high
// or too low included.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/types/error.hpp"
#include "reporters/submission/run_facts.hpp"

namespace feedbench::submission {

// Runs of one workload, accelerator and system: repetitions of one measurement, or the phases of one checkpoint.
struct RunSet {
    std::filesystem::path path;
    std::string system, model, accelerator;
    unsigned kind = kTraining;
    bool in_place = true;       // every run lies where the layout says
    std::vector<RunFacts> runs; // in the order of time, where it is known, else of names
};

struct Submitter {
    std::filesystem::path root; // {closed,open}/<org>
    std::string name, division; // division: empty, no folder says it
    std::string division_folder;
    std::vector<std::string> systems; // folders below results/
    std::vector<RunSet> sets;
};

struct Tree {
    std::filesystem::path root;
    const EditionFacts* edition = nullptr;
    std::vector<Submitter> submitters;
    std::vector<ingest::Problem> problems;
};

// `edition` empty: as the tree says (kTreeFile), else as most of its runs do, else as its layout does.
Expected<Tree> read_tree(const std::filesystem::path& root, const std::string& edition, PublishedProfiles& profiles);

// Whether a run lies where the layout says, in a folder that is called after its workload.
bool lies_in_place(const RunFacts& run, const LayoutRow& row, const std::filesystem::path& submitter);

// The path below the tree, for people.
std::string below(const std::filesystem::path& root, const std::filesystem::path& path);

} // namespace feedbench::submission
