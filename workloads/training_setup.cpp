#include "workloads/training_setup.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "generators/content.hpp"
#include "harness/config/load_yaml.hpp"
#include "harness/loader/file_reading.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"
#include "workloads/checkpoint_stream.hpp"

namespace feedbench::workloads {

namespace {

// More landing buffers than this are shared: readers wait their turn for one (512 MiB is the bound of a whole rank).
constexpr std::uint64_t kPoolBytesMost = 256 * kMiB;

Expected<SetPlan> make_set(const Workload& workload, const dataset::Manifest* manifest, Split split) {
    const DatasetSection& made = manifest ? manifest->dataset : workload.dataset;
    SetPlan set;
    const bool train = split == Split::train;
    std::optional<dataset::Manifest> as_read; // which columns of a table are read is the run's own choice
    if (manifest && !workload.dataset.parquet_columns.empty()) {
        as_read = *manifest;
        as_read->dataset.parquet_columns = workload.dataset.parquet_columns;
        manifest = &*as_read;
    }
    auto files = manifest ? dataset::plan_of(*manifest, split) : dataset::DatasetPlan::make(made, split);
    if (!files) return files.error();
    set.files = std::make_unique<dataset::DatasetPlan>(std::move(*files));
    set.used_file_count = train ? workload.dataset.num_files_train : workload.dataset.num_files_eval;
    set.samples_per_file = set.files->samples_per_file();
    set.batch_size = train ? workload.reader.batch_size : workload.reader.batch_size_eval;
    set.subfolder_count = train ? made.num_subfolders_train : made.num_subfolders_eval;
    if (set.used_file_count > set.files->file_count())
        return config_error("the run asks for " + std::to_string(set.used_file_count) + " files, the dataset has " +
                                std::to_string(set.files->file_count()) + ": generate more, or ask for fewer",
                            train ? "dataset.num_files_train" : "dataset.num_files_eval");
    return set;
}

const storage::BackendEntry* entry_of(const std::string& uri) {
    const auto parsed = storage::parse_uri(uri);
    if (!parsed) return nullptr;
    const auto inner = parsed->options.find("inner"); // what wraps another passes on what it does not know
    return inner == parsed->options.end() ? storage::find_backend(parsed->scheme) : entry_of(inner->second);
}

// storage_options are those of all storages of a workload: data on an object store and checkpoints on a disk is no
// mistake. What none of them knows is, and make_backend says so.
std::map<std::string, std::string> options_for(const Workload& workload, const std::string& uri) {
    std::map<std::string, std::string> mine;
    const storage::BackendEntry* here = entry_of(uri);
    for (const auto& [key, value] : workload.storage.storage_options) {
        const auto knows = [&key = key](const storage::BackendEntry* entry) {
            return entry && storage::find_option(*entry, key);
        };
        if (!knows(here) && (knows(entry_of(config::data_location(workload))) ||
                             knows(entry_of(config::checkpoint_location(workload)))))
            continue;
        mine[key] = value;
    }
    return mine;
}

// A step record has 16 bits for its epoch and 15 for its block (one more is the mark of an evaluation).
Status check_counts(const Workload& workload, std::uint64_t steps_per_epoch) {
    constexpr std::uint64_t kMostEpochs = 65536, kMostBlocks = 32768;
    if (workload.train.epochs > kMostEpochs)
        return config_error(std::to_string(workload.train.epochs) + " epochs are more than the " +
                                std::to_string(kMostEpochs) + " that a run can record",
                            "train.epochs");
    const std::int64_t between = workload.checkpoint.steps_between_checkpoints;
    if (!workload.workflow.checkpoint || between <= 0) return {};
    const std::uint64_t blocks = (steps_per_epoch - 1) / static_cast<std::uint64_t>(between) + 1;
    if (blocks <= kMostBlocks) return {};
    return config_error("a checkpoint every " + std::to_string(between) + " of " + std::to_string(steps_per_epoch) +
                            " steps makes " + std::to_string(blocks) + " blocks an epoch, more than the " +
                            std::to_string(kMostBlocks) + " that a run can record",
                        "checkpoint.steps_between_checkpoints");
}

} // namespace

Expected<std::unique_ptr<storage::Backend>> open_storage(const RunRequest& request, const std::string& uri,
                                                         bool odirect) {
    const cluster::Doing doing(request.communicator->life(), "opening the storage " + uri);
    storage::BackendRequest made;
    made.uri = uri;
    made.options = options_for(*request.workload, uri);
    if (const auto asked = made.options.find("collective"); asked != made.options.end() && asked->second != "false" &&
                                                            asked->second != "False" &&
                                                            request.workload->dataset.layout != "shared")
        return config_error("collective reads are of one file that all ranks read, and here each rank reads files of "
                            "its own; expected dataset.layout shared",
                            "storage.storage_options.collective");
    made.odirect = odirect;
    const CheckpointSection& checkpoint = request.workload->checkpoint;
    made.will_write = request.workload->workflow.checkpoint && checkpoint.num_checkpoints_write != 0 &&
                      uri == config::checkpoint_location(*request.workload);
    made.io_engine = request.workload->reader.io_engine;
    made.io_threads = request.workload->reader.io_threads;
    made.seed = stream_seed(request.run_seed, "storage", static_cast<std::uint64_t>(request.communicator->rank()));
    made.rank = static_cast<std::uint32_t>(request.communicator->rank());
    made.reactor = request.reactor;
    auto backend = storage::make_backend(std::move(made));
    if (backend && request.reactor->clock().is_virtual() && !(*backend)->capabilities().virtual_time)
        return config_error("this storage cannot run under the virtual clock; null: and model: can", uri);
    if (backend && request.wrap_storage) return request.wrap_storage(std::move(*backend));
    return backend;
}

Expected<TrainingPlan> make_training_plan(const RunRequest& request, const dataset::Manifest* made) {
    const Workload& workload = *request.workload;
    TrainingPlan plan;
    auto placement = place_accelerators(request.accelerator_count, *request.communicator);
    if (!placement) return placement.error();
    plan.placement = *placement;
    auto format = formats::find_format(workload.dataset.format);
    if (!format) return format.error();
    plan.format = *format;
    if (workload.reader.verify == Verify::content && made && made->content_version != generators::kContentVersion)
        return config_error(made->is_adopted()
                                ? "the content of an adopted dataset is not known, so that it cannot be checked: use "
                                  "checksum, header or off"
                                : "the dataset's content is of version " + std::to_string(made->content_version) +
                                      ", this feedbench knows version " + std::to_string(generators::kContentVersion),
                            "reader.verify");
    auto loader = loader::find_loader(workload.reader.data_loader);
    if (!loader) return loader.error();
    plan.loader = *loader;

    auto train = make_set(workload, made, Split::train);
    if (!train) return train.error();
    plan.train = std::move(*train);
    if (plan.train.files->file_count() > 0 && !(made && made->is_adopted()))
        if (auto status = plan.format->supports(plan.train.files->shape(0)); !status) return status.error();
    if (workload.workflow.evaluation) {
        auto valid = make_set(workload, made, Split::valid);
        if (!valid) return valid.error();
        plan.valid = std::move(*valid);
    }
    plan.epoch_count = workload.train.epochs;
    auto first = make_epoch_plan(request, plan, plan.train, 0);
    if (!first) return first.error();
    plan.steps_per_epoch = (*first)->step_count();
    plan.dropped_per_epoch = (*first)->dropped_sample_count();
    if (auto status = check_counts(workload, plan.steps_per_epoch); !status) return status.error();
    if (plan.valid)
        if (auto evaluation = make_epoch_plan(request, plan, *plan.valid, 0); !evaluation) {
            Error error = evaluation.error();
            error.message = "evaluation: " + error.message; // else it reads as if train/ were meant
            return error;
        }

    const std::uint64_t buffer_bytes = loader::landing_buffer_bytes(workload.reader);
    const std::uint64_t wanted =
        std::uint64_t{plan.placement.count} * plan.loader->buffers_per_accelerator(workload.reader);
    if (request.reactor->clock().is_virtual()) { // nothing lands anywhere, and no reader waits for room
        plan.buffers = {.buffer_bytes = buffer_bytes,
                        .buffer_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, ~std::uint32_t{0})),
                        .overlapping = true};
        return plan;
    }
    const std::uint64_t most = std::max<std::uint64_t>(kPoolBytesMost / buffer_bytes, 1);
    // Data goes to DRAM where the buffers of all ranks of a host together outgrow the cache that they share.
    const auto ranks =
        request.communicator->hosts()[static_cast<std::size_t>(request.communicator->host_index())].ranks.size();
    const std::uint64_t rotation = 2 * engine::BufferPool::last_level_cache_bytes() / ranks;
    plan.buffers = engine::BufferPool::layout_for(buffer_bytes, static_cast<std::uint32_t>(std::min(wanted, most)),
                                                  std::max<std::uint64_t>(rotation, 1));
    return plan;
}

