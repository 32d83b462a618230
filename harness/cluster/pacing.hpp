// How a rank waits for other ranks outside measured time: gives its CPU away at once, then sleeps ever longer.
//
// Thread: any. Owner: one wait. Units: ns. Errors: none.
// Source: on a machine with fewer cores than ranks a spinning rank takes the CPU of the rank that it waits for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/engine/clock.hpp"

namespace feedbench::cluster {

class IdlePacer {
  public:
    // About 50 us of yields (an idle yield with a look at MPI costs some 0.5 us), then naps of 20 us growing to 1 ms.
    void pause() {
        if (yield_count_ < kYieldLimit) {
            ++yield_count_;
            engine::yield_processor();
            return;
        }
        engine::nap_ns(nap_ns_);
        nap_ns_ = std::min(nap_ns_ + nap_ns_ / 4, kNapNsMax);
    }

  private:
    static constexpr int kYieldLimit = 100;
    static constexpr std::uint64_t kNapNsMax = 1'000'000;
    int yield_count_ = 0;
    std::uint64_t nap_ns_ = 20'000;
};

} // namespace feedbench::cluster
