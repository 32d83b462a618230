// How many accelerators can this storage feed: the largest N whose AU reaches a bar, searched in one job.
//
// Thread: main thread of every rank, all ranks (collective). Owner: the cli. Units: in the names. Errors: the same on
// every rank: a configuration that cannot be searched, or a run that failed before anything was known; a failure or an
// interruption after that is a result with the status that says so and the curve so far.
// Source: issue of `max`; max_search.hpp decides what is tried, on rank 0, and the other ranks hear of it.
#pragma once

#include <functional>
#include <optional>

#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

struct MaxRequest {
    RunRequest base;         // of the run of full length; its accelerator_count, steps_path and limit are not used
    double bar = 0;          // fraction (0, 1]; 0: the workload's metric.au, or 0.9 where it has none
    std::uint32_t limit = 0; // largest N; 0: kLimitOfAll
    std::uint32_t start = 0; // first N; 0: guessed
    double probe_s = 5;
    std::optional<double> settle_s; // before each probe's figures; nothing: 2 s, or as long as a full queue lasts
    bool confirm = true;
    // Rank 0, after each trial: what is known so far (status "incomplete").
    std::function<void(const RunResult& so_far)> on_trial;
};

inline constexpr std::uint32_t kLimitOfAll = 65536;

// What a search will do, from the configuration alone: refuses what cannot be searched.
struct MaxPlan {
    double bar_percentage = 90;
    bool bar_is_default = false; // neither asked for nor in the workload
    std::uint32_t unit = 1;      // N must divide evenly over hosts and ranks
    std::uint32_t limit = kLimitOfAll;
    enum class LimitOf : std::uint8_t { asked, data, all } limit_of = LimitOf::all;
    std::uint64_t sample_count = 0;
    std::uint32_t batch_size = 1, queue_batches = 0; // an accelerator's queue, when it is full
    double think_s = 0, probe_s = 5, settle_s = 2;
};
Expected<MaxPlan> make_max_plan(const MaxRequest& request);

// What --dry-run prints.
Expected<std::vector<PlanRow>> plan_max(const MaxRequest& request);

// On rank 0 the result of kind "max": that of the deciding run (the confirming one; else the best probe's), with
// scaling, scaling_stop and the metric row max_accelerator_count; elsewhere only status, valid and errors.
Expected<RunResult> run_max(const MaxRequest& request);

} // namespace feedbench::workloads
