// MB/s of the epoch under way, second by second: now, sustained, the lowest second, and the last minutes for a curve.
//
// Thread: that of its owner. Owner: a form of live progress. Units: MB/s (10^6 bytes), CPU cores. Errors: none; what is
// not known yet is an empty optional. Source: DESIGN section 8: sustained MB/s = mean and minimum of the one-second
// slices. The second in which an epoch begins is no whole second of it, so it does not count.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "harness/types/observer.hpp"

namespace feedbench::reporters {

class LiveRate {
  public:
    // Both in the order in which they come. Where nobody cuts the run into seconds, and in phases that count bytes
    // (datagen, checkpoints: slices count reads of samples only), the rate of the progress itself is sampled.
    void on_slice(const Slice& slice);
    void on_progress(const Progress& progress);
    void restart(); // another epoch

    std::optional<double> mean_MB_per_second() const;
    std::optional<double> min_MB_per_second() const;
    std::optional<std::uint32_t> in_flight_reads() const { return in_flight_reads_; }
    std::optional<double> cpu_cores() const { return cpu_cores_; }
    const std::deque<double>& recent() const { return recent_; } // newest last; at most kMostRecent

    static constexpr std::size_t kMostRecent = 240;

  private:
    void add(double MB_per_second);
    std::deque<double> recent_;
    double sum_ = 0, lowest_ = 0;
    std::uint64_t count_ = 0;
    bool first_is_partial_ = true, slices_come_ = false, counts_bytes_ = false;
    double sampled_s_ = -1e9;
    std::optional<std::uint32_t> in_flight_reads_;
    std::optional<double> cpu_cores_;
    std::string phase_;
    std::uint32_t epoch_index_ = 0;
};

// The newest values that fit, one character each, from 0 to the highest of them.
std::string sparkline(const std::deque<double>& values, std::size_t columns, bool unicode);

} // namespace feedbench::reporters
