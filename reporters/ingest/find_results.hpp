// Walks an argument and says where results lie: run folders with their files, and system descriptions.
//
// Thread: any. Owner: none. Units: none. Errors: what cannot be entered is a Problem; the rest is still found.
// Source: the ten layouts of the corpus README, and the trees of editions 2.0 and 3.0. Folder names decide nothing but
// where the settings and system descriptions of a run are looked for.
#pragma once

#include <filesystem>
#include <vector>

#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

// One folder in which a run left its figures. Paths that are empty: no such file.
struct RunFolder {
    std::filesystem::path folder;
    std::filesystem::path result, summary, epoch_stats, metadata, config;
    std::vector<std::filesystem::path> rank_outputs;
};

struct FoundResults {
    std::vector<RunFolder> runs;                // sorted by folder
    std::vector<std::filesystem::path> systems; // files in folders called systems
    std::vector<std::filesystem::path> reports; // mlperf_storage_report.json
    std::vector<std::filesystem::path> lists;   // results.json of the 3.0 report tool
    std::vector<Problem> problems;
};

FoundResults find_results(const std::filesystem::path& input);

} // namespace feedbench::ingest
