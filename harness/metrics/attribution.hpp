// Where accelerator-seconds went: think, wait on storage, wait on the client, wait on the barrier, outside the blocks.
//
// Thread: any (pure functions). Owner: none. Units: s. Errors: none. Source: DESIGN section 8.
// The parts add up to total_s: a block's parts add up to its T to the nanosecond (block_accumulator.hpp), and the rest
// of the epoch's wall time is `outside`. A finer split (decode, verify, not running) will divide client_wait_s, not
// change the sum.
#pragma once

#include <cstdint>
#include <span>

#include "harness/metrics/block_accumulator.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::metrics {

// Of one epoch: every accelerator lived for wall_ns, of which its blocks explain a part.
Attribution attribute(std::span<const BlockTotals> blocks, std::uint64_t accelerator_count, std::uint64_t wall_ns);
void add(Attribution& sum, const Attribution& part);

} // namespace feedbench::metrics
