#include "harness/engine/thread_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace feedbench::engine {

namespace {

class ThreadPoolImpl final : public ThreadPool {
  public:
    ThreadPoolImpl(unsigned thread_count, const Clock& clock, std::function<void()> wake)
        : clock_(clock), wake_(std::move(wake)) {
        grow_to(thread_count);
    }
    // Jobs that run are waited for; jobs that have not begun are forgotten, for nobody is left who could be told.
    ~ThreadPoolImpl() override {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        has_work_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    void submit(Job& job) override {
        job.next = nullptr;
        ++outstanding_;
        {
            const std::lock_guard lock(mutex_);
            if (last_)
                last_->next = &job;
            else
                first_ = &job;
            last_ = &job;
        }
        has_work_.notify_one();
    }
    unsigned thread_count() const override { return static_cast<unsigned>(threads_.size()); }
    void grow_to(unsigned thread_count) override {
        while (threads_.size() < thread_count) threads_.emplace_back([this] { work(); });
    }

    bool poll() override {
        if (outstanding_ == 0 || !done_.load(std::memory_order_relaxed)) return false;
        Job* newest = done_.exchange(nullptr, std::memory_order_acquire);
        Job* oldest = nullptr; // in the order in which they ended
        while (newest) {
            Job* next = newest->next;
            newest->next = oldest;
            oldest = newest;
            newest = next;
        }
        while (oldest) {
            Job* next = oldest->next; // finished() may free the job or submit it again
            --outstanding_;
            oldest->finished();
            oldest = next;
        }
        return true;
    }
    bool is_active() const override { return outstanding_ > 0; }

  private:
    void work() {
        for (;;) {
            Job* job;
            {
                std::unique_lock lock(mutex_);
                has_work_.wait(lock, [this] { return stopping_ || first_; });
                if (stopping_) return;
                job = first_;
                first_ = job->next;
                if (!first_) last_ = nullptr;
            }
            job->start_ns = clock_.now_ns();
            job->run();
            job->end_ns = clock_.now_ns();
            job->next = done_.load(std::memory_order_relaxed);
            while (!done_.compare_exchange_weak(job->next, job, std::memory_order_release, std::memory_order_relaxed)) {
            }
            wake_();
        }
    }

    const Clock& clock_;
    const std::function<void()> wake_;
    std::mutex mutex_; // guards first_, last_, stopping_
    std::condition_variable has_work_;
    Job* first_ = nullptr;
    Job* last_ = nullptr;
    bool stopping_ = false;
    std::atomic<Job*> done_{nullptr}; // newest first
    std::uint32_t outstanding_ = 0;   // reactor thread only
    std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<ThreadPool> ThreadPool::make(unsigned thread_count, const Clock& clock, std::function<void()> wake) {
    return std::make_unique<ThreadPoolImpl>(thread_count == 0 ? 1 : thread_count, clock, std::move(wake));
}

} // namespace feedbench::engine
