// What a rank counts in an epoch besides its steps: distributions, the loader's time, CPU. Ranks add up to hosts, hosts
// to the epoch, epochs to the run.
//
// Thread: one user at a time. Owner: the rank's loaders and accelerators, then rank 0, which gathers them. Units: ns,
// s. Errors: none; both ends of serialise() and parse() are the same binary. Source: DESIGN section 8.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/histogram.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::metrics {

struct EpochCounts {
    // sample_read_latency: open submitted to last byte checked; time_to_first_byte: open submitted to first answer;
    // batch_wait: request to ready; think_error: how late a think ended (0: in time).
    Histogram sample_read_latency, time_to_first_byte, batch_wait, think_error;
    // As LoaderTime.
    std::uint64_t in_flight_ns = 0, client_queue_ns = 0, decode_ns = 0, verify_ns = 0, buffer_wait_ns = 0;
    double process_cpu_s = 0; // of the rank
    double host_cpu_s = 0;    // of the whole host, counted by one of its ranks

    void merge(const EpochCounts& other);
    LoaderTime loader_time() const;
    std::vector<HistogramData> histograms() const;
    std::string serialise() const; // small: buckets that are not empty
    static EpochCounts parse(const std::string& bytes);
};

struct CountedHistogram {
    std::string_view key;
    Histogram EpochCounts::*histogram;
};
inline constexpr std::array kCountedHistograms{
    CountedHistogram{"sample_read_latency", &EpochCounts::sample_read_latency},
    CountedHistogram{"time_to_first_byte", &EpochCounts::time_to_first_byte},
    CountedHistogram{"batch_wait", &EpochCounts::batch_wait},
    CountedHistogram{"think_error", &EpochCounts::think_error},
};

void add(LoaderTime& sum, const LoaderTime& part);

} // namespace feedbench::metrics
