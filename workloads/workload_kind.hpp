// A kind of workload: what it needs, what it will do, and how it is run into a RunResult.
//
// Thread: main (reactor) thread of every rank. Owner: the cli. Units: in the names.
// Errors: plan() and run() answer the same error on every rank where all can see it; else rank 0's answer counts.
// Source: STYLE section 6: a kind is one file with one line in registry.cpp.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/cluster/communicator.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/types/observer.hpp"
#include "harness/types/run_result.hpp"
#include "harness/types/workload.hpp"

namespace feedbench::dataset {
struct Manifest;
}
namespace feedbench::storage {
class Backend;
}

namespace feedbench::workloads {

// A run that ends by the clock. All ranks agree on the step after which they stop: it is finished, and the run is
// complete. 0 = no limit.
struct RunLimit {
    std::uint64_t time_ns = 0;          // from the first measured step on
    std::uint64_t settle_ns = 0;        // before that: steps that begin in it are not measured
    std::uint64_t least_step_count = 0; // measured, even if it takes longer
    // A step that is still under way so long after settle_ns + time_ns is cut short, and not measured.
    std::uint64_t grace_ns = engine::kNever;
    // The first epoch's plan begins again at its end, without a seam, until the time is up.
    bool repeat_epoch = false;
};

struct RunRequest {
    const Workload* workload = nullptr;
    cluster::Communicator* communicator = nullptr;
    engine::Reactor* reactor = nullptr;
    std::uint32_t accelerator_count = 0;                // over all ranks
    std::uint64_t run_seed = 0;                         // of shuffles, think times and jitter; the same on every rank
    std::string steps_path;                             // rank 0 writes steps.h5 here; empty = no step file
    std::string run_id;                                 // YYYYMMDD_HHMMSS
    std::int64_t time_origin_unix_ns = 0;               // calendar time at 0 of rank 0's clock
    RunObserver* observer = nullptr;                    // rank 0; never null there
    const volatile std::sig_atomic_t* signal = nullptr; // not 0: stop, the run is interrupted
    RunLimit limit;
    double ceiling_s = 0; // before the run the client's ceiling is measured for so long; 0: it is not
    // The dataset as it was made, where that is known already; for storage that keeps none (null:, model:). Else it is
    // the workload's own description.
    const dataset::Manifest* made = nullptr;
    // Puts something around the storage before it is used; empty = nothing.
    std::function<Expected<std::unique_ptr<storage::Backend>>(std::unique_ptr<storage::Backend>)> wrap_storage;
};

// What --dry-run prints: rows of (name, value with unit), in groups.
struct PlanRow {
    std::string group, name, value;
};

struct WorkloadKind {
    std::string_view name, help;
    bool (*accepts)(const Workload& workload);
    // What would be done, from the configuration alone: storage is not touched.
    Expected<std::vector<PlanRow>> (*plan)(const RunRequest& request);
    // On rank 0 the whole result; elsewhere only status, valid and errors.
    Expected<RunResult> (*run)(const RunRequest& request);
};

std::span<const WorkloadKind> workload_kinds();
Expected<const WorkloadKind*> find_kind(const Workload& workload);

// Where the accelerators of a rank lie in the global numbering.
struct Placement {
    std::uint32_t total = 0, first = 0, count = 0;
};
// N accelerators must divide evenly over the hosts, and over the ranks of each host (case P8): else an error with the
// numbers.
Expected<Placement> place_accelerators(std::uint32_t total, const cluster::Communicator& communicator);

} // namespace feedbench::workloads
