// results.json of the 3.0 report tool: a list of rows, one a workload, in the folder that holds the runs' time stamps.
//
// Thread: any (pure functions). Owner: none. Units: GiB/s, s, samples/s, percent. Errors: format where it is no such
// list. Source: the 3.0 report tool's columns: benchmark_type, model, accelerator, orgname, systemname, category;
// train_mean_of_throughput_samples_per_second, train_mean_of_au_percentage, train_read_bw_gibps,
// train_num_client_nodes, train_num_simulated_accelerators; checkpoint_{write,read}_bw_gibps (means of rates),
// checkpoint_{write,read}_duration_secs, checkpoint_num_client_nodes, checkpoint_mode; issues. A figure that the tool
// could not compute is null or empty.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/types/error.hpp"
#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

struct ReportRow {
    Kind kind = Kind::training;
    std::string model, accelerator, submitter, system, division, issues, mode;
    std::optional<double> accelerator_count, host_count, au_percentage, samples_per_second, read_MiB_per_second,
        rack_units;
    CheckpointFigures checkpoint;
};

// Rows of other benchmarks (vector database, key-value cache) are left out.
Expected<std::vector<ReportRow>> parse_report_v3(const nlohmann::json& file, const std::string& path);

// A row without the runs that it was made from: their mean stands for them, and a note says so. Nothing: it has no
// figure.
std::optional<IngestedRun> run_of_row(const ReportRow& row, const std::string& path);

} // namespace feedbench::ingest
