// Synthetic step logs: the times of a step written as durations.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/metrics/block_accumulator.hpp"

namespace feedbench::metrics::test {

struct Step {
    double wait_s = 0, think_s = 0, oversleep_s = 0, barrier_s = 0, gap_s = 0; // gap before the request
    double storage_s = -1;                                                     // < 0: all of the wait
    double client_s = 0;
    std::uint64_t bytes = 0;
    std::uint32_t samples = 1;
};

struct Place {
    std::uint32_t accelerator = 0;
    std::uint16_t epoch = 0, block = 0;
};

inline std::uint64_t ns(double s) { return static_cast<std::uint64_t>(s * 1e9 + 0.5); }

inline std::vector<StepRecord> step_log(Place place, double start_s, const std::vector<Step>& steps) {
    std::vector<StepRecord> log;
    std::uint64_t now = ns(start_s);
    for (const Step& s : steps) {
        StepRecord r{};
        r.accelerator_index = place.accelerator;
        r.epoch_index = place.epoch;
        r.block_index = place.block;
        r.step_index = static_cast<std::uint32_t>(log.size());
        r.sample_count = s.samples;
        r.request_ns = now + ns(s.gap_s);
        r.ready_ns = r.request_ns + ns(s.wait_s);
        r.think_drawn_ns = ns(s.think_s);
        r.think_end_ns = r.ready_ns + ns(s.think_s + s.oversleep_s);
        r.barrier_end_ns = r.think_end_ns + ns(s.barrier_s);
        r.storage_wait_ns = ns(s.storage_s < 0 ? s.wait_s - s.client_s : s.storage_s);
        r.client_wait_ns = ns(s.client_s);
        r.bytes_delivered = s.bytes;
        now = r.barrier_end_ns;
        log.push_back(r);
    }
    return log;
}

inline BlockTotals totals(const std::vector<StepRecord>& log) {
    BlockTotals t;
    for (const StepRecord& r : log) t.add(r);
    return t;
}

inline BlockTotals block(Place place, double start_s, const std::vector<Step>& steps) {
    return totals(step_log(place, start_s, steps));
}

} // namespace feedbench::metrics::test
