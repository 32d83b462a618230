// Which accelerator reads which sample in which step of one epoch.
//
// Thread: any (const). Owner: the workload, for the epoch. Units: counts. Errors: none; a plan that cannot be is
// refused by its maker (harness/dataset/epoch_planner.hpp). Memory: constant; everything is a function of an index.
// Source: DESIGN section 5; cases P1-P8, P12-P14.
#pragma once

#include "harness/types/dataset_plan.hpp"
#include "harness/types/random.hpp"

namespace feedbench {

class EpochPlan {
  public:
    virtual ~EpochPlan() = default;
    // Steps of every accelerator; the same number everywhere, so that no accelerator waits for ever.
    virtual std::uint64_t step_count() const = 0;
    virtual std::uint32_t batch_size() const = 0;
    virtual std::uint32_t accelerator_count() const = 0;
    // Samples of the dataset that no accelerator reads in this epoch (the remainder).
    virtual std::uint64_t dropped_sample_count() const = 0;
    // position in [0, batch_size).
    virtual SampleRef sample(std::uint32_t accelerator, std::uint64_t step, std::uint32_t position) const = 0;
};

// File-sharded plans (tensorflow) also say which files an accelerator reads side by side. `sample` of such a plan
// agrees with reading `file(a, 0..)` by cycle_length at a time, one record of each in turn.
class FileShardPlan : public EpochPlan {
  public:
    virtual std::uint64_t file_count(std::uint32_t accelerator) const = 0; // files that this accelerator opens
    virtual std::uint64_t file(std::uint32_t accelerator, std::uint64_t position) const = 0;
    virtual std::uint32_t samples_per_file() const = 0;
    virtual std::uint32_t cycle_length() const = 0; // files read side by side (read_threads)
};

// Order-independent fingerprint of one sample id; an epoch's checksum is the wrapping sum over all samples read.
// In the header: it is asked of every record, of which one process may read ten million a second.
inline std::uint64_t sample_id_fingerprint(SampleRef sample) {
    return mix64(mix64(sample.file_index) ^ (0x5a3c000000000000ULL + sample.sample_index));
}

} // namespace feedbench
