// A few threads for libraries and system calls that block.
//
// Thread: submit() from the reactor thread; Job::run on a pool thread; Job::finished on the reactor thread, in poll().
// Owner: Reactor; a Job belongs to its submitter and stays alive until finished() was called. Units: ns. Errors: the
// job's own.
#pragma once

#include <functional>
#include <memory>

#include "harness/engine/event_source.hpp"

namespace feedbench::engine {

struct Job {
    virtual ~Job() = default;
    virtual void run() = 0;                 // pool thread
    virtual void finished() = 0;            // reactor thread
    std::uint64_t start_ns = 0, end_ns = 0; // set by the pool around run(), on the pool's thread
    Job* next = nullptr;
};

class ThreadPool : public EventSource {
  public:
    // `wake` is called from a pool thread after each job, to end the reactor's sleep.
    static std::unique_ptr<ThreadPool> make(unsigned thread_count, const Clock& clock, std::function<void()> wake);
    virtual void submit(Job& job) = 0; // never refuses; the number of jobs is bounded by the callers' own windows
    virtual unsigned thread_count() const = 0;
    virtual void grow_to(unsigned thread_count) = 0; // also while jobs run; never shrinks
};

} // namespace feedbench::engine
