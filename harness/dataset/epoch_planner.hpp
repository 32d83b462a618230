// Makes the plan of an epoch, or refuses it with the numbers.
//
// Thread: any. Owner: the caller. Units: counts. Errors: too few samples for one step (case P4), too few files to
// share, a subset larger than the dataset (P11). Source: DESIGN section 5 (every sample by exactly one accelerator; the
// remainder differs from epoch to epoch); cases P1-P8, P12-P14.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "harness/types/epoch_plan.hpp"
#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::dataset {

struct EpochRequest {
    std::uint64_t file_count = 0; // files used in this run
    std::uint64_t manifest_file_count =
        0; // files that exist; a subset is taken evenly from all subfolders (P11); 0 = file_count
    std::uint32_t subfolder_count = 0;
    std::uint32_t samples_per_file = 1;
    std::uint32_t accelerator_count = 1;
    std::uint32_t batch_size = 1;
    Shuffle file_shuffle = Shuffle::off, sample_shuffle = Shuffle::off;
    std::uint64_t seed = 0; // the run's; Shuffle::random draws it anew for every run, the caller's business
    bool seed_change_epoch = true;
    std::uint32_t epoch_index = 0;
    std::uint32_t cycle_length = 1; // tensorflow: read_threads
};

// Map-style (pytorch, native): samples are sharded. Accelerator a has the share [a*steps*batch, (a+1)*steps*batch) of
// the order. sample_shuffle: any order of all samples; else file_shuffle: files in any order, their samples ascending;
// else ascending.
Expected<std::unique_ptr<EpochPlan>> plan_samples(const EpochRequest& request);

// File-sharded (tensorflow): file i of the order belongs to accelerator i mod A; sample_shuffle changes nothing about
// which bytes are read when (a framework shuffles after reading), so that it is ignored here. A remainder smaller than
// a file is the end of each accelerator's stream, as in the framework: with file_shuffle off, where the order is
// ascending in every epoch, that part of the remainder is the same in every epoch.
Expected<std::unique_ptr<FileShardPlan>> plan_file_shards(const EpochRequest& request);

// File of the dataset that is file `file_index` of a subset (P11). File i lies in subfolder i mod n, so the first files
// of the dataset are the even share of every subfolder; any stride could meet one subfolder only.
constexpr std::uint64_t subset_file(std::uint64_t file_index) { return file_index; }

// Steps of this epoch under train.total_training_steps (P14: 3 steps in all over 2 epochs); -1 = no limit.
struct StepLimit {
    std::uint64_t steps_per_epoch = 0;
    std::int64_t total_training_steps = -1;
    std::uint32_t epoch_index = 0;
};
std::uint64_t steps_in_epoch(const StepLimit& limit);

// What a plan reads, or what was read, whatever the order: compared over all ranks at the end of an epoch.
struct EpochChecksum {
    std::uint64_t sample_count = 0;
    std::uint64_t fingerprint_sum = 0; // wrapping
    void add(SampleRef sample) { ++sample_count, fingerprint_sum += sample_id_fingerprint(sample); }
    void merge(const EpochChecksum& other) {
        sample_count += other.sample_count;
        fingerprint_sum += other.fingerprint_sum;
    }
    bool operator==(const EpochChecksum&) const = default;
};
struct AcceleratorRange {
    std::uint32_t first = 0, count = 0;
};
// Of these accelerators alone, so that ranks share the work; the sum over all ranges is the epoch's.
EpochChecksum epoch_checksum(const EpochPlan& plan, AcceleratorRange accelerators,
                             std::uint64_t step_limit = std::numeric_limits<std::uint64_t>::max());

} // namespace feedbench::dataset
