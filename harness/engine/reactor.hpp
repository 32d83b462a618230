// The loop of a rank: runs coroutines, completes operations, fires timers, sleeps when there is nothing to do.
//
// Thread: the thread that made it (wake(): any). Owner: the cli or a test. Units: ns, bytes.
// Errors: make() when the clock or ring cannot be had; run() reports a deadlock ("no event can ever come").
// Source: DESIGN section 4. The order of a turn: ready coroutines, due timers, completions, then sleep until the next
// deadline.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/engine/clock.hpp"
#include "harness/engine/event_source.hpp"
#include "harness/engine/io_op.hpp"
#include "harness/engine/readiness.hpp"
#include "harness/engine/task.hpp"
#include "harness/engine/thread_pool.hpp"
#include "harness/engine/uring.hpp"
#include "harness/types/error.hpp"

namespace feedbench::engine {

// Intrusive; stays alive until it fired or was cancelled.
struct Timer {
    std::uint64_t deadline_ns = 0;
    // How late it may fire. The loop spins towards a deadline only when its sleep's own error would be larger than
    // this.
    std::uint64_t late_allowed_ns = 0;
    void (*fire)(Timer&) = nullptr;
    std::uint64_t order = 0; // reactor's: equal deadlines fire in the order in which they were set
    std::size_t heap_position = kNotQueued;
    static constexpr std::size_t kNotQueued = ~std::size_t{0};
};

// Something that is waited for: an operation at the storage, or a job in the thread pool.
struct Outstanding {
    std::string_view operation, path;
    std::int64_t offset = -1; // -1: not about a place in the file
    std::uint64_t bytes = 0, since_ns = 0;
};

class Reactor final : public CompletionSink {
  public:
    struct Options {
        bool use_uring = true; // real clock only
        unsigned ring_entries = 256;
        // The longest spin towards one deadline. Measured with 8 ranks on 2 virtual cores at 0.375 ms: 60 us lose more
        // to late wake-ups of halted cores than the spin costs, 250 us take the core from ranks that have work.
        std::uint64_t spin_most_ns = 150'000;
    };
    static Expected<std::unique_ptr<Reactor>> make(Clock& clock, Options options);
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    Clock& clock() { return clock_; }
    std::uint64_t now_ns() const { return clock_.now_ns(); }
    // The ring, or nullptr when it was not asked for, or the clock is virtual.
    Uring* uring() { return uring_.get(); }
    // The pool; made at first use, grows to at_least threads. Never under a virtual clock (asserted).
    ThreadPool& thread_pool(unsigned at_least = 1);
    // Sockets of libraries that do their own I/O; made at first use. Never under a virtual clock (asserted).
    Readiness& readiness();

    void post(std::coroutine_handle<> coroutine) { ready_.push(coroutine); }
    // The same, before everything that post() queued: whoever's time has come, or who was let through the step barrier,
    // does little, and is measured; a worker may read a whole batch before it waits again.
    void post_first(std::coroutine_handle<> coroutine) { urgent_.push(coroutine); }
    void set_timer(Timer& timer); // may be set again while queued
    void cancel_timer(Timer& timer);
    void add_source(EventSource& source);
    void remove_source(EventSource& source);
    void wake(); // any thread, async-signal-safe

    // Runs until `task` has finished.
    Status run(Task<void> task);
    // Called once a turn of the loop at most every `interval_ns` of its own clock: signals, watchdogs, slices.
    void set_heartbeat(std::uint64_t interval_ns, std::function<void()> beat);

    // A second heartbeat, of the watchdog: it stays while workloads come and go.
    void set_watch(std::uint64_t interval_ns, std::function<void()> beat);
    // For loops that take long without coming back to run(): heartbeats that are due happen now.
    void beat_if_due();
    // Under the virtual clock, asked when no event can ever come: true = something was done about it (operations that
    // would never end were cancelled), so go on; else run() reports the deadlock.
    void set_rescue(std::function<bool()> rescue) { rescue_ = std::move(rescue); }