Expected<std::unique_ptr<EpochPlan>> make_epoch_plan(const RunRequest& request, const TrainingPlan& plan,
                                                     const SetPlan& set, std::uint32_t epoch_index) {
    const Workload& workload = *request.workload;
    dataset::EpochRequest epoch;
    epoch.file_count = set.used_file_count;
    epoch.manifest_file_count = set.files->file_count();
    epoch.subfolder_count = set.subfolder_count;
    epoch.samples_per_file = set.samples_per_file;
    epoch.accelerator_count = plan.placement.total;
    epoch.batch_size = set.batch_size;
    epoch.file_shuffle = workload.reader.file_shuffle;
    epoch.sample_shuffle = workload.reader.sample_shuffle;
    // `seed` repeats the file's order in every run; `random` is another one in every run.
    const bool random = epoch.file_shuffle == Shuffle::random || epoch.sample_shuffle == Shuffle::random;
    epoch.seed = random ? stream_seed(request.run_seed, "shuffle") : workload.train.seed;
    epoch.seed_change_epoch = workload.train.seed_change_epoch;
    epoch.epoch_index = epoch_index;
    epoch.cycle_length = std::max(1u, workload.reader.read_threads);
    if (!plan.loader->shards_files) return dataset::plan_samples(epoch);
    auto shards = dataset::plan_file_shards(epoch);
    if (!shards) return shards.error();
    return std::unique_ptr<EpochPlan>(std::move(*shards));
}

