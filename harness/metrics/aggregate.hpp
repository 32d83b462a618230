// From gathered measurements to the numbers of a RunResult: blocks, epochs, metric rows, attribution, histograms.
//
// Thread: any (a pure function). Owner: rank 0's workload kind calls it once, after the gather. Units: ns of rank 0's
// clock, bytes. Errors: none; what cannot be computed is a metric row with a reason. Source: DESIGN section 8; cases
// T1-T15.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/metrics/block_accumulator.hpp"
#include "harness/metrics/epoch_counts.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::metrics {

// When an epoch (training or evaluation) began and ended: earliest over ranks to latest over ranks (case T13).
struct EpochMeasurement {
    std::uint32_t epoch_index = 0;
    bool evaluation = false;
    std::uint64_t start_ns = 0, end_ns = 0;
    std::uint64_t dropped_sample_count = 0;
    bool samples_proved = false;
};

// What one host's storage really gave in one epoch.
struct HostCache {
    std::uint32_t epoch_index = 0;
    bool evaluation = false;
    std::uint32_t host_index = 0; // in TrainingMeasurements::hosts
    CacheEvidence evidence;
};

// What one host counted in one epoch: its ranks added up. Kept as EpochCounts::serialise() made it: a hundredth of the
// memory.
struct HostCounts {
    std::uint32_t epoch_index = 0;
    bool evaluation = false;
    std::uint32_t host_index = 0;
    std::string counts;
};

// Everything that the ranks measured, gathered. Order of `blocks` does not matter; times of other hosts were moved to
// rank 0's clock with BlockTotals::shift.
struct TrainingMeasurements {
    std::string edition = "2.0";
    std::uint32_t accelerator_count = 0;
    std::uint32_t batch_size = 0, batch_size_eval = 0;
    double record_length_bytes = 0;       // nominal
    std::uint64_t run_start_ns = 0;       // what start_s of epochs and blocks and start_ns of slices count from
    std::vector<EpochMeasurement> epochs; // in the order in which they ran
    std::vector<BlockTotals> blocks;      // one an (accelerator, epoch, block)
    std::vector<Slice> slices;
    std::uint64_t slice_ns = 1'000'000'000; // length of a slice; the last one ends with the run
    std::vector<CheckpointResult> checkpoints;
    std::vector<HostFacts> hosts;
    std::vector<std::uint32_t> host_of_accelerator; // by accelerator index; where it is too short: host 0
    std::vector<HostCounts> counts;                 // one an epoch and host, in any order; may be missing
    std::vector<HostCache> cache_evidence;          // likewise
};

// Fills result.epochs, checkpoints, metrics, attribution, histograms, slices and hosts from the measurements, and the
// explanation when a bar (result.au_required) is missed. Everything else of `result` is the caller's and may be set
// before or after, but au_required, accelerator_count, think_time_mean_s, batch_size and data_loader before: the
// explanation reads them.
void aggregate(const TrainingMeasurements& measurements, RunResult& result);

// One of the epochs as aggregate() gives it, without looking at the others: for those who watch a run.
EpochResult epoch_result(const TrainingMeasurements& measurements, const EpochMeasurement& epoch);

// The row with this key, or nullptr.
const Metric* find_metric(const std::vector<Metric>& rows, std::string_view key);

} // namespace feedbench::metrics
