// The visible table of metrics: key, unit, formula, source, and the function that computes it.
//
// Thread: any (pure functions, constant tables). Owner: none. Units: in each key. Errors: a reason instead of a value.
// To add a metric: a function and one line in metric_table.cpp; reporters walk over the rows.
// Source: DESIGN section 8; docs/metrics.md lists every row with its worked example.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/metrics/editions.hpp"
#include "harness/metrics/steadiness.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::metrics {

// One epoch or one block, over all accelerators.
struct WindowAggregate {
    bool evaluation = false;
    double accelerator_count = 0, batch_size = 0, record_length_bytes = 0;
    double step_count = 0; // of an accelerator (the largest)
    double sample_count = 0, bytes_delivered = 0, dropped_sample_count = 0;
    double wall_s = 0;   // whole epoch, nothing excluded (of a block: its window)
    double window_s = 0; // sum of the block windows: earliest start to latest end over all accelerators (case T13)
    double think_s = 0;  // as drawn, over all accelerators
    double wait_s = 0;   // request to ready, over all accelerators
    double accelerator_steps = 0; // steps over all accelerators
    Figures figures, dlio, dlio_current;
    std::vector<TimedRate> slices; // MB/s of the complete slices inside the windows
    FormulaValue identity_deviation = FormulaValue::none(kNoSteps);
    FormulaValue source_over_delivered = FormulaValue::none(kNoSource); // of the host with the least
};

struct RunAggregate {
    std::vector<WindowAggregate> train, evaluation;
    double process_cpu_s = 0, host_cpu_s = 0, cpu_bytes = 0; // over the measured part, all hosts
    double oversleep_s = 0;                                  // of the training steps
    HistogramData sample_read_latency, time_to_first_byte, batch_wait, think_error;
    std::vector<CheckpointResult> checkpoints;
};

struct WindowMetric {
    std::string_view key, unit, formula, source;
    FormulaValue (*compute)(const WindowAggregate&);
    bool of_blocks; // also a row of every block
};
struct RunMetric {
    std::string_view key, unit, formula, source;
    FormulaValue (*compute)(const RunAggregate&);
    bool (*applies)(const RunAggregate&); // nullptr: always a row; else only where it says so
};

std::span<const WindowMetric> window_metrics();
std::span<const RunMetric> run_metrics();

std::vector<Metric> block_rows(const WindowAggregate& block);
std::vector<Metric> epoch_rows(const WindowAggregate& epoch);
std::vector<Metric> run_rows(const RunAggregate& run);

} // namespace feedbench::metrics
