// How large a dataset must be for a result to count, and what that takes on disk.
//
// Thread: any (pure function). Owner: none. Units: bytes; host memory in GiB, which the rules write as GB.
// Errors: numbers that cannot be.
// Source: reference.md section 2 (rules: 500 steps, five times the memory of the client hosts; integer truncation);
// cases S1-S3. Worked example (also a test): 4 hosts x 754 GB x 5 x 2^30 / 322957 = 50,136,788.19 -> 50,136,788
// samples.
#pragma once

#include <cstdint>
#include <string>

#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::dataset {

inline constexpr std::uint64_t kMinimumSteps = 500;
inline constexpr std::uint64_t kMemoryMultiple = 5;

struct SizingRequest {
    std::uint32_t accelerator_count = 1; // over all hosts
    std::uint32_t batch_size = 1;
    std::uint32_t host_count = 1;
    double memory_GB_per_host = 0; // "GB" of 2^30 bytes, as the rules compute
};

struct Sizing {
    std::uint64_t samples_for_steps = 0, samples_for_memory = 0;
    std::uint64_t sample_count = 0; // the larger of the two
    std::uint64_t file_count = 0;   // samples / samples per file, truncated, at least 1
    bool memory_decides = false;
    std::uint64_t nominal_bytes = 0; // sample_count x record length: what the rules call the size
    std::uint64_t disk_bytes =
        0; // payload of file_count files as they will be generated (varying sizes: expected mean)
    std::uint64_t steps_per_epoch = 0; // that file_count files give
    std::string explanation;           // for people: both bounds and which one decided
};

Expected<Sizing> size_dataset(const DatasetSection& section, const SizingRequest& request);

} // namespace feedbench::dataset
