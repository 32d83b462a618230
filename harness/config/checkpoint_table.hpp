// What a checkpoint asks of ranks, hosts and accelerators before a byte is written: who writes what, how much lies on a
// host, whether accelerators could hold it at all, and whether the rules would take it.
//
// Thread: any (pure functions). Owner: the caller. Units: bytes; accelerator memory in 2^30 bytes a "GB", as its makers
// count. Errors: hosts that the ranks do not divide over, accelerators that cannot hold what they would save.
// Source: checkpoint_sizes.hpp for the bytes; checkpoint rules of editions 2.0 and 3.0 (the memory of all accelerators
// together must hold the checkpoint; at least 4 ranks a host; rank counts; 10 writes and 10 reads; fsync).
// Worked example (also a test): llama3 405b on 512 ranks has five classes of ranks; ranks 8-239 write 4 layers and an
// optimizer file each, ranks 256-511 their optimizer file only.
#pragma once

#include "harness/config/checkpoint_sizes.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedbench::config {

// Ranks that write the same number of files of the same sizes.
struct RankClass {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges; // first and last rank, ascending
    std::uint64_t rank_count = 0, file_count = 0;                // file_count: of each rank
    RankBytes bytes;                                             // of each rank
    bool has_layer_files = false;                                // its weights lie in one file a layer
};
// In the order of their first ranks. The number of classes does not grow with that of the ranks.
std::vector<RankClass> rank_classes(const CheckpointSizes& sizes);
// "0-7, 248-255"; at most `most` ranges, then "...".
std::string ranges_text(const RankClass& one, std::size_t most = 4);

// Ranks lie on hosts in blocks, as a launcher fills them: host h has ranks h*n to h*n + n-1.
struct HostShare {
    std::uint64_t host_count = 0, ranks_per_host = 0;
    std::uint64_t bytes_least = 0, bytes_most = 0; // one checkpoint's, on the host with the least and the most
};
Expected<HostShare> host_share(const CheckpointSizes& sizes, std::uint64_t host_count);

// What the fullest accelerator holds of what a checkpoint saves. Below ZeRO 3 every data-parallel copy holds the
// weights that only the first one writes.
std::uint64_t accelerator_state_bytes(const CheckpointSizes& sizes);
// Of an accelerator by its name in workload files (h100: 80 GB); nothing where it is not known.
std::optional<std::uint64_t> accelerator_memory_bytes(std::string_view accelerator);
// Refuses a checkpoint that the workload's accelerators (feedbench.accelerator) could not hold.
Status check_accelerator_memory(const Workload& workload, const CheckpointSizes& sizes);

// One thing that CLOSED asks, and how this workload stands to it.
struct ClosedDemand {
    std::string what, asked, found;
    bool met = false;
};
// Empty where the rules know no such model.
std::vector<ClosedDemand> closed_demands(const Workload& workload, std::uint64_t rank_count);

} // namespace feedbench::config
