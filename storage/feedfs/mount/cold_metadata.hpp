// Whether a loop had better give its look-ups away: pages of the metadata that are not in memory make it wait for the
// disk, one by one, and everybody waits for the loop. Workers wait side by side.
//
// The thread's major page faults tell. Every few look-ups they are counted; where there are new ones, look-ups go to
// the workers for a while, longer each time, until a few that the loop did itself were without.
//
// Thread: that of its loop. Owner: the loop. Units: ns, look-ups. Errors: none. Source: getrusage(2).
#pragma once

#include <algorithm>
#include <cstdint>

namespace feedbench::feedfs::mount {

class ColdMetadata {
  public:
    static constexpr unsigned kLookUps = 8; // between two looks at the faults: a look is a system call
    static constexpr std::uint64_t kFirstNs = 10'000'000, kMostNs = 640'000'000;

    // Before each look-up: true, it goes to a worker. `faults` and `now_ns` are called when they are needed: the
    // thread's major faults so far, and the time.
    template <class Faults, class Now>
    bool gives_away(Faults faults, Now now_ns) {
        if (until_ns_ != 0) {
            if (now_ns() < until_ns_) return true;
            until_ns_ = 0;
            begin(faults());
            return false;
        }
        if (done_++ < kLookUps) return false;
        const std::uint64_t before = faults_;
        begin(faults());
        if (!is_counting_) {
            is_counting_ = true;
            return false;
        }
        if (faults_ == before) {
            pause_ns_ = kFirstNs;
            return false;
        }
        until_ns_ = now_ns() + pause_ns_;
        pause_ns_ = std::min(pause_ns_ * 2, kMostNs);
        return true;
    }

  private:
    void begin(std::uint64_t faults) {
        faults_ = faults;
        done_ = 1; // the one that is asked for
    }
    bool is_counting_ = false;
    unsigned done_ = kLookUps; // the first look is at the first look-up
    std::uint64_t faults_ = 0, until_ns_ = 0, pause_ns_ = kFirstNs;
};

} // namespace feedbench::feedfs::mount