std::uint64_t memory_bound_bytes(const RunRequest& request, const TrainingPlan& plan) {
    const ReaderSection& reader = request.workload->reader;
    // Frames and queues of an accelerator: measured below 16 KiB a worker; counted with room to spare.
    const std::uint64_t workers = std::max<std::uint64_t>(plan.loader->buffers_per_accelerator(reader), 1);
    const std::uint64_t per_accelerator = 16 * kKiB + workers * 16 * kKiB;
    constexpr std::uint64_t kFixed = 64 * kMiB; // code, MPI's shared segments, histograms, ring
    std::uint64_t checkpoints = 0;
    if (request.workload->workflow.checkpoint)
        checkpoints = CheckpointStream::buffers_for(CheckpointStream::settings_of(*request.workload),
                                                    plan.placement.count, request.reactor->clock().is_virtual())
                          .total_bytes();
    // Indexes that are kept of both sets, and one that each worker may be reading.
    const std::uint64_t index_bytes =
        plan.format->index_bytes_per_sample() * std::uint64_t{request.workload->dataset.num_samples_per_file};
    const std::uint64_t indexes =
        index_bytes == 0 ? 0 : 2 * loader::IndexCache::kLimitBytes + plan.placement.count * workers * index_bytes;
    const std::uint64_t readers =
        plan.train.files->file_count() == 0
            ? 0
            : plan.placement.count * workers * plan.format->reader_bytes(plan.train.files->shape(0));
    return kFixed + plan.buffers.total_bytes() + checkpoints + indexes + readers +
           plan.placement.count * per_accelerator;
}

} // namespace feedbench::workloads
