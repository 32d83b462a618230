// Other lengths of an epoch's plan: only its first steps, or the whole of it again and again.
//
// Thread: any (const). Owner: the run, for the epoch; the plan that is looked at outlives the view. Units: counts.
// Errors: none. Source: case P14 (total_training_steps); short runs, which last as long as they are told to.
#pragma once

#include <algorithm>

#include "harness/types/epoch_plan.hpp"

namespace feedbench::workloads {

// An epoch of which only the first steps are run (total_training_steps).
class FirstSteps final : public FileShardPlan {
  public:
    FirstSteps(const EpochPlan& whole, std::uint64_t steps)
        : whole_(whole), shards_(dynamic_cast<const FileShardPlan*>(&whole)),
          steps_(std::min(steps, whole.step_count())) {}
    std::uint64_t step_count() const override { return steps_; }
    std::uint32_t batch_size() const override { return whole_.batch_size(); }
    std::uint32_t accelerator_count() const override { return whole_.accelerator_count(); }
    std::uint64_t dropped_sample_count() const override { return dropped_after(steps_); }
    SampleRef sample(std::uint32_t accelerator, std::uint64_t step, std::uint32_t position) const override {
        return whole_.sample(accelerator, step, position);
    }
    std::uint64_t file_count(std::uint32_t accelerator) const override { return shards_->file_count(accelerator); }
    std::uint64_t file(std::uint32_t accelerator, std::uint64_t position) const override {
        return shards_->file(accelerator, position);
    }
    std::uint32_t samples_per_file() const override { return shards_->samples_per_file(); }
    std::uint32_t cycle_length() const override { return shards_->cycle_length(); }
    // Where the epoch ended after so many of its steps.
    std::uint64_t dropped_after(std::uint64_t steps) const {
        return whole_.dropped_sample_count() +
               (whole_.step_count() - steps) * whole_.batch_size() * whole_.accelerator_count();
    }

  private:
    const EpochPlan& whole_;
    const FileShardPlan* shards_;
    std::uint64_t steps_;
};

// An epoch that begins again at its end, without a seam: as many steps as a step record can number. A file-sharded
// plan's files follow each other in the same order again; what an epoch leaves of its last file is read here.
class RepeatedEpoch final : public FileShardPlan {
  public:
    static constexpr std::uint64_t kStepCount = 0xffff'ffff;

    explicit RepeatedEpoch(const EpochPlan& once) : once_(once), shards_(dynamic_cast<const FileShardPlan*>(&once)) {}
    std::uint64_t step_count() const override { return kStepCount; }
    std::uint32_t batch_size() const override { return once_.batch_size(); }
    std::uint32_t accelerator_count() const override { return once_.accelerator_count(); }
    std::uint64_t dropped_sample_count() const override { return 0; }
    SampleRef sample(std::uint32_t accelerator, std::uint64_t step, std::uint32_t position) const override {
        if (!shards_) return once_.sample(accelerator, step % once_.step_count(), position);
        const std::uint64_t record = step * batch_size() + position; // of this accelerator's stream
        const std::uint64_t width = cycle_length(), in_cycle = width * samples_per_file();
        const std::uint64_t offset = record % in_cycle;
        return {file(accelerator, record / in_cycle * width + offset % width),
                static_cast<std::uint32_t>(offset / width)};
    }
    // Enough for all steps, and the last group of files is a whole one.
    std::uint64_t file_count(std::uint32_t) const override {
        const std::uint64_t width = cycle_length(), in_cycle = width * samples_per_file();
        return (kStepCount * batch_size() / in_cycle + 1) * width;
    }
    std::uint64_t file(std::uint32_t accelerator, std::uint64_t position) const override {
        return shards_->file(accelerator, position % shards_->file_count(accelerator));
    }
    std::uint32_t samples_per_file() const override { return shards_->samples_per_file(); }
    std::uint32_t cycle_length() const override { // a file is not read twice at the same time
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(shards_->cycle_length(), shards_->file_count(0)));
    }

  private:
    const EpochPlan& once_;
    const FileShardPlan* shards_;
};

} // namespace feedbench::workloads
