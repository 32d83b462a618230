// One run as it was read, whoever wrote it: plain facts of a feedbench result or of a reference tool's output folder.
//
// Thread: plain values. Owner: the holder. Units: in the names; MB = 10^6, MiB = 2^20, GiB = 2^30 bytes.
// Errors: none here; what could not be read is a Problem, what is not known is an empty optional. Source: reference
// facts of the published result trees (summary.json, mlperf_storage_report.json, N_output.json). Facts only: what they
// mean is judged by whoever compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedbench::ingest {

enum class Tool : std::uint8_t { feedbench, reference }; // who measured
enum class Kind : std::uint8_t { training, checkpoint }; // what was measured

struct IngestedEpoch {
    std::optional<double> au_percentage, samples_per_second;
    std::optional<double> wall_s, block_s; // the whole epoch, and the measured blocks in it
};

// What a text says about the run besides the file that the figures come from: a report, a folder's name, metadata.
struct Declared {
    std::string what;  // "workload", "accelerator", "accelerators", "hosts"
    std::string value; // in the spelling of IngestedRun
    std::string where; // "folder 'unet3d-h100'", "mlperf_storage_report.json"
};

// Of the files of single ranks, by the formula `dlio`; means over epochs.
struct RankFigures {
    std::uint32_t rank_count = 0;
    std::optional<double> au_percentage, samples_per_second;
    std::optional<double> effective_utilization_percentage; // 100 * sum(compute) / T, the first step included
    std::optional<double> think_time_s;                     // mean length of the sleeps as measured
};

// One direction of a checkpoint run.
struct CheckpointSide {
    std::optional<double> checkpoint_count;
    std::optional<double> GiB_per_second;               // all bytes over all time
    std::optional<double> GiB_per_second_mean_of_rates; // as the reference tool reports it
    std::optional<double> duration_s;                   // mean
};

struct CheckpointFigures {
    CheckpointSide save, load; // a run may have one of them only
    std::optional<double> size_GiB;
};

struct SystemDescription {
    std::string path; // empty: none was found
    std::string vendor, solution;
    std::optional<double> usable_capacity_GiB, raw_capacity_GiB, watts, rack_units;
};

struct IngestedRun {
    std::string path;            // folder of the run
    std::string set_path;        // runs of one set are repetitions of one measurement
    std::size_t input_index = 0; // which argument led to it
    Tool tool = Tool::reference;
    Kind kind = Kind::training;

    std::string submitter; // empty: not a submission
    std::string system;
    std::string workload;          // "unet3d"; empty: unknown
    std::string variant;           // how it differs from the published workload of that name; empty: not at all
    std::string accelerator_model; // "h100"; empty: unknown
    std::string edition;           // "1.0", "2.0", "3.0"; empty: measured outside the rules
    std::string division;          // "closed", "open"; empty: not a submission
    std::uint32_t accelerator_count = 0, host_count = 0; // of a checkpoint: ranks
    std::string start_time, end_time;
    bool is_mean = false; // of runs that are not there: a report's row

    std::vector<IngestedEpoch> epochs; // training epochs
    // Of the whole run, as the tool that measured it says: mean over epochs.
    std::optional<double> au_percentage, samples_per_second;
    // samples/s times the nominal record length: the only rate that every kind of file has.
    std::optional<double> nominal_MB_per_second, nominal_MiB_per_second;
    std::optional<double> au_bar_percentage;
    std::optional<double> think_time_s, record_length_bytes, batch_size; // of the workload
    std::optional<double> sample_count;                                  // of the training set
    // 100 * samples/s * think / (batch * accelerators): of the measured block, the first step included.
    std::optional<double> effective_utilization_percentage;
    // 100 * think / wall time of whole epochs, nothing excluded; only where the epochs' times are known.
    std::optional<double> whole_epoch_utilization_percentage;
    std::optional<double> dataset_GiB, host_memory_GiB; // memory of all hosts together
    std::optional<double> au_percentage_of_epochs;      // mean of the array beside the mean in the same file
    std::optional<RankFigures> ranks;
    std::optional<CheckpointFigures> checkpoint;     // of Kind::checkpoint
    std::optional<double> report_samples_per_second; // of this run, in the submitter's report
    std::optional<double> report_mean_samples_per_second;
    bool report_lacks_run = false; // there is a report, but no run in it has this rate
    std::vector<Declared> declared;
    SystemDescription description;

    std::string verdict;                      // feedbench's own
    std::vector<std::string> invalid_reasons; // feedbench's own
    std::vector<std::string> notes;           // how it was read: guessed, repaired, left out
};

// A file or folder that could not be used, or only with care.
struct Problem {
    std::string path, found, expected;
    bool used = false; // repaired, or not needed for the figures
};

struct Ingested {
    std::vector<IngestedRun> runs;
    std::vector<Problem> problems;
};

} // namespace feedbench::ingest
