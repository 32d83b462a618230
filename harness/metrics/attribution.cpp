#include "harness/metrics/attribution.hpp"

#include <algorithm>

#include "harness/types/units.hpp"

namespace feedbench::metrics {

// Worked example: one accelerator, epoch 10 s; one step: waits 3 s on storage, 1 s on the client, thinks 2 s as drawn,
// oversleeps 0.5 s, waits 1.5 s at the barrier. think 2, storage 3, client 1.5, barrier 1.5, outside 2; total 10.
Attribution attribute(std::span<const BlockTotals> blocks, std::uint64_t accelerator_count, std::uint64_t wall_ns) {
    std::uint64_t think = 0, storage = 0, client = 0, barrier = 0, inside = 0;
    for (const BlockTotals& b : blocks) {
        think += b.think_ns - b.undersleep_ns;
        storage += b.storage_wait_ns;
        // Waiting with no read in flight, oversleeping and the loop between two steps are all the client's.
        client += b.client_wait_ns + b.unexplained_wait_ns() + b.oversleep_ns + b.gap_ns;
        barrier += b.barrier_wait_ns;
        inside += b.duration_ns();
    }
    // An epoch's end is noted after its last barrier, so `inside` is not more; were it more, the epoch was at least
    // that long.
    const std::uint64_t total = std::max(accelerator_count * wall_ns, inside);
    Attribution a;
    a.think_s = seconds(think);
    a.storage_wait_s = seconds(storage);
    a.client_wait_s = seconds(client);
    a.barrier_wait_s = seconds(barrier);
    a.outside_s = seconds(total - inside);
    a.total_s = seconds(total);
    return a;
}

void add(Attribution& sum, const Attribution& part) {
    sum.think_s += part.think_s;
    sum.storage_wait_s += part.storage_wait_s;
    sum.client_wait_s += part.client_wait_s;
    sum.barrier_wait_s += part.barrier_wait_s;
    sum.outside_s += part.outside_s;
    sum.total_s += part.total_s;
}

} // namespace feedbench::metrics
