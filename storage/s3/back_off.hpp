// How long to wait before a request is sent again: exponential, with jitter from a seed.
//
// Thread: one at a time. Owner: the holder. Units: ns. Errors: none. Source: "equal jitter": half of the pause is
// sure, half is drawn, so that clients that failed together do not come back together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/types/random.hpp"
#include "storage/s3/config.hpp"

namespace feedbench::storage::s3 {

class BackOff {
  public:
    explicit BackOff(const Config& config, std::uint64_t stream = 0)
        : first_ns_(config.back_off_first_ns), most_ns_(config.back_off_most_ns),
          random_(stream_seed(config.seed, "s3.back_off", stream)) {}
    // After `failed` attempts (1 or more): between half of and the whole min(most, first * 2^(failed-1)).
    std::uint64_t pause_ns(unsigned failed) {
        const unsigned doublings = std::min(failed - 1, 30U);
        const std::uint64_t whole = first_ns_ > (most_ns_ >> doublings) ? most_ns_ : first_ns_ << doublings;
        return whole / 2 + random_.next() % (whole / 2 + 1);
    }

  private:
    std::uint64_t first_ns_, most_ns_;
    Random random_;
};

} // namespace feedbench::storage::s3
