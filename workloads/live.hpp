// What a run shows while it is under way: one-second slices. (The watchdog: cluster/stall_watch.hpp.)
//
// Thread: reactor thread, from the heartbeat. Owner: TrainingRun. Units: ns of the run's clock, bytes.
// Errors: none. Source: DESIGN section 8 (slices).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "harness/loader/loader.hpp"
#include "harness/types/observer.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::workloads {

// Cuts a rank's counters into slices of one second, counted from the run's start.
class SliceRecorder {
  public:
    // cpu_ns: what this process has used so far; nullptr: not known (virtual time).
    using CpuTime = std::uint64_t (*)();
    SliceRecorder(const loader::LoaderCounters& counters, std::uint64_t start_ns, CpuTime cpu_ns)
        : counters_(counters), start_ns_(start_ns), cpu_time_(cpu_ns), cpu_ns_(cpu_ns ? cpu_ns() : 0) {}
    // Closes every slice that has ended by now; the counters' growth since the last call goes to the slices in between.
    // Answers how many it closed.
    std::size_t advance(std::uint64_t now_ns);
    // The last `count` of the slices that were closed and not yet taken.
    std::span<const Slice> newest(std::size_t count) const { return std::span(slices_).last(count); }
    // The run has ended: what has begun is closed as it is. A slice is then shorter than a second; none follows.
    void finish(std::uint64_t now_ns);
    // Begins anew at this time, with counters that begin anew; what was cut so far is forgotten.
    void restart(std::uint64_t start_ns);
    // Closed slices since the last call, with their position in the run.
    std::vector<Slice> take();
    const Slice& last() const { return last_; }

  private:
    const loader::LoaderCounters& counters_;
    Slice growth();                       // of the counters since the last call
    std::uint64_t start_ns_, closed_ = 0; // slices closed so far
    CpuTime cpu_time_;
    std::uint64_t cpu_ns_;
    std::uint64_t bytes_ = 0, samples_ = 0, reads_ = 0, steps_ = 0;
    std::vector<Slice> slices_;
    Slice last_;
};

// Adds `from` (slices of one rank) to the job's, by position.
void merge_slices(std::vector<Slice>& into, const std::vector<Slice>& from);

} // namespace feedbench::workloads
