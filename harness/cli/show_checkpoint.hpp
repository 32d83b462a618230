// What `feedbench show` says about a checkpoint: for people, as a list of files, and for programs.
//
// Thread: main, rank 0. Owner: cmd_show. Units: bytes, GiB and MB in the names. Errors: those of the plan.
// Source: harness/config/checkpoint_table.hpp.
#pragma once

#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

#include <cstdint>

namespace feedbench::cli {

struct CheckpointQuestion {
    std::uint64_t rank_count = 0; // 0: as CLOSED asks, else 1
    std::uint64_t host_count = 0; // 0: 8 ranks a host where that goes up, else one
    double accelerator_GiB = 0;   // 0: that of the workload's accelerator, else 80
    double MB_per_second = 0;     // of the storage; 0: nothing is said about time
};

Status print_checkpoint_table(const Workload& workload, const CheckpointQuestion& question);
// CSV with the columns rank, name, bytes; name is below the checkpoint's folder.
Status print_checkpoint_files(const Workload& workload, const CheckpointQuestion& question);
Status print_checkpoint_json(const Workload& workload, const CheckpointQuestion& question);

} // namespace feedbench::cli
