// Makes the plan of an epoch, or refuses it with the numbers.
//
// Thread: any. Owner: the caller. Units: counts. Errors: too few samples for one step (case P4).
// Source: DESIGN section 5 (every sample by exactly one accelerator; the remainder differs from epoch to epoch); cases P1-P8, P12-P14.
#pragma once

#include <memory>

#include "harness/types/epoch_plan.hpp"
#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::dataset {

struct EpochRequest {
    std::uint64_t file_count = 0;      // files used in this run
    std::uint64_t manifest_file_count = 0; // files that exist; a subset is taken evenly from all subfolders (P11); 0 = file_count
    std::uint32_t subfolder_count = 0;
    std::uint32_t samples_per_file = 1;
    std::uint32_t accelerator_count = 1;
    std::uint32_t batch_size = 1;
    Shuffle file_shuffle = Shuffle::off, sample_shuffle = Shuffle::off;
    std::uint64_t seed = 0;            // the run's; Shuffle::random draws it anew for every run, the caller's business
    bool seed_change_epoch = true;
    std::uint32_t epoch_index = 0;
    std::uint32_t cycle_length = 1;    // tensorflow: read_threads
};

// Map-style (pytorch, native): samples are sharded.
Expected<std::unique_ptr<EpochPlan>> plan_samples(const EpochRequest& request);
// File-sharded (tensorflow): files are sharded.
Expected<std::unique_ptr<FileShardPlan>> plan_file_shards(const EpochRequest& request);

} // namespace feedbench::dataset
