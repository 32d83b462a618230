// Generates a dataset: who writes which file, several files side by side, interrupt and resume.
//
// Thread: main (reactor) thread of every rank. Owner: the cli. Units: bytes, seconds.
// Errors: no space (before the first byte where the storage can tell), another dataset in the way, whatever the storage
// says; one rank's error stops all. Files that are finished stay, half files never look finished. Source: DESIGN
// section 7; cases C5 (any number of ranks writes the same bytes), C8 (killed and started again).
#pragma once

#include <csignal>

#include "harness/cluster/communicator.hpp"
#include "harness/dataset/manifest.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/types/observer.hpp"
#include "storage/backend.hpp"

namespace feedbench::generators {

struct DatasetRequest {
    const Workload* workload = nullptr;
    cluster::Communicator* communicator = nullptr;
    engine::Reactor* reactor = nullptr;
    storage::Backend* backend = nullptr; // root = the data folder
    RunObserver* observer = nullptr;     // rank 0
    const volatile std::sig_atomic_t* signal = nullptr;
    bool flush = true; // fsync each file before it gets its name
};

// Over all ranks.
struct DatasetReport {
    std::uint64_t files_written = 0, files_kept = 0; // kept: found finished
    std::uint64_t bytes_written = 0;
    double duration_s = 0, cpu_s = 0;
    dataset::Manifest manifest;
};

// Upper bound of what a rank allocates while it writes.
std::uint64_t memory_bound_bytes();

Expected<DatasetReport> generate_dataset(const DatasetRequest& request);

} // namespace feedbench::generators
