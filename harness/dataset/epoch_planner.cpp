#include "harness/dataset/epoch_planner.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "harness/dataset/epoch_order.hpp"

namespace feedbench::dataset {

namespace {

class SamplePlan final : public EpochPlan {
  public:
    SamplePlan(const EpochRequest& request, std::uint64_t step_count, const EpochOrder& order, bool shuffles_samples)
        : accelerator_count_(request.accelerator_count), batch_size_(request.batch_size),
          samples_per_file_(request.samples_per_file), step_count_(step_count),
          dropped_(request.file_count * request.samples_per_file - order.used_count()), order_(order),
          shuffles_samples_(shuffles_samples) {}

    std::uint64_t step_count() const override { return step_count_; }
    std::uint32_t batch_size() const override { return batch_size_; }
    std::uint32_t accelerator_count() const override { return accelerator_count_; }
    std::uint64_t dropped_sample_count() const override { return dropped_; }
    SampleRef sample(std::uint32_t accelerator, std::uint64_t step, std::uint32_t position) const override {
        assert(accelerator < accelerator_count_ && step < step_count_ && position < batch_size_);
        const auto item = order_((accelerator * step_count_ + step) * batch_size_ + position);
        if (!shuffles_samples_) return {subset_file(item.unit), static_cast<std::uint32_t>(item.item)};
        return {subset_file(item.unit / samples_per_file_), static_cast<std::uint32_t>(item.unit % samples_per_file_)};
    }

  private:
    std::uint32_t accelerator_count_, batch_size_, samples_per_file_;
    std::uint64_t step_count_, dropped_;
    EpochOrder order_;
    bool shuffles_samples_; // a unit of the order is a sample, else a file
};

class ShardPlan final : public FileShardPlan {
  public:
    ShardPlan(const EpochRequest& request, std::uint64_t step_count, std::uint64_t files_each, const EpochOrder& order)
        : accelerator_count_(request.accelerator_count), batch_size_(request.batch_size),
          samples_per_file_(request.samples_per_file), cycle_length_(std::max(1U, request.cycle_length)),
          step_count_(step_count), files_each_(files_each),
          dropped_(request.file_count * request.samples_per_file -
                   step_count * request.accelerator_count * request.batch_size),
          order_(order) {
        // The same shuffled order in every epoch would end every epoch with the same files; so it begins elsewhere
        // instead.
        if (request.file_shuffle != Shuffle::off && !request.seed_change_epoch)
            first_ = request.epoch_index % files_each;
    }

    std::uint64_t step_count() const override { return step_count_; }
    std::uint32_t batch_size() const override { return batch_size_; }
    std::uint32_t accelerator_count() const override { return accelerator_count_; }
    std::uint64_t dropped_sample_count() const override { return dropped_; }
    std::uint64_t file_count(std::uint32_t) const override { return files_each_; }
    std::uint32_t samples_per_file() const override { return samples_per_file_; }
    std::uint32_t cycle_length() const override { return cycle_length_; }
    std::uint64_t file(std::uint32_t accelerator, std::uint64_t position) const override {
        assert(accelerator < accelerator_count_ && position < files_each_);
        const std::uint64_t turned = (position + first_) % files_each_;
        return subset_file(order_(turned * accelerator_count_ + accelerator).unit);
    }
    SampleRef sample(std::uint32_t accelerator, std::uint64_t step, std::uint32_t position) const override {
        assert(step < step_count_ && position < batch_size_);
        const std::uint64_t record = step * batch_size_ + position; // of this accelerator's stream
        const std::uint64_t in_cycle = std::uint64_t{cycle_length_} * samples_per_file_;
        const std::uint64_t first_file = record / in_cycle * cycle_length_;
        const std::uint64_t width = std::min<std::uint64_t>(cycle_length_, files_each_ - first_file); // the last: fewer
        const std::uint64_t offset = record % in_cycle;
        return {file(accelerator, first_file + offset % width), static_cast<std::uint32_t>(offset / width)};
    }

