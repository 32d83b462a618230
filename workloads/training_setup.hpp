// Everything a training run needs before its first read: backends, format, plans, buffers, and what they cost.
//
// Thread: main thread of every rank. Owner: run_training. Units: bytes.
// Errors: whatever cannot be is refused here, with the numbers, before anything is measured.
// Source: DESIGN sections 3, 4 (memory bound), 7 (the manifest is read, never the folder).
#pragma once

#include <memory>
#include <optional>

#include "formats/registry.hpp"
#include "harness/dataset/epoch_planner.hpp"
#include "harness/dataset/manifest.hpp"
#include "harness/engine/buffer_pool.hpp"
#include "harness/loader/loader.hpp"
#include "storage/backend.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

// One of the two sets, train/ or valid/.
struct SetPlan {
    std::unique_ptr<dataset::DatasetPlan> files; // as the dataset was made
    std::uint64_t used_file_count = 0;           // of them, in this run (case P11)
    std::uint32_t samples_per_file = 1, batch_size = 1;
    std::uint32_t subfolder_count = 0;
};

// From the configuration alone.
struct TrainingPlan {
    Placement placement;
    const formats::Format* format = nullptr;
    const loader::LoaderEntry* loader = nullptr;
    SetPlan train;
    std::optional<SetPlan> valid;
    engine::BufferPool::Layout buffers{};
    std::uint32_t epoch_count = 0;
    std::uint64_t steps_per_epoch = 0,
                  dropped_per_epoch = 0; // of the first epoch; the same in all but for a step limit
};
// `made`: the dataset as its manifest says it was made; nullptr = as the workload describes it.
Expected<TrainingPlan> make_training_plan(const RunRequest& request, const dataset::Manifest* made);
// The plan of one epoch over a set.
Expected<std::unique_ptr<EpochPlan>> make_epoch_plan(const RunRequest& request, const TrainingPlan& plan,
                                                     const SetPlan& set, std::uint32_t epoch_index);
// Upper bound of what a rank allocates: buffers, accelerators, loaders, step log.
std::uint64_t memory_bound_bytes(const RunRequest& request, const TrainingPlan& plan);

// `uri` with the workload's storage settings, made on this rank.
Expected<std::unique_ptr<storage::Backend>> open_storage(const RunRequest& request, const std::string& uri,
                                                         bool odirect);

} // namespace feedbench::workloads
