// Writes a submission tree: folders, runs, reports, manifest. The checker's twin: both go by layout.hpp.
//
// Thread: one. Owner: none. Units: none. Errors: usage (what does not belong, what is there already: nothing is ever
// overwritten but the reports, which follow from the runs), storage. A folder of a run appears whole or not at all.
// Source: layout.hpp; report and manifest as the reference tool writes them, reference facts section 3.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/types/error.hpp"
#include "reporters/submission/tree.hpp"

namespace feedbench::submission {

struct NewTree {
    std::filesystem::path root;
    std::string edition, organisation, division;
    std::string system;                     // needed with a description or a PDF
    std::filesystem::path description, pdf; // empty: put there later, by the same command
};
// Also for a tree that is there: a second division, system, description or PDF.
Status init_tree(const NewTree& tree);

struct Addition {
    std::filesystem::path root;
    std::string division, system;               // empty: the only one that the tree has
    std::vector<std::filesystem::path> results; // folders with result.json at any depth
    std::filesystem::path dataset;              // with feedbench-manifest.json; empty: none
};
struct Added {
    std::vector<std::filesystem::path> placed;
    std::vector<std::string> notes;
};
// Everything is looked at before the first run is written.
Expected<Added> add_results(const Addition& addition);

// What the two above are made of; tests write trees with defects by them.
struct Target {
    std::filesystem::path submitter; // {closed,open}/<org>
    const EditionFacts* edition = nullptr;
    std::string system;
};
Expected<std::filesystem::path> place_run(const Target& target, const std::filesystem::path& result_folder,
                                          PublishedProfiles& profiles);
Status place_dataset(const Target& target, const std::string& model, const std::filesystem::path& dataset);
// Reports over all runs, sizing and submission.yaml, anew.
Status write_reports(const std::filesystem::path& root);

} // namespace feedbench::submission
