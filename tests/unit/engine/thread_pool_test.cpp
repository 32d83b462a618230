#include "harness/engine/thread_pool.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace feedbench::engine;

// What the pool calls to end the loop's sleep.
struct Bell {
    std::mutex mutex;
    std::condition_variable rang;
    int count = 0;
    void ring() {
        const std::lock_guard lock(mutex);
        ++count;
        rang.notify_one();
    }
    void wait() {
        std::unique_lock lock(mutex);
        rang.wait(lock, [this] { return count > 0; });
        count = 0;
    }
};

struct CountedJob final : Job {
    void run() override {
        runner = std::this_thread::get_id();
        ++runs;
    }
    void finished() override {
        ++finishes;
        finisher = std::this_thread::get_id();
        if (again) {
            again = false;
            pool->submit(*this);
        }
    }
    std::thread::id runner, finisher;
    int runs = 0, finishes = 0;
    bool again = false;
    ThreadPool* pool = nullptr;
};

void poll_until_idle(ThreadPool& pool, Bell& bell) {
    while (pool.is_active())
        if (!pool.poll()) bell.wait();
}

TEST_CASE("thread pool: every job runs once on another thread and is finished once on this one") {
    const auto clock = make_real_clock();
    Bell bell;
    const auto pool = ThreadPool::make(3, *clock, [&] { bell.ring(); });
    CHECK(pool->thread_count() == 3);
    CHECK_FALSE(pool->is_active());
    CHECK_FALSE(pool->poll());
    std::vector<CountedJob> jobs(2000);
    for (auto& job : jobs) pool->submit(job);
    CHECK(pool->is_active());
    poll_until_idle(*pool, bell);
    for (const auto& job : jobs) {
        REQUIRE(job.runs == 1);
        REQUIRE(job.finishes == 1);
        REQUIRE(job.runner != std::this_thread::get_id());
        REQUIRE(job.finisher == std::this_thread::get_id());
        REQUIRE(job.end_ns >= job.start_ns);
    }
}

TEST_CASE("thread pool: finished may submit the job again") {
    const auto clock = make_real_clock();
    Bell bell;
    const auto pool = ThreadPool::make(1, *clock, [&] { bell.ring(); });
    CountedJob job;
    job.again = true;
    job.pool = pool.get();
    pool->submit(job);
    poll_until_idle(*pool, bell);
    CHECK(job.runs == 2);
    CHECK(job.finishes == 2);
}

struct Gate {
    std::mutex mutex;
    std::condition_variable moved;
    int inside = 0;
    bool open = false;
};
struct MeetingJob final : Job {
    Gate* gate = nullptr;
    int wanted = 0;
    void run() override { // ends only when `wanted` of them run at the same time
        std::unique_lock lock(gate->mutex);
        if (++gate->inside >= wanted) gate->open = true;
        gate->moved.notify_all();
        gate->moved.wait(lock, [this] { return gate->open; });
    }
    void finished() override {}
};

TEST_CASE("thread pool: as many jobs side by side as there are threads, and it grows while they run") {
    const auto clock = make_real_clock();
    Bell bell;
    const auto pool = ThreadPool::make(1, *clock, [&] { bell.ring(); });
    Gate gate;
    std::vector<MeetingJob> jobs(4);
    for (auto& job : jobs) {
        job.gate = &gate;
        job.wanted = 4;
        pool->submit(job);
    }
    pool->grow_to(4); // the first one waits for the others already
    pool->grow_to(2);
    CHECK(pool->thread_count() == 4);
    poll_until_idle(*pool, bell);
    CHECK(gate.inside == 4);
}

TEST_CASE("thread pool: destroying it waits for what runs and forgets what has not begun") {
    const auto clock = make_real_clock();
    std::vector<CountedJob> jobs(500);
    {
        const auto pool = ThreadPool::make(2, *clock, [] {});
        for (auto& job : jobs) pool->submit(job);
    }
    for (const auto& job : jobs) {
        REQUIRE(job.runs <= 1);
        REQUIRE(job.finishes == 0);
    }
}

} // namespace
