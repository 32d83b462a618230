// The running sums of one accelerator's block: all that the formulas need of its steps, in constant memory.
//
// Thread: one user at a time (the accelerator's reactor). Owner: the accelerator, then rank 0, which gathers them as
// raw bytes. Units: ns of the run's clock, bytes. Errors: none; steps are added in the order in which they happened
// (asserted). Source: DESIGN section 8 (times of a step, T = first request to last barrier end of the block).
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/types/step_record.hpp"

namespace feedbench::metrics {

// Values of the first step are kept beside the sums over all steps, so that "without the first step" is a subtraction
// and two parts of a block can be merged in either order.
struct BlockTotals {
    std::uint32_t accelerator_index = 0;
    std::uint16_t epoch_index = 0;
    std::uint16_t block_index = 0; // bit 15 = evaluation, as in StepRecord
    std::uint64_t step_count = 0, sample_count = 0;
    std::uint64_t bytes = 0, bytes_first = 0; // delivered: all steps; first step

    std::uint64_t request_ns_first = 0, think_end_ns_first = 0, barrier_end_ns_first = 0; // of the first step
    std::uint64_t request_ns_last = 0, think_end_ns_last = 0, barrier_end_ns_last = 0;    // of the last step

    std::uint64_t think_ns = 0, think_ns_first = 0; // as drawn: the rules' c
    std::uint64_t think_ns_measured = 0,
                  think_ns_measured_first = 0; // think_end - ready: what the reference tool counts

    // These parts, with gap, add up to barrier_end_ns_last - request_ns_first (tested): nothing of a block is
    // unexplained.
    std::uint64_t wait_ns = 0;         // ready - request = storage_wait + client_wait + unexplained_wait
    std::uint64_t storage_wait_ns = 0; // of wait: reads were in flight
    std::uint64_t client_wait_ns = 0;  // of wait: the client's fault
    std::uint64_t oversleep_ns = 0;    // think_end - ready beyond think drawn
    std::uint64_t undersleep_ns = 0;   // think drawn beyond think_end - ready (0 with a right clock)
    std::uint64_t barrier_wait_ns = 0; // barrier_end - think_end
    std::uint64_t gap_ns = 0;          // next request - barrier_end: the harness's own loop

    bool evaluation() const { return (block_index & kEvaluationBlock) != 0; }
    std::uint32_t block() const { return block_index & ~std::uint32_t{kEvaluationBlock}; }
    std::uint64_t duration_ns() const { return step_count == 0 ? 0 : barrier_end_ns_last - request_ns_first; }
    std::uint64_t unexplained_wait_ns() const { return wait_ns - storage_wait_ns - client_wait_ns; }

    void add(const StepRecord& step);
    bool same_block(const BlockTotals& other) const;
    // Another part of the same accelerator's block (asserted), earlier or later, not overlapping.
    void merge(const BlockTotals& other);
    // Moves every time by offset_ns: from another host's clock to rank 0's.
    void shift(std::int64_t offset_ns);
};
static_assert(std::is_trivially_copyable_v<BlockTotals>);

// For Communicator::gather; both ends are the same binary. parse(): bytes of a whole number of totals (asserted).
std::string serialise(const std::vector<BlockTotals>& totals);
std::vector<BlockTotals> parse_totals(const std::string& bytes);

} // namespace feedbench::metrics
