// The step barrier of a run: all accelerators of this rank meet in a counter, then the ranks agree; the last one in
// frees everybody.
//
// Thread: reactor thread. Owner: the workload; destroyed after the last accelerator has left, before reactor and
// communicator. Units: ns. Errors: none of its own; stops travel as values. Source: DESIGN section 4 (two-level,
// polled, never spins while a read or timer is due), section 10 (stops are agreed).
//
// A stop is a number > 0 whose meaning is the caller's; the largest of all ranks' wins. Once agreed it is final: from
// then on arrive() answers it at once, so that no accelerator of any rank can be left waiting for one that has already
// gone. Numbers below `first_final` are no stops but words that all ranks hear in the same step, and go on.
#pragma once

#include <coroutine>
#include <cstdint>
#include <vector>

#include "harness/cluster/communicator.hpp"
#include "harness/engine/event_source.hpp"
#include "harness/engine/reactor.hpp"

namespace feedbench::cluster {

class StepBarrier final : public engine::EventSource {
  public:
    // `local_count` accelerators of this rank take part, at least 1. Every rank makes its barrier with the same
    // communicator.
    StepBarrier(engine::Reactor& reactor, Communicator& communicator, std::uint32_t local_count,
                std::uint64_t first_final = 1);
    ~StepBarrier() override;
    StepBarrier(const StepBarrier&) = delete;
    StepBarrier& operator=(const StepBarrier&) = delete;

    class [[nodiscard]] Arrival {
      public:
        Arrival(StepBarrier& barrier, std::uint64_t stop, std::uint32_t weight)
            : barrier_(barrier), stop_(stop), weight_(weight) {}
        Arrival(const Arrival&) = delete;
        Arrival& operator=(const Arrival&) = delete;
        bool await_ready() { return barrier_.arrived(stop_, weight_, agreed_); }
        void await_suspend(std::coroutine_handle<> self) { barrier_.waiters_.push_back({self, &agreed_}); }
        std::uint64_t await_resume() const { return agreed_; }

      private:
        StepBarrier& barrier_;
        std::uint64_t stop_, agreed_ = 0;
        std::uint32_t weight_;
    };
    // `co_await barrier.arrive()`: once an accelerator and step; answers what all ranks agreed on, 0 = go on. An
    // accelerator that failed, or whose time is up, arrives with its reason; everyone hears it at the end of this step.
    Arrival arrive(std::uint64_t stop = 0) { return Arrival(*this, stop, 1); }
    // The rank as a whole meets the others between steps (a checkpoint is written, an epoch begins): counts as all its
    // accelerators. The same barrier serves both, so that a stop raised in one phase is the stop of the other.
    Arrival arrive_for_all(std::uint64_t stop = 0) { return Arrival(*this, stop, local_count_); }

    // Stops that cannot wait for the accelerators of this rank (a read failed while others still wait for theirs; a
    // signal; a watchdog): tells all ranks out of band and takes part in the agreement at once, in the name of all
    // accelerators of this rank. May be called from a heartbeat, and again with a larger value.
    void raise_stop(std::uint64_t value);
    // The same for a stop that every rank comes to by itself, at a time that all know: nobody is told. What was told is
    // heard for as long as the communicator lives, and a later run in the same job must not begin with it.
    void raise_own_stop(std::uint64_t value);
    // For the heartbeat: takes up what other ranks announced. The stop that is wanted here (0 = none), agreed or not:
    // where it is not 0, cancel reads and thinking; the accelerators then arrive and get the agreed value.
    std::uint64_t check_stop();
    // The agreed stop, or 0.
    std::uint64_t agreed_stop() const { return final_stop_; }
    std::uint64_t last_word() const { return last_word_; }   // of the last agreement, stop or not
    std::uint64_t step_count() const { return step_count_; } // agreements that have ended

    bool poll() override;
    bool is_active() const override { return outstanding_; }
    std::uint64_t max_sleep_ns() const override;

  private:
    struct Waiter {
        std::coroutine_handle<> coroutine;
        std::uint64_t* agreed;
    };
    bool arrived(std::uint64_t stop, std::uint32_t weight, std::uint64_t& agreed); // true: no need to wait
    void start();
    bool finish_if_agreed();

    engine::Reactor& reactor_;
    Communicator& communicator_;
    const std::uint32_t local_count_;
    const std::uint64_t first_final_;
    std::uint32_t arrived_count_ = 0;
    std::uint64_t step_stop_ = 0;   // largest of this step's arrivals
    std::uint64_t raised_stop_ = 0; // sticky
    std::uint64_t last_word_ = 0;   // of the last agreement
    std::uint64_t final_stop_ = 0;
    std::uint64_t step_count_ = 0;
    bool outstanding_ = false;
    std::uint64_t started_ns_ = 0;
    std::vector<Waiter> waiters_;
};

} // namespace feedbench::cluster
