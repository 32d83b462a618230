// A whole workload file, typed and validated; every value knows where it came from.
//
// Thread: const after loading, any thread. Owner: the cli. Units: in the names; think times in seconds as drawn from
// the file. Errors: none here; harness/config refuses what cannot be. Source: the DLIO workload schema (model,
// framework, workflow, storage, dataset, reader, train, evaluation, checkpoint, output, metric, profiling); names in
// C++ are the YAML keys, with the unit where DLIO leaves it out.
#pragma once

#include "harness/types/table_column.hpp"
#include "harness/types/time_distribution.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedbench {

enum class Shuffle : std::uint8_t { off, seed, random };
enum class Verify : std::uint8_t { off, header, checksum, content };
enum class IoEngine : std::uint8_t { uring, threads };
enum class CheckpointWriters : std::uint8_t { rank_zero, all_ranks };

struct ModelSection {
    std::string name = "default", type = "default";
    std::uint64_t model_size_bytes = 10240; // as DLIO's default; written by a checkpoint inside training
    std::uint64_t num_layers = 0;
    std::string model_datatype = "fp16", optimizer_datatype = "fp32";
    std::uint32_t parallelism_tensor = 1, parallelism_pipeline = 1;
    std::int32_t parallelism_data = -1; // -1: from the rank count
    std::uint32_t zero_stage = 0;
    std::uint64_t vocab_size = 32000, hidden_size = 2048, ffn_hidden_size = 8196;
    std::uint32_t num_attention_heads = 32, num_kv_heads = 8;
    std::vector<std::uint64_t> layer_parameters, optimization_groups;
    double scale = 1.0; // ours: shrinks a checkpoint; a scaled run is not comparable
    bool operator==(const ModelSection&) const = default;
};

struct WorkflowSection {
    bool generate_data = false, train = true, evaluation = false, checkpoint = false, profiling = false, debug = false;
    bool operator==(const WorkflowSection&) const = default;
};

struct StorageSection {
    std::string storage_type = "local_fs"; // local_fs | parallel_fs | s3 | ...
    std::string storage_root = "./";
    std::map<std::string, std::string> storage_options; // nested keys joined by dots
    bool operator==(const StorageSection&) const = default;
};

struct DatasetSection {
    std::string data_folder = "./data", format = "tfrecord", file_prefix = "img";
    std::string layout = "files"; // ours: files | shared: all samples of a set in one file
    std::uint64_t num_files_train = 1, num_files_eval = 0;
    std::uint32_t num_samples_per_file = 1, num_samples_per_file_eval = 0; // 0: as in train
    std::uint32_t num_subfolders_train = 0, num_subfolders_eval = 0;
    double record_length_bytes = 65536; // resnet50 has 114660.07
    double record_length_bytes_stdev = 0, record_length_bytes_resize = 0;
    std::vector<std::uint64_t> record_dims;
    std::uint32_t record_element_bytes = 1;
    std::string record_element_type = "uint8";
    std::string compression = "none"; // none | gzip | zip
    int compression_level = 4;
    std::uint32_t num_dset_per_record = 1;       // hdf5
    std::vector<std::uint64_t> chunk_dims;       // hdf5; empty = contiguous
    std::vector<std::uint64_t> max_shape;        // hdf5
    std::vector<TableColumn> parquet_columns;    // empty: one column, "data", of a whole sample
    std::uint32_t parquet_row_group_size = 1024; // rows
    bool keep_files = true;
    std::uint64_t seed = 10; // of the sizes, as the reference tool's generator (fixed by the rules)
    double compress_percent = 0, dedupe_percent = 0; // ours: content that a storage could reduce
    bool operator==(const DatasetSection&) const = default;
};

