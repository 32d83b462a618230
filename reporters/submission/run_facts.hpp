// What the rules ask about one run, whoever measured it, and also about one that has not begun.
//
// Thread: one. Owner: the holder. Units: in the names; memory in GiB, which the rules write as GB. Errors: a file that
// is broken is a Problem; a fact that no file says is an empty optional, and the rules that need it are not checked.
// Source: rules of editions 1.0 to 3.0; summary.json, result.json, dlio_config/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/types/run_result.hpp"
#include "reporters/ingest/find_results.hpp"
#include "reporters/ingest/ingested_run.hpp"
#include "reporters/submission/layout.hpp"
#include "reporters/submission/parameters.hpp"

namespace feedbench::submission {

struct RunFacts {
    std::string path; // of its folder; for messages
    Tool tool = Tool::reference;
    unsigned kind = kTraining;
    std::string workload, model, accelerator, edition; // model as folders call it; edition: empty, not said

    std::optional<std::uint32_t> accelerator_count, host_count, rank_count;
    std::vector<std::uint32_t> accelerators_of_hosts, ranks_of_hosts; // empty: not said
    std::optional<double> host_memory_GiB;                            // all hosts together
    std::optional<std::uint64_t> file_count, samples_per_file;
    std::optional<double> record_length_bytes, batch_size;
    std::optional<double> au_percentage, samples_per_second;
    std::optional<double> start_s, end_s; // since 1970, local time as if it were UTC

    std::optional<std::vector<ParameterChange>> changes; // against the published workload
    std::string changes_reason;                          // why that is not known
    std::optional<bool> trains, generates, checkpoints;  // workflow.*
    std::optional<std::uint64_t> run_seed;
    std::optional<double> model_scale;
    std::optional<bool> results_on_storage;

    std::optional<std::int64_t> checkpoint_writes, checkpoint_reads;
    std::optional<bool> checkpoint_fsync;
    std::optional<double> checkpoint_gap_s; // as the run that reads says it
    std::string checkpoint_mode = "default";

    bool is_unreadable = false; // file_broken says why; it counts as a run all the same
    bool has_ended = true;
    bool is_warm_up = false;                  // the first of six: its figures do not count
    std::vector<std::string> invalid_reasons; // of feedbench; also "a simulation", "not complete"
    std::vector<std::string> disagreements;   // between result.json and summary.json
};

// What can be known before a run.
struct PlannedRun {
    const Workload* workload = nullptr;
    std::uint32_t accelerator_count = 0, rank_count = 0;
    std::vector<std::uint32_t> ranks_of_hosts;
    std::vector<std::uint64_t> memory_of_hosts; // bytes; one that is 0: not known
    bool virtual_time = false;
    std::optional<bool> results_on_storage;
};
RunFacts facts_of(const PlannedRun& plan, PublishedProfiles& profiles);

RunFacts facts_of(const RunResult& result, const std::string& path, PublishedProfiles& profiles);

// `ingested`: what ingest made of the folder; nullptr: nothing (no training result).
RunFacts facts_of(const ingest::RunFolder& folder, const ingest::IngestedRun* ingested, PublishedProfiles& profiles,
                  std::vector<ingest::Problem>& problems);

} // namespace feedbench::submission
