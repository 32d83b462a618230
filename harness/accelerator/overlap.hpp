// Work of the run beside its steps (a checkpoint that is written while training goes on): every accelerator of every
// rank knows in each step whether there is any, at no message more than the step's own meeting.
//
// Thread: reactor thread. Owner: the workload, one a rank; outlives the accelerators. Units: none. Errors: none.
// How: a rank that still writes says kBusy at each meeting. What is agreed is the largest word of all ranks, so that
// kGoOn means that nobody writes any more. begin() is called by all ranks between the same two steps.
#pragma once

#include "harness/engine/sync.hpp"
#include "harness/metrics/checkpoint_cost.hpp"

namespace feedbench::accelerator {

class Overlap {
  public:
    explicit Overlap(engine::Reactor& reactor) : ended_(reactor) { ended_.set(); }

    void begin() {
        here_ = anywhere_ = true;
        ended_.reset();
    }
    void ended_here() { here_ = false; }
    // All ranks have met and said that theirs has ended.
    void ended_everywhere() {
        here_ = anywhere_ = false;
        ended_.set();
    }
    bool is_here() const { return here_; }
    bool is_anywhere() const { return anywhere_; } // the same on every rank between two steps
    auto wait_for_end() { return ended_.wait(); }

    // A measured step that began while there was such work anywhere, or while there was none.
    void add(const StepRecord& step, bool beside) { (beside ? beside_ : alone_).add(step); }
    const metrics::StepSums& alone() const { return alone_; }
    const metrics::StepSums& beside() const { return beside_; }
    void forget_steps() { alone_ = beside_ = {}; } // what comes after is measured

  private:
    engine::Event ended_;
    bool here_ = false, anywhere_ = false;
    metrics::StepSums alone_, beside_;
};

} // namespace feedbench::accelerator
