// What checkpoints cost the training, in points of AU: steps that were slower while one was written, and time in which
// training stood still for one.
//
// Thread: any (pure functions). Owner: rank 0's workload kind, after the gather. Units: ns, AU in percent. Errors: a
// reason instead of a value. Source: DESIGN section 8 (AU = think / wall); docs/checkpointing.md.
// The first step of a block is left out, as the rules leave it out of AU: its queue was filled before or while training
// stood still. Time of standing still is not in the rules' AU; here it is, for it is what a checkpoint costs.
// Worked example (also a test): one accelerator thinks 0.9 s a step. 10 steps without a checkpoint take 1.0 s each: AU
// 90 %. 10 steps beside one take 1.2 s: 75 %; all steps 18 / 22 = 81.82 %. It also stood still for 3 s: 18 / 25 = 72 %.
// Cost 18.00 points = 8.18 by slower steps + 9.82 by standing still.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/types/metric.hpp"
#include "harness/types/run_result.hpp"
#include "harness/types/step_record.hpp"

namespace feedbench::metrics {

// Sums over steps and accelerators.
struct StepSums {
    std::uint64_t step_count = 0, think_ns = 0, wall_ns = 0; // think as drawn; wall: request to barrier end
    void add(const StepRecord& step) {
        ++step_count;
        think_ns += step.think_drawn_ns;
        wall_ns += step.barrier_end_ns - step.request_ns;
    }
    void merge(const StepSums& other) {
        step_count += other.step_count;
        think_ns += other.think_ns;
        wall_ns += other.wall_ns;
    }
};

struct CheckpointCost {
    StepSums alone, beside;          // steps of training without and beside a checkpoint that was being written
    std::uint64_t standstill_ns = 0; // training stood still for a checkpoint: accelerator-nanoseconds
    std::uint32_t accelerator_count = 1;
    std::uint32_t checkpoint_count = 0, waited_count = 0; // waited: for the one before, which was still being written
};

// Rows of the run: checkpoint_cost_au_points and its two parts, and what they come from.
std::vector<Metric> checkpoint_cost_rows(const CheckpointCost& cost);
// The same in a paragraph.
Finding checkpoint_cost_finding(const CheckpointCost& cost);

} // namespace feedbench::metrics
