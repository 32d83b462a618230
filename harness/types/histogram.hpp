// Log-linear histogram of durations: relative error <= 1 %, 1 us to 1000 s, fixed memory, mergeable.
//
// Thread: one user at a time. Owner: the holder. Units: ns. Errors: none; values outside the range count in the end
// buckets (min and max stay exact). Source: DESIGN section 8; bucket rule stated in histogram.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench {

class Histogram {
  public:
    Histogram();
    void add(std::uint64_t value_ns, std::uint64_t count = 1);
    void merge(const Histogram& other);
    std::uint64_t count() const { return count_; }
    double mean_ns() const;
    // quantile in [0, 1]; 0 for an empty histogram.
    double quantile_ns(double quantile) const;
    std::uint64_t min_ns() const { return count_ ? min_ : 0; }
    std::uint64_t max_ns() const { return max_; }
    std::string serialise() const; // for gathering over ranks
    static Histogram parse(const std::string& bytes);
    HistogramData data(const std::string& key) const;

  private:
    std::vector<std::uint64_t> buckets_;
    std::uint64_t count_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
    double sum_ = 0;
};

} // namespace feedbench
