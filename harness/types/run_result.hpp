// Everything that measuring hands to reporting: plain values that round-trip through JSON.
//
// Thread: plain value. Owner: the workload kind builds it on rank 0; reporters read it. Units: in the names.
// Errors: none. Source: DESIGN sections 8 and 9. JSON Schema: reporters/schema/result.schema.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/types/error.hpp"
#include "harness/types/metric.hpp"
#include "harness/types/workload.hpp"

namespace feedbench {

inline constexpr int kResultSchemaVersion = 4;

struct HostFacts {
    std::string name;
    std::uint32_t rank_count = 0, accelerator_count = 0;
    std::uint32_t cpu_count = 0; // online logical CPUs
    // Of them, what the job may use: affinity of its ranks together, at most the cgroup's quota (1.5 CPUs is possible).
    std::optional<double> cpu_allowed;
    std::uint64_t memory_bytes = 0; // MemTotal
    std::string cpu_model, kernel;
    double process_cpu_s = 0, host_cpu_s = 0; // user + system, in the measured part (process: all ranks of the host)
    std::uint64_t bytes_delivered = 0;
    std::uint64_t peak_rss_bytes = 0; // largest of its ranks
    // What the host could carry at most; nothing where the machine does not say. Plausibility is judged against them.
    std::optional<double> nic_bytes_per_second;    // line rate of the interface that carries the data, else the fastest
    std::optional<double> memory_bytes_per_second; // measured before the run: reading, all CPUs of the job on this host
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

// Where the time of the loader's operations went, summed over operations: they overlap, so the sum is no wall time.
struct LoaderTime {
    double in_flight_s = 0;    // submitted and not yet answered by the storage
    double client_queue_s = 0; // answered (or lying in the ring) while the reactor or pool was busy or not scheduled
    double decode_s = 0;       // framing and decompression
    double verify_s = 0;       // checksums and comparison of content (reader.verify)
    double buffer_wait_s = 0;  // for a free landing buffer, before anything was asked of the storage
};

// What the storage really gave to one host in one epoch, as far as the machine can tell.
struct CacheEvidence {
    std::uint64_t bytes_delivered = 0;
    std::string source_kind; // "block", "network", "memory" (tmpfs: nothing lies below it), "none"
    std::string source;      // "vda (ext4 on /data)", "eth0"
    // Bytes that came from the device or interface in the epoch, on the whole host; nothing, with the reason.
    std::optional<double> source_bytes;
    std::string source_reason;
    std::optional<double> process_read_bytes; // /proc/self/io read_bytes, summed over the host's ranks
    // Pages of sampled files, asked about just before they were read, and how many of them were in the page cache.
    std::uint64_t sampled_page_count = 0, resident_page_count = 0;
    std::string residency_method; // "cachestat", "mincore" or empty
    std::string residency_reason; // why nothing was sampled
    std::string drop_outcome;     // "not asked", "dropped", "not permitted", "timeout", "not offered"
    double drop_s = 0;            // outside the measured time
};

// The same plan at a storage that costs nothing, on one host: what its client can do at most.
struct HostCeiling {
    std::string host;
    double MB_per_second = 0, steps_per_second = 0, cpu_s_per_GB = 0, duration_s = 0;
    std::optional<double> au_percentage; // of the short run; null where it had too few steps
};

// One point of the curve of `feedbench max`.
struct ScalingPoint {
    std::uint32_t accelerator_count = 0;
    std::optional<double> au_percentage;
    double MB_per_second = 0, batch_wait_s_p99 = 0, duration_s = 0;
    std::string verdict;
    bool passed = false;    // AU reached the bar
    bool confirmed = false; // a run of full length, not a probe
};

// Log-linear histogram as plain data: (lower bound ns, count) of the buckets that are not empty.
struct HistogramData {
    std::string key; // "sample_read_latency", "batch_wait", "time_to_first_byte", "think_error"
    std::uint64_t count = 0, min_ns = 0, max_ns = 0;
    double mean_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0, p999_ns = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;
};

// One second of the run, summed over all ranks.
struct Slice {
    std::uint64_t start_ns = 0; // from the start of the run
    std::uint64_t bytes = 0, samples = 0, reads = 0, steps = 0;
    std::uint32_t stalled_accelerators = 0; // waiting for a batch at the end of the slice
    std::uint32_t in_flight_reads = 0;      // at the end of the slice
    std::uint64_t process_cpu_ns = 0;       // of all ranks, within the slice
};

// One block: the steps between two interruptions (checkpoint, end of epoch).
struct BlockResult {
    std::uint32_t index = 0; // 0-based
    std::uint64_t step_count = 0, sample_count = 0, bytes_delivered = 0;
    double start_s = 0, end_s = 0; // from the start of the run: earliest start to latest end over all ranks (case T13)
    std::vector<Metric> metrics;
};

// One host's part of an epoch.
struct HostEpochResult {
    std::string host;
    std::uint64_t bytes_delivered = 0;
    double process_cpu_s = 0, host_cpu_s = 0;
    Attribution attribution; // of the host's accelerators
    LoaderTime loader_time;
    CacheEvidence cache;
    std::vector<HistogramData> histograms;
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
    LoaderTime loader_time;
    std::vector<HistogramData> histograms;
    std::vector<HostEpochResult> hosts; // in the order of RunResult::hosts
};

// One rank's part of a checkpoint. Its times follow each other: the four of them and what is left (opening, waiting for
// a buffer) make up its duration.
struct CheckpointRankResult {
    std::uint32_t rank = 0; // that writes or reads; of those that a process plays, each one
    std::string host;
    std::uint64_t bytes = 0, file_count = 0;
    double duration_s = 0;   // from the rank's own start to its last file committed (read: closed)
    double first_byte_s = 0; // from the checkpoint's start to the first piece answered
    double transfer_s = 0;   // pieces in flight; making or verifying content lies in between
    double fsync_s = 0, commit_s = 0;
    double content_s = 0; // of transfer_s: the client made content, or compared it
};

// One host's part of a checkpoint, and where its bytes went or came from.
struct CheckpointHostResult {
    std::string host;
    std::uint64_t bytes = 0;
    double process_cpu_s = 0, host_cpu_s = 0;
    CacheEvidence cache; // of a write: source_bytes are bytes that reached the device
};

struct CheckpointResult {
    std::string kind = "write"; // write | read
    std::string mode = "alone"; // alone: nothing else runs; inside training: sync (all wait) | async
    std::uint32_t epoch_index = 0;
    std::uint64_t step_index = 0; // within the epoch
    std::string folder;
    std::uint64_t bytes = 0, file_count = 0;
    double start_s = 0, duration_s = 0, fsync_s = 0; // slowest rank; start_s from the start of the run
    bool fsync = false;                              // was asked for
    // From start_s, of the last rank: first piece answered; all data written (or read); all of it synced; the
    // checkpoint visible as a whole.
    double first_byte_s = 0, data_s = 0, synced_s = 0, visible_s = 0;
    std::uint64_t fsync_asked_count = 0, fsync_done_count = 0; // files
    bool committed = false;                                    // what did not commit is never listed or read
    bool content_verified = false;                             // read: every byte was compared
    double training_wait_s = 0; // inside training: accelerator-seconds that waited for it, over all accelerators
    std::vector<Metric> metrics;
    std::vector<CheckpointRankResult> ranks; // in the order of rank
    std::vector<CheckpointHostResult> hosts; // in the order of RunResult::hosts
    std::vector<HistogramData> histograms;   // "piece_latency", "fsync_latency"
};

// Requests that were sent again, for one cause (endpoint_counters.hpp names them).
struct RetryResult {
    std::string cause;
    std::uint64_t count = 0;
};

// One server of a storage, as the client's own library counted it since the storage was opened; over all ranks.
struct EndpointResult {
    std::string name;                                          // "http://10.0.0.1:9000"
    std::uint32_t rank_count = 0;                              // that talked to it
    std::uint64_t request_count = 0, failed_request_count = 0; // failed: given up, after the retries or at once
    std::uint64_t retry_count = 0;                             // not among the requests
    std::uint64_t connection_count = 0;                        // opened, in all
    std::uint64_t bytes_received = 0, bytes_sent = 0;          // of bodies
    std::vector<RetryResult> retries;                          // causes that came
    std::vector<HistogramData> histograms;                     // "time_to_first_byte", "time_to_last_byte"
};

// What is known of a storage that the run used. What a backend or machine does not say is empty, or 0.
struct StorageResult {
    std::string use;                // "data", "checkpoints"
    std::string backend;            // "posix", "s3"
    std::string place;              // as the workload names it
    std::vector<std::string> hosts; // that see it so
    std::string filesystem_type, device, mount_point, mount_options;
    bool is_network = false;                       // a server, or a FUSE daemon, answers
    bool is_memory = false;                        // nothing lies below it
    std::string server;                            // that its bytes come from, where that can be told
    std::string network_interface;                 // that leads there
    std::uint64_t total_bytes = 0, free_bytes = 0; // before the run
    std::string note;                              // what a report must say about it
    std::vector<EndpointResult> endpoints;         // of a library of the client's own; a mount has none
};

struct Finding {
    std::string rule;            // "cached", "dataset_on_results_filesystem", ...
    std::string verdict;         // or severity: "warning", "note"
    std::string evidence;        // in words
    std::vector<Metric> facts{}; // the numbers that the words rest on
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
    std::vector<StorageResult> storages; // what the data lies on, then the checkpoints
    std::vector<EpochResult> epochs;
    std::vector<CheckpointResult> checkpoints; // in the order in which they ran
    // From the end of the last write to the start of the process that reads (in one run: to the first read).
    std::optional<double> checkpoint_gap_s;
    std::vector<Metric> metrics; // of the whole run
    Attribution attribution;
    std::vector<HistogramData> histograms;
    std::vector<Slice> slices;
    LoaderTime loader_time;
    std::vector<HostCeiling> ceilings; // one a host; empty with the reason
    std::string ceiling_reason;
    std::vector<ScalingPoint> scaling; // of `feedbench max`, in the order of accelerator_count
    std::string scaling_stop;          // what stopped it, in words
    std::vector<Finding> findings;     // warnings, and every verdict rule that fired, in order of precedence
    std::string verdict;               // of the first rule that fired; empty: not judged (the run was not complete)
    std::string explanation;           // one paragraph; why a bar was missed, empty otherwise
    std::vector<ConfigValue> config;
    std::vector<Error> errors; // of a run that failed; the first is the one that was shown
};

} // namespace feedbench