  private:
    std::uint32_t accelerator_count_, batch_size_, samples_per_file_, cycle_length_;
    std::uint64_t step_count_, files_each_, dropped_;
    std::uint64_t first_ = 0;
    EpochOrder order_; // of files
};

constexpr std::uint64_t kLargestSampleCount = std::uint64_t{1} << 62;

Status check(const EpochRequest& r) {
    if (r.accelerator_count == 0) return config_error("0 accelerators cannot train");
    if (r.batch_size == 0) return config_error("a batch of 0 samples", "reader.batch_size");
    if (r.samples_per_file == 0) return config_error("0 samples in a file", "dataset.num_samples_per_file");
    if (r.manifest_file_count != 0 && r.file_count > r.manifest_file_count)
        return config_error(
            fmt::format("{} files asked, but the dataset has only {}", r.file_count, r.manifest_file_count),
            "dataset.num_files_train");
    if (r.file_count > kLargestSampleCount / r.samples_per_file)
        return config_error(
            fmt::format("{} files of {} samples are too many to count", r.file_count, r.samples_per_file), "dataset");
    return {};
}

Error too_few_samples(const EpochRequest& r) {
    const std::uint64_t have = r.file_count * r.samples_per_file;
    const std::uint64_t need = std::uint64_t{r.accelerator_count} * r.batch_size;
    return config_error(
        fmt::format("too few samples for one step: {} files x {} samples = {}, but {} accelerators x batch {} "
                    "need {}; use more files, a smaller batch or fewer accelerators",
                    r.file_count, r.samples_per_file, have, r.accelerator_count, r.batch_size, need),
        "dataset");
}

} // namespace

Expected<std::unique_ptr<EpochPlan>> plan_samples(const EpochRequest& request) {
    if (Status status = check(request); !status) return status.error();
    const std::uint64_t samples = request.file_count * request.samples_per_file;
    const std::uint64_t per_step = std::uint64_t{request.accelerator_count} * request.batch_size;
    const std::uint64_t steps = samples / per_step;
    if (steps == 0) return too_few_samples(request);

    const bool shuffles_samples = request.sample_shuffle != Shuffle::off;
    const EpochOrder order({.unit_count = shuffles_samples ? samples : request.file_count,
                            .items_per_unit = shuffles_samples ? 1 : request.samples_per_file,
                            .dropped = samples - steps * per_step,
                            .shuffle = shuffles_samples || request.file_shuffle != Shuffle::off,
                            .seed = request.seed,
                            .reshuffle_each_epoch = request.seed_change_epoch,
                            .epoch_index = request.epoch_index});
    return std::unique_ptr<EpochPlan>(new SamplePlan(request, steps, order, shuffles_samples));
}

Expected<std::unique_ptr<FileShardPlan>> plan_file_shards(const EpochRequest& request) {
    if (Status status = check(request); !status) return status.error();
    const std::uint64_t per_step = std::uint64_t{request.accelerator_count} * request.batch_size;
    if (request.file_count * request.samples_per_file < per_step) return too_few_samples(request);
    const std::uint64_t files_at_most = request.file_count / request.accelerator_count;
    if (files_at_most == 0)
        return config_error(
            fmt::format("{} files cannot be shared out to {} accelerators: the tensorflow loader gives whole files, "
                        "at least 1 to each",
                        request.file_count, request.accelerator_count),
            "dataset.num_files_train");
    const std::uint64_t samples_each = files_at_most * request.samples_per_file;
    const std::uint64_t steps = samples_each / request.batch_size;
    if (steps == 0)
        return config_error(
            fmt::format("too few samples for one step: {} files give each of {} accelerators {} whole files of {} "
                        "samples = {}, but a batch needs {}",
                        request.file_count, request.accelerator_count, files_at_most, request.samples_per_file,
                        samples_each, request.batch_size),
            "dataset");
    // Files of which no record would be used are not opened.
    const std::uint64_t files_each =
        (steps * request.batch_size + request.samples_per_file - 1) / request.samples_per_file;
    const EpochOrder order({.unit_count = request.file_count,
                            .items_per_unit = 1,
                            .dropped = request.file_count - files_each * request.accelerator_count,
                            .shuffle = request.file_shuffle != Shuffle::off,
                            .seed = request.seed,
                            .reshuffle_each_epoch = request.seed_change_epoch,
                            .epoch_index = request.epoch_index});
    return std::unique_ptr<FileShardPlan>(new ShardPlan(request, steps, files_each, order));
}

std::uint64_t steps_in_epoch(const StepLimit& limit) {
    if (limit.total_training_steps < 0) return limit.steps_per_epoch;
    const auto total = static_cast<std::uint64_t>(limit.total_training_steps);
    const std::uint64_t before = limit.steps_per_epoch * limit.epoch_index;
    return before >= total ? 0 : std::min(limit.steps_per_epoch, total - before);
}

EpochChecksum epoch_checksum(const EpochPlan& plan, AcceleratorRange accelerators, std::uint64_t step_limit) {
    EpochChecksum sum;
    const std::uint64_t steps = std::min(step_limit, plan.step_count());
    for (std::uint32_t a = accelerators.first; a < accelerators.first + accelerators.count; ++a)
        for (std::uint64_t step = 0; step < steps; ++step)
            for (std::uint32_t position = 0; position < plan.batch_size(); ++position)
                sum.add(plan.sample(a, step, position));
    return sum;
}

} // namespace feedbench::dataset