    // When the loop last began to look for completions, and how long it had been busy since the time before: a
    // completion may have lain in the ring that long; it is the client's wait.
    std::uint64_t busy_before_reap_ns() const { return busy_before_reap_ns_; }
    std::uint64_t completion_count() const { return completion_count_; } // watchdog: progress
    std::uint32_t in_flight() const { return in_flight_; }
    void for_each_pending(const std::function<void(const IoOp&)>& each) const;
    // Every pending operation and pool job, for the watchdog's message.
    std::uint32_t outstanding_count() const { return in_flight_ + jobs_in_flight_; }
    void for_each_outstanding(const std::function<void(const Outstanding&)>& each) const;

    void completed(IoOp& op) override;

    // ---- awaitables ----
    class [[nodiscard]] IoAwaiter {
      public:
        IoAwaiter(Reactor& reactor, IoTarget& target, IoOp& op, std::uint64_t now_ns)
            : reactor_(reactor), target_(target), op_(op), now_ns_(now_ns) {}
        IoAwaiter(const IoAwaiter&) = delete;
        IoAwaiter& operator=(const IoAwaiter&) = delete;
        bool await_ready() { return reactor_.submit_now(target_, op_, now_ns_); }
        void await_suspend(std::coroutine_handle<> self) { op_.waiter = self.address(); }
        void await_resume() { op_.resume_ns = op_.complete_ns == 0 ? op_.submit_ns : reactor_.now_ns(); }

      private:
        Reactor& reactor_;
        IoTarget& target_;
        IoOp& op_;
        std::uint64_t now_ns_;
    };
    // Submits op and waits for it; op.result tells. Completes without suspending when the backend answers `done`.
    // now_ns: from a caller that looked at the clock just before, to spare a look (30 ns); 0 = look.
    IoAwaiter perform(IoTarget& target, IoOp& op, std::uint64_t now_ns = 0) {
        return IoAwaiter(*this, target, op, now_ns);
    }

    class [[nodiscard]] SleepAwaiter : Timer {
      public:
        SleepAwaiter(Reactor& reactor, std::uint64_t deadline, std::uint64_t late_allowed) : reactor_(reactor) {
            deadline_ns = deadline;
            late_allowed_ns = late_allowed;
            fire = [](Timer& t) {
                auto& self = static_cast<SleepAwaiter&>(t);
                self.reactor_.post_first(self.coroutine_);
            };
        }
        SleepAwaiter(const SleepAwaiter&) = delete;
        SleepAwaiter& operator=(const SleepAwaiter&) = delete;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> self) {
            coroutine_ = self;
            reactor_.set_timer(*this);
        }
        void await_resume() const {}

      private:
        Reactor& reactor_;
        std::coroutine_handle<> coroutine_;
    };
    SleepAwaiter sleep_until(std::uint64_t deadline_ns, std::uint64_t late_allowed_ns = 50'000) {
        return SleepAwaiter(*this, deadline_ns, late_allowed_ns);
    }

    class [[nodiscard]] YieldAwaiter {
      public:
        explicit YieldAwaiter(Reactor& reactor) : reactor_(reactor) {}
        YieldAwaiter(const YieldAwaiter&) = delete;
        YieldAwaiter& operator=(const YieldAwaiter&) = delete;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> self) { reactor_.post(self); }
        void await_resume() const {}

