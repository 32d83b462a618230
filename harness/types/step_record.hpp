// One record an accelerator and step: the raw material of every metric.
//
// Thread: plain value. Owner: streamed to the step log, never collected in memory. Units: ns of the run's clock, bytes.
// Errors: none. Source: DESIGN section 8 (times of a step), STYLE section 5 (80 bytes).
#pragma once

#include <cstdint>

namespace feedbench {

struct StepRecord {
    std::uint32_t accelerator_index; // global, 0-based
    std::uint16_t epoch_index;       // 0-based
    std::uint16_t block_index;       // 0-based within the epoch; bit 15 set = evaluation
    std::uint32_t step_index;        // 0-based within the block
    std::uint32_t sample_count;
    std::uint64_t request_ns;      // the accelerator asks for its batch
    std::uint64_t ready_ns;        // it has the batch
    std::uint64_t think_drawn_ns;  // think time as drawn from the workload (the rules' computation_time)
    std::uint64_t think_end_ns;    // it really finished thinking
    std::uint64_t barrier_end_ns;  // every accelerator has finished this step
    std::uint64_t storage_wait_ns; // part of ready - request in which reads were in flight at the storage
    std::uint64_t client_wait_ns;  // part of ready - request that is the client's fault (decode, busy reactor)
    std::uint64_t bytes_delivered; // bytes the storage really delivered for this batch
};
static_assert(sizeof(StepRecord) == 80);

inline constexpr std::uint16_t kEvaluationBlock = 0x8000;

} // namespace feedbench