struct ReaderSection {
    std::string data_loader = "pytorch"; // pytorch | tensorflow | native; default follows framework
    std::uint32_t batch_size = 1, batch_size_eval = 1;
    std::uint32_t read_threads = 1, computation_threads = 1;
    std::uint32_t prefetch_size = 2; // DLIO's default; 0: pytorch takes its own factor of 2, others read when asked
    std::uint64_t transfer_size = 262144;
    std::uint32_t queue_depth = 32; // ours: native loader
    Shuffle file_shuffle = Shuffle::off, sample_shuffle = Shuffle::off;
    std::uint64_t shuffle_size = 1024;
    bool odirect = false;
    IoEngine io_engine = IoEngine::uring; // ours
    std::uint32_t io_threads = 4;         // ours: pool of io_engine threads
    Verify verify = Verify::off;          // ours
    std::string drop_cache = "off";       // ours: off | fadvise | system, before each epoch
    double drop_cache_timeout_s = 60;     // ours: how long that is waited for
    TimeDistribution preprocess_time;     // a sample
    bool operator==(const ReaderSection&) const = default;
};

struct TrainSection {
    std::uint32_t epochs = 1;
    std::int64_t total_training_steps = -1; // -1: as many as the data gives
    TimeDistribution computation_time;
    bool seed_change_epoch = true;
    std::uint64_t seed = 123;
    bool operator==(const TrainSection&) const = default;
};

struct EvaluationSection {
    TimeDistribution eval_time;
    std::uint32_t eval_after_epoch = 1, epochs_between_evals = 1; // after epochs a, a + b, a + 2b, ... (counted from 1)
    bool operator==(const EvaluationSection&) const = default;
};

struct CheckpointSection {
    std::string checkpoint_folder = "./checkpoints";
    std::uint32_t checkpoint_after_epoch = 1, epochs_between_checkpoints = 1;
    std::int64_t steps_between_checkpoints = -1;
    CheckpointWriters type = CheckpointWriters::rank_zero;
    bool fsync = false;
    double time_between_checkpoints_s = 0;
    std::int64_t num_checkpoints_write = -1, num_checkpoints_read = -1;
    bool recovery_rank_shift = false;      // read what the next host wrote
    std::string mode = "default";          // default | subset
    bool odirect = false;                  // ours, as all that follow
    std::uint64_t transfer_size = 1048576; // of one write or read
    std::uint32_t queue_depth = 8;         // of them that a rank has in flight
    std::uint32_t keep_last = 0;           // checkpoints that stay while others are written; 0: all
    bool keep_files = true;                // after the run
    std::string leftovers = "remove";      // remove | keep: what a write that did not commit has left
    bool asynchronous = false;             // ours: training goes on while a checkpoint inside it is written
    bool operator==(const CheckpointSection&) const = default;
};

struct OutputSection {
    std::string folder, log_file = "dlio.log";
    bool operator==(const OutputSection&) const = default;
};
struct MetricSection {
    double au = 0.90;
    std::string instrumentation = "full";                      // ours: full | none
    bool au_is_set = false;                                    // without a bar in the file nothing is failed
    bool exclude_first_step = true, exclude_last_step = false; // rules 1.0-3.0: the first only
    bool operator==(const MetricSection&) const = default;
};

// One effective key, for config.yaml, --dry-run and the docs.
struct ConfigValue {
    std::string key;    // "reader.batch_size"
    std::string value;  // as YAML would write it
    std::string origin; // "default", "unet3d_h100.yaml:31", "-p on the command line"
    std::string effect; // "" = honoured; "accepted without effect: <why>" otherwise
};

struct Workload {
    std::string name;        // profile or file stem: "unet3d_h100"
    std::string source;      // path of the file it came from
    std::string accelerator; // "h100", from the name where it says so; empty otherwise
    std::string framework = "pytorch";
    ModelSection model;
    WorkflowSection workflow;
    StorageSection storage;
    DatasetSection dataset;
    ReaderSection reader;
    TrainSection train;
    EvaluationSection evaluation;
    CheckpointSection checkpoint;
    OutputSection output;
    MetricSection metric;
    std::vector<ConfigValue> values; // every known key, in schema order

    bool checkpoint_only() const { return !workflow.train && workflow.checkpoint; }
};

} // namespace feedbench
