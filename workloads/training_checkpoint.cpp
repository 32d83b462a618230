// Checkpoints inside training: model_size bytes by each writing rank, while all accelerators wait.
//
// Source: DLIO's checkpoint section: after an epoch (checkpoint_after_epoch, then every epochs_between_checkpoints) or
// every steps_between_checkpoints steps of an epoch; type rank_zero or all_ranks; names as reference.md section 5 (ZeRO
// 0, one stage).
#include <fmt/format.h>

#include "generators/file_writer.hpp"
#include "harness/config/checkpoint_sizes.hpp"
#include "harness/types/units.hpp"
#include "workloads/training_run.hpp"

namespace feedbench::workloads {

using engine::Task;

namespace {
constexpr std::uint32_t kWritesInFlight = 8;
// Checkpoint content is a stream of its own, far from the indices of dataset files.
constexpr std::uint64_t kCheckpointContent = std::uint64_t{1} << 62;
} // namespace

std::uint64_t TrainingRun::steps_until_checkpoint(std::uint64_t step) const {
    const std::int64_t between = workload_.checkpoint.steps_between_checkpoints;
    if (!checkpoints_ || between <= 0) return ~std::uint64_t{0};
    const auto every = static_cast<std::uint64_t>(between);
    return every - step % every;
}

bool TrainingRun::checkpoint_after_epoch(std::uint32_t epoch_index) const {
    return checkpoints_ && workload_.checkpoint.steps_between_checkpoints <= 0 &&
           next_checkpoint_epoch_ == epoch_index + 1;
}

Task<void> TrainingRun::write_checkpoint(std::uint32_t epoch_index, std::uint64_t step_index) {
    const int rank = request_.communicator->rank();
    const bool writes = rank == 0 || workload_.checkpoint.type == CheckpointWriters::all_ranks;
    CheckpointResult result;
    result.epoch_index = epoch_index;
    result.step_index = step_index;
    result.folder = config::checkpoint_folder_name(epoch_index + 1, step_index);
    result.fsync = workload_.checkpoint.fsync;
    phase_shown_ = "checkpoint";
    const std::uint64_t start_ns = request_.reactor->now_ns();
    result.start_s = seconds(start_ns - start_ns_);
    std::uint64_t stop = accelerator::kGoOn;
    if (writes) {
        auto bytes = co_await write_checkpoint_file(result.folder, result);
        if (!bytes) {
            fail(bytes.error());
            stop = accelerator::kFailed;
        }
    }
    // The slowest rank's time, for all wait for it.
    co_await barrier_.arrive_for_all(stop);
    result.duration_s = seconds(request_.reactor->now_ns() - start_ns);
    phase_shown_ = "epoch";
    const std::uint64_t writers = workload_.checkpoint.type == CheckpointWriters::all_ranks
                                      ? static_cast<std::uint64_t>(request_.communicator->size())
                                      : 1;
    result.bytes = workload_.model.model_size_bytes * writers;
    result.file_count = writers;
    if (!stopped())
        measurements_.checkpoints.push_back(result);
    else if (rank == 0) // half files are gone already, and so is their folder; it stays where others have a file in it
        (void)checkpoints_->remove(result.folder).has_value();
}

Task<Expected<std::uint64_t>> TrainingRun::write_checkpoint_file(const std::string& folder, CheckpointResult& result) {
    const int rank = request_.communicator->rank();
    if (auto made = checkpoints_->make_directories(folder); !made) co_return made.error();
    generators::FileWriter writer(*request_.reactor, *checkpoints_, pool_, buffers_, kWritesInFlight);
    std::uint64_t position = 0;
    const std::uint64_t total = workload_.model.model_size_bytes;
    const std::uint64_t content = kCheckpointContent + static_cast<std::uint64_t>(rank);
    generators::FileToWrite file;
    file.path = fmt::format("{}/model_{}_model_states.pt", folder, rank);
    file.file_bytes = total;
    file.flush = workload_.checkpoint.fsync;
    file.fill = [this, &position, total, content](std::span<std::byte> out) {
        const std::size_t bytes = std::min<std::uint64_t>(out.size(), total - position);
        content_.fill(content, position, out.first(bytes));
        position += bytes;
        return bytes;
    };
    generators::WriteTotals totals;
    auto status = co_await writer.write(file, totals, &shared_.stopping);
    if (!status) co_return status.error();
    result.fsync_s = seconds(totals.fsync_ns);
    co_return totals.bytes;
}

} // namespace feedbench::workloads
