// Events, bounded queues and groups for coroutines of one reactor.
//
// Thread: reactor thread. Owner: whoever holds them; nobody may wait any more when one is destroyed (asserted).
// Units: none. Errors: none. Wake-ups go through the reactor's ready queue, never by running the waiter on the waker's
// stack. Source: STYLE section 3 (awaiters are not copyable and come from a method).
#pragma once

#include <cassert>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "harness/engine/task.hpp"

namespace feedbench::engine {

// Waiting coroutines, first in first out. Empty it holds no memory: an accelerator has several, and most wait for
// nothing.
class WaitList {
  public:
    WaitList() = default;
    WaitList(const WaitList&) = delete;
    WaitList& operator=(const WaitList&) = delete;
    ~WaitList() { assert(empty()); }
    void push(std::coroutine_handle<> h) {
        if (first_ > 32 && first_ > waiters_.size() / 2) { // what has been woken makes room
            waiters_.erase(waiters_.begin(), waiters_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        waiters_.push_back(h);
    }
    bool wake_one(Reactor& reactor) {
        if (empty()) return false;
        reactor.post(waiters_[first_++]);
        if (first_ == waiters_.size()) {
            waiters_.clear();
            first_ = 0;
        }
        return true;
    }
    void wake_all(Reactor& reactor) {
        while (wake_one(reactor)) {
        }
    }
    bool empty() const { return first_ == waiters_.size(); }

  private:
    std::vector<std::coroutine_handle<>> waiters_;
    std::size_t first_ = 0; // those before it have been woken
};

// Set once or many times; wait() returns when it is set.
class Event {
  public:
    explicit Event(Reactor& reactor) : reactor_(reactor) {}
    bool is_set() const { return set_; }
    void set() {
        set_ = true;
        waiters_.wake_all(reactor_);
    }
    void reset() { set_ = false; }

    class [[nodiscard]] Awaiter {
      public:
        explicit Awaiter(Event& event) : event_(event) {}
        Awaiter(const Awaiter&) = delete;
        Awaiter& operator=(const Awaiter&) = delete;
        bool await_ready() const { return event_.set_; }
        void await_suspend(std::coroutine_handle<> self) { event_.waiters_.push(self); }
        void await_resume() const {}

      private:
        Event& event_;
    };
    Awaiter wait() { return Awaiter(*this); }

  private:
    Reactor& reactor_;
    WaitList waiters_;
    bool set_ = false;
};

// Wakes whoever waits for "something changed"; the waiter looks again at its own condition.
class Signal {
  public:
    explicit Signal(Reactor& reactor) : reactor_(reactor) {}
    void notify() { waiters_.wake_all(reactor_); }
    class [[nodiscard]] Awaiter {
      public:
        explicit Awaiter(Signal& signal) : signal_(signal) {}
        Awaiter(const Awaiter&) = delete;
        Awaiter& operator=(const Awaiter&) = delete;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> self) { signal_.waiters_.push(self); }
        void await_resume() const {}

      private:
        Signal& signal_;
    };
    Awaiter wait() { return Awaiter(*this); }

  private:
    Reactor& reactor_;
    WaitList waiters_;
};

// Counts permits; acquire() waits for one. Fair: a released permit goes to whoever has waited longest, so that holders
// of later turns cannot starve the one they wait for.
class Semaphore {
  public:
    Semaphore(Reactor& reactor, std::uint32_t permits) : reactor_(reactor), permits_(permits) {}
    void release() {
        if (!waiters_.wake_one(reactor_)) ++permits_;
    }
    bool try_acquire() {
        if (permits_ == 0) return false;
        --permits_;
        return true;
    }
    Task<void> acquire() {
        if (!try_acquire()) co_await Waiting(*this); // the permit is handed over
    }
    std::uint32_t permits() const { return permits_; }

  private:
    class [[nodiscard]] Waiting {
      public:
        explicit Waiting(Semaphore& s) : s_(s) {}
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> self) { s_.waiters_.push(self); }
        void await_resume() const {}

      private:
        Semaphore& s_;
    };
    Reactor& reactor_;
    WaitList waiters_;
    std::uint32_t permits_;
};

// Runs many tasks side by side; join() returns when all have finished.
class TaskGroup {
  public:
    explicit TaskGroup(Reactor& reactor) : done_(reactor) { done_.set(); }
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;
    ~TaskGroup() { assert(running_ == 0); }
    // Starts the task now, on this stack, up to its first wait.
    void spawn(Task<void> task) {
        ++running_;
        done_.reset();
        tasks_.push_back(watch(std::move(task)));
        tasks_.back().start();
    }
    auto join() { return done_.wait(); }
    std::uint32_t running() const { return running_; }
    // Frees the frames of finished tasks; only when none is running.
    void clear() {
        assert(running_ == 0);
        tasks_.clear();
    }

  private:
    Task<void> watch(Task<void> task) {
        co_await std::move(task);
        if (--running_ == 0) done_.set();
    }
    Event done_;
    std::uint32_t running_ = 0;
    std::vector<Task<void>> tasks_;
};

} // namespace feedbench::engine
