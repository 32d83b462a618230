// Crew: a few threads that work on what one thread finds, each with a hand of its own.
//
// Thread: give() and finish() from the thread that made it; a Hand's calls on one thread of the crew. Owner: the
// command. Units: jobs. Errors: the first one stops all; finish() answers it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::feedfs::tool {

template <class Job>
class Hand {
  public:
    virtual ~Hand() = default;
    virtual Status work(Job& job) = 0;
    virtual Status finish() = 0; // nothing more comes; also after an error elsewhere
};

template <class Job>
class Crew {
  public:
    Crew(unsigned count, const std::function<std::unique_ptr<Hand<Job>>()>& make_hand) {
        for (unsigned i = 0; i < count; ++i)
            threads_.emplace_back([this, hand = std::shared_ptr<Hand<Job>>(make_hand())] { loop(*hand); });
    }
    ~Crew() { (void)finish(); }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Waits while many wait already. False: somebody failed, nothing more is taken.
    bool give(Job job) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] { return jobs_.size() < kWaitingMost || error_; });
        if (error_) return false;
        jobs_.push_back(std::move(job));
        work_.notify_one();
        return true;
    }

    Status finish() {
        {
            std::lock_guard lock(mutex_);
            over_ = true;
        }
        work_.notify_all();
        for (std::thread& one : threads_)
            if (one.joinable()) one.join();
        return error_ ? Status(*error_) : Status();
    }

  private:
    static constexpr std::size_t kWaitingMost = 4096;

    void loop(Hand<Job>& hand) {
        for (;;) {
            std::unique_lock lock(mutex_);
            work_.wait(lock, [this] { return over_ || !jobs_.empty() || error_; });
            if (jobs_.empty() || error_) break;
            Job job = std::move(jobs_.front());
            jobs_.pop_front();
            room_.notify_one();
            lock.unlock();
            if (Status ok = hand.work(job); !ok) fail(ok.error());
        }
        if (Status ok = hand.finish(); !ok) fail(ok.error());
    }
    void fail(const Error& error) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = error;
        work_.notify_all();
        room_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable work_, room_;
    std::deque<Job> jobs_;
    bool over_ = false;
    MaybeError error_;
    std::vector<std::thread> threads_;
};

} // namespace feedbench::feedfs::tool
