// The visible table of checkpoint metrics: one row a checkpoint, and one a run for what was written and what was read.
//
// Thread: any (pure functions, constant tables). Owner: none. Units: in each key; GiB are 2^30 bytes, as in the rules'
// results. Errors: a reason instead of a value. Source: rules of editions 2.0 and 3.0 (the duration of a checkpoint is
// that of its slowest rank, its throughput per rank that of the slowest); DESIGN section 8 (total bytes / total time,
// mean of rates beside it). docs/metrics.md lists every row.
//
// Worked example (case T8): 100 GiB in 5 s and 100 GiB in 20 s: 200 GiB / 25 s = 8.0 GiB/s; mean of rates 12.5.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/metrics/formula_value.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::metrics {

// Row of one checkpoint (CheckpointResult::metrics).
struct CheckpointMetric {
    std::string_view key, unit, formula;
    FormulaValue (*compute)(const CheckpointResult&);
};
std::span<const CheckpointMetric> checkpoint_metrics();

// Row of a run: "checkpoint_write_" or "checkpoint_read_" stands before the key.
using Checkpoints = std::vector<const CheckpointResult*>; // of one kind
struct CheckpointRunMetric {
    std::string_view key, unit, formula;
    FormulaValue (*compute)(const Checkpoints&);
    bool of_reads; // not only of writes
};
std::span<const CheckpointRunMetric> checkpoint_run_metrics();

inline constexpr std::string_view kNoCheckpoint = "no_checkpoint"; // none of this kind was finished
inline constexpr std::string_view kNoRanks = "no_ranks";           // nothing is known of the ranks

std::vector<Metric> checkpoint_rows(const CheckpointResult& checkpoint);
// Only of the kinds that there are; then checkpoint_size_GiB, of the mean checkpoint.
std::vector<Metric> checkpoint_run_rows(const std::vector<CheckpointResult>& checkpoints);
// "<prefix>_s_p50", "_p95", "_p99" of a histogram.
std::vector<Metric> latency_rows(const HistogramData& histogram, const std::string& prefix);

} // namespace feedbench::metrics
