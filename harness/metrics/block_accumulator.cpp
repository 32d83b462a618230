#include "harness/metrics/block_accumulator.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace feedbench::metrics {

void BlockTotals::add(const StepRecord& step) {
    const bool first = step_count == 0;
    assert(step.request_ns <= step.ready_ns && step.ready_ns <= step.think_end_ns);
    assert(step.think_end_ns <= step.barrier_end_ns);
    const std::uint64_t wait = step.ready_ns - step.request_ns, measured = step.think_end_ns - step.ready_ns;
    if (first) {
        accelerator_index = step.accelerator_index;
        epoch_index = step.epoch_index;
        block_index = step.block_index;
        bytes_first = step.bytes_delivered;
        request_ns_first = step.request_ns;
        think_end_ns_first = step.think_end_ns;
        barrier_end_ns_first = step.barrier_end_ns;
        think_ns_first = step.think_drawn_ns;
        think_ns_measured_first = measured;
    } else {
        assert(step.accelerator_index == accelerator_index && step.epoch_index == epoch_index);
        assert(step.block_index == block_index && step.request_ns >= barrier_end_ns_last);
        gap_ns += step.request_ns - barrier_end_ns_last;
    }
    request_ns_last = step.request_ns;
    think_end_ns_last = step.think_end_ns;
    barrier_end_ns_last = step.barrier_end_ns;

    ++step_count;
    sample_count += step.sample_count;
    bytes += step.bytes_delivered;
    think_ns += step.think_drawn_ns;
    think_ns_measured += measured;
    wait_ns += wait;
    // A completion that lay in the ring was in flight and late through the client's fault at once: the client's share
    // goes first.
    const std::uint64_t client = std::min(step.client_wait_ns, wait);
    client_wait_ns += client;
    storage_wait_ns += std::min(step.storage_wait_ns, wait - client);
    if (measured >= step.think_drawn_ns)
        oversleep_ns += measured - step.think_drawn_ns;
    else
        undersleep_ns += step.think_drawn_ns - measured;
    barrier_wait_ns += step.barrier_end_ns - step.think_end_ns;
}

bool BlockTotals::same_block(const BlockTotals& other) const {
    return accelerator_index == other.accelerator_index && epoch_index == other.epoch_index &&
           block_index == other.block_index;
}

void BlockTotals::merge(const BlockTotals& other) {
    if (other.step_count == 0) return;
    if (step_count == 0) {
        *this = other;
        return;
    }
    assert(same_block(other));
    const bool other_is_later = other.request_ns_first >= request_ns_first;
    const BlockTotals early = other_is_later ? *this : other, late = other_is_later ? other : *this;
    assert(late.request_ns_first >= early.barrier_end_ns_last);
    *this = early;
    gap_ns += late.gap_ns + (late.request_ns_first - early.barrier_end_ns_last);
    request_ns_last = late.request_ns_last;
    think_end_ns_last = late.think_end_ns_last;
    barrier_end_ns_last = late.barrier_end_ns_last;
    step_count += late.step_count;
    sample_count += late.sample_count;
    bytes += late.bytes;
    think_ns += late.think_ns;
    think_ns_measured += late.think_ns_measured;
    wait_ns += late.wait_ns;
    storage_wait_ns += late.storage_wait_ns;
    client_wait_ns += late.client_wait_ns;
    oversleep_ns += late.oversleep_ns;
    undersleep_ns += late.undersleep_ns;
    barrier_wait_ns += late.barrier_wait_ns;
}

void BlockTotals::shift(std::int64_t offset_ns) {
    for (std::uint64_t* time : {&request_ns_first, &think_end_ns_first, &barrier_end_ns_first, &request_ns_last,
                                &think_end_ns_last, &barrier_end_ns_last})
        *time += static_cast<std::uint64_t>(offset_ns); // wraps as two's complement: subtraction for negative offsets
}

std::string serialise(const std::vector<BlockTotals>& totals) {
    return std::string(reinterpret_cast<const char*>(totals.data()), totals.size() * sizeof(BlockTotals));
}

std::vector<BlockTotals> parse_totals(const std::string& bytes) {
    assert(bytes.size() % sizeof(BlockTotals) == 0);
    std::vector<BlockTotals> totals(bytes.size() / sizeof(BlockTotals));
    if (!totals.empty()) std::memcpy(totals.data(), bytes.data(), totals.size() * sizeof(BlockTotals));
    return totals;
}

} // namespace feedbench::metrics
