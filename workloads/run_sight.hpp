// What a measured run shows of its storage, in plain numbers: the ground that a fit stands on.
//
// Thread: any. Owner: the caller. Units: in the names. Errors: none; what a run does not say is 0.
// Source: docs/simulate.md; Little's law: mean operations under way = operations/s x their mean time.
#pragma once

#include <string_view>

#include "harness/types/run_result.hpp"

namespace feedbench::workloads {

// What held the measured run back; it decides which parameter is a value and which only a bound.
enum class FitLimit {
    nothing,   // accelerators hardly waited: the storage had more to give than was taken
    bandwidth, // reads queued: the rate is the storage's own
    latency,   // every reader was busy with unhurried answers: the rate is that of so many readers
    client,    // readers were idle while accelerators waited: the client was the limit
};

struct RunSight {
    double bytes_per_second = 0, samples_per_second = 0;
    double bytes_per_read = 0, reads_per_sample = 1; // reads of one sample, one after another
    double sample_ns = 0;                            // of reading one sample: mean
    double sample_ns_least = 0;                      // the fastest of all: it met no queue, or the shortest
    double first_byte_ns = 0, spread = 1;            // open and first read: mean; p99 / median
    double first_byte_ns_least = 0;
    bool reads_queued = false; // by the shape of the first bytes' times: see queued() in run_sight.cpp
    double waiting_share = 0;  // of accelerator time, for batches
    double reader_count = 1;
    double busy_readers = 0; // Little
    bool streams = false;    // files are read as streams whatever the records' borders (tensorflow)

    FitLimit limit() const;
    double reads_per_second() const { return bytes_per_read > 0 ? bytes_per_second / bytes_per_read : 0; }
    double read_ns() const; // of one read, without the open before it
};

// nullptr where the run has none with this key, or an empty one.
const HistogramData* find_histogram(const RunResult& run, std::string_view key);
RunSight look_at(const RunResult& run, const HistogramData& sample_read, const HistogramData& first_byte);

} // namespace feedbench::workloads
