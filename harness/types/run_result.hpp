// Everything that measuring hands to reporting: plain values that round-trip through JSON.
//
// Thread: plain value. Owner: the workload kind builds it on rank 0; reporters read it. Units: in the names.
// Errors: none. Source: DESIGN sections 8 and 9. JSON Schema: reporters/schema/result.schema.json.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/types/error.hpp"
#include "harness/types/metric.hpp"
#include "harness/types/workload.hpp"

namespace feedbench {

inline constexpr int kResultSchemaVersion = 1;

struct HostFacts {
    std::string name;
    std::uint32_t rank_count = 0, accelerator_count = 0;
    std::uint32_t cpu_count = 0;    // online logical CPUs
    std::uint64_t memory_bytes = 0; // MemTotal
    std::string cpu_model, kernel;
    double process_cpu_s = 0, host_cpu_s = 0; // user + system, in the measured part (process: all ranks of the host)
    std::uint64_t bytes_delivered = 0;
    std::uint64_t peak_rss_bytes = 0; // largest of its ranks
};

// Where accelerator-seconds went. Sums over accelerators; the parts add up to `total_s`.
struct Attribution {
    double think_s = 0;        // as drawn
    double storage_wait_s = 0; // waiting for a batch while reads were in flight
    double client_wait_s = 0; // waiting for a batch or running late through the client's own fault (oversleep included)
    double barrier_wait_s = 0; // someone else's stall
    double outside_s = 0;      // in the epoch but outside the measured blocks
    double total_s = 0;
};

// Log-linear histogram as plain data: (lower bound ns, count) of the buckets that are not empty.
struct HistogramData {
    std::string key; // "sample_read_latency", "batch_wait", "time_to_first_byte"
    std::uint64_t count = 0, min_ns = 0, max_ns = 0;
    double mean_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, p999_ns = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;
};

// One second of the run, summed over all ranks.
struct Slice {
    std::uint64_t start_ns = 0; // from the start of the run
    std::uint64_t bytes = 0, samples = 0, reads = 0, steps = 0;
    std::uint32_t stalled_accelerators = 0; // waiting for a batch at the end of the slice
};

// One block: the steps between two interruptions (checkpoint, end of epoch).
struct BlockResult {
    std::uint32_t index = 0; // 0-based
    std::uint64_t step_count = 0, sample_count = 0, bytes_delivered = 0;
    double start_s = 0, end_s = 0; // from the start of the run: earliest start to latest end over all ranks (case T13)
    std::vector<Metric> metrics;
};

struct EpochResult {
    std::uint32_t index = 0; // 0-based; shown to people 1-based
    bool evaluation = false;
    double start_s = 0, end_s = 0;
    std::uint64_t step_count = 0, sample_count = 0, dropped_sample_count = 0, bytes_delivered = 0;
    bool samples_proved = false; // count and checksum of ids over all ranks agree with the plan
    std::vector<BlockResult> blocks;
    std::vector<Metric> metrics; // au_percentage, samples_per_second, effective_utilization_percentage, ...
    Attribution attribution;
};

struct CheckpointResult {
    std::uint32_t epoch_index = 0;
    std::uint64_t step_index = 0; // within the epoch
    std::string folder;
    std::uint64_t bytes = 0, file_count = 0;
    double start_s = 0, duration_s = 0, fsync_s = 0; // slowest rank
    bool fsync = false;
};

struct Finding {
    std::string rule;    // "cached", "dataset_on_results_filesystem", ...
    std::string verdict; // or severity: "warning", "note"
    std::string evidence;
};

struct RunResult {
    int schema_version = kResultSchemaVersion;
    std::string feedbench_version;
    std::string kind = "training";     // workload kind
    std::string status = "incomplete"; // complete | interrupted | failed | incomplete
    bool valid = false;
    std::vector<std::string> invalid_reasons;

    std::string workload, model, accelerator_model, framework, format, data_loader, backend, data_folder;
    bool odirect = false;
    std::string io_engine, command_line;
    std::string start_time, end_time; // ISO 8601 local time with offset
    std::string run_id;               // YYYYMMDD_HHMMSS
    std::string results_folder;       // where this run's files are; empty: nowhere
    std::string edition = "2.0";      // of the rules; selects the formulas
    std::uint32_t accelerator_count = 0, rank_count = 0, epoch_count = 0;
    std::uint32_t batch_size = 0, batch_size_eval = 0;
    std::uint64_t num_files_train = 0, num_files_eval = 0;
    std::uint32_t num_samples_per_file = 0;
    double record_length_bytes = 0; // nominal, from the workload
    double think_time_mean_s = 0;
    double au_required = 0; // fraction; 0 = no bar
    std::uint64_t run_seed = 0;
    bool virtual_time = false;

    std::vector<HostFacts> hosts;
    std::vector<EpochResult> epochs;
    std::vector<CheckpointResult> checkpoints;
    std::vector<Metric> metrics; // of the whole run
    Attribution attribution;
    std::vector<HistogramData> histograms;
    std::vector<Slice> slices;
    std::vector<Finding> findings; // warnings and (later) verdicts
    std::string verdict;           // empty until the verdict rules exist
    std::string explanation;       // one paragraph; why a bar was missed, empty otherwise
    std::vector<ConfigValue> config;
    std::vector<Error> errors; // of a run that failed; the first is the one that was shown
};

} // namespace feedbench