      private:
        Reactor& reactor_;
    };
    YieldAwaiter yield() { return YieldAwaiter(*this); }

    // What a pool job is about, for the watchdog; the caller keeps the characters alive.
    struct JobName {
        std::string_view operation, path;
    };
    class [[nodiscard]] PoolAwaiter : Job {
      public:
        PoolAwaiter(Reactor& reactor, std::function<void()> work, JobName name)
            : name_(name), reactor_(reactor), work_(std::move(work)) {}
        PoolAwaiter(const PoolAwaiter&) = delete;
        PoolAwaiter& operator=(const PoolAwaiter&) = delete;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> self) {
            coroutine_ = self;
            reactor_.link(*this);
            reactor_.thread_pool().submit(*this);
        }
        void await_resume() const {}
        void run() override { work_(); }
        void finished() override {
            reactor_.unlink(*this);
            reactor_.post(coroutine_);
        }

      private:
        friend class Reactor;
        JobName name_;
        std::uint64_t since_ns_ = 0;
        PoolAwaiter* next_job_ = nullptr; // list of everything outstanding, as of operations
        PoolAwaiter* previous_job_ = nullptr;
        Reactor& reactor_;
        std::function<void()> work_;
        std::coroutine_handle<> coroutine_;
    };
    // Runs `work` on a pool thread.
    PoolAwaiter run_in_pool(std::function<void()> work, JobName name = {"a job in the thread pool", {}}) {
        return PoolAwaiter(*this, std::move(work), name);
    }

  private:
    // Ready coroutines, first in first out; a ring that grows.
    class ReadyQueue {
      public:
        void push(std::coroutine_handle<> h) {
            if (count_ == slots_.size()) grow();
            slots_[(head_ + count_++) & (slots_.size() - 1)] = h;
        }
        std::coroutine_handle<> pop() {
            const auto h = slots_[head_];
            head_ = (head_ + 1) & (slots_.size() - 1);
            --count_;
            return h;
        }
        std::size_t size() const { return count_; }
        // Begins to fetch the frame of the coroutine that is `ahead` places behind the front. Of thousands that are let
        // through the step barrier together, each would else wait for its memory in turn.
        void prefetch(std::size_t ahead) const {
            if (ahead >= count_) return;
            const auto* frame = static_cast<const char*>(slots_[(head_ + ahead) & (slots_.size() - 1)].address());
            for (std::size_t line = 0; line < kPrefetchBytes; line += 64) __builtin_prefetch(frame + line, 1);
        }

      private:
        static constexpr std::size_t kPrefetchBytes = 512;
        void grow();
        std::vector<std::coroutine_handle<>> slots_ = std::vector<std::coroutine_handle<>>(64);
        std::size_t head_ = 0, count_ = 0;
    };

    Reactor(Clock& clock, std::unique_ptr<Uring> uring, std::uint64_t spin_most_ns);
    bool submit_now(IoTarget& target, IoOp& op, std::uint64_t known_ns); // true: done already
    void link(IoOp& op);
    void unlink(IoOp& op);
    void link(PoolAwaiter& job);
    void unlink(PoolAwaiter& job);
    void retry_busy();
    bool fire_due_timers();
    bool poll_sources();
    Status sleep_until_event();
    void learn_wake_error(std::uint64_t late_ns);

    struct Queued {
        std::uint64_t deadline_ns, order;
        Timer* timer;
        bool earlier_than(const Queued& other) const {
            return deadline_ns != other.deadline_ns ? deadline_ns < other.deadline_ns : order < other.order;
        }
    };
    struct Busy {
        IoTarget* target;
        IoOp* op;
    };

    Clock& clock_;
    std::unique_ptr<Uring> uring_;
    std::unique_ptr<ThreadPool> pool_;
    std::unique_ptr<Readiness> readiness_;
    ReadyQueue ready_, urgent_;
    std::vector<Queued> timers_; // heap by (deadline, order)
    std::uint64_t timer_order_ = 0;
    std::vector<EventSource*> sources_;
    std::vector<Busy> busy_;
    std::uint64_t retried_at_completion_ = 0;
    IoOp* pending_ = nullptr; // doubly linked through IoOp::pending_next/pending_previous
    PoolAwaiter* jobs_ = nullptr;
    std::uint32_t in_flight_ = 0, jobs_in_flight_ = 0;
    std::uint64_t completion_count_ = 0, last_reap_end_ns_ = 0, busy_before_reap_ns_ = 0;
    std::uint64_t spin_window_ns_, spin_most_ns_;
    struct Beat {
        std::uint64_t interval_ns = 0, next_ns = kNever;
        std::function<void()> body;
    };
    void set_beat(Beat& beat, std::uint64_t interval_ns, std::function<void()> body);
    Beat heartbeat_, watch_;
    std::uint64_t next_beat_ns_ = kNever; // the earlier of the two
    std::function<bool()> rescue_;

    void heap_up(std::size_t i);
    void heap_down(std::size_t i);
    void heap_place(std::size_t i, const Queued& queued);
};

} // namespace feedbench::engine
