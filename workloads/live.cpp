#include "workloads/live.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "harness/types/units.hpp"

namespace feedbench::workloads {

void SliceRecorder::advance(std::uint64_t now_ns) {
    const std::uint64_t ended = (now_ns - start_ns_) / kNsPerS;
    if (ended <= closed_) return;
    const std::uint64_t count = ended - closed_;
    Slice whole;
    whole.bytes = counters_.bytes - std::exchange(bytes_, counters_.bytes);
    whole.samples = counters_.samples - std::exchange(samples_, counters_.samples);
    whole.reads = counters_.reads - std::exchange(reads_, counters_.reads);
    whole.steps = counters_.steps - std::exchange(steps_, counters_.steps);
    // A heartbeat that came late spreads the growth evenly; the sums stay exact.
    for (std::uint64_t i = 0; i < count; ++i) {
        auto part = [&](std::uint64_t value) { return value * (i + 1) / count - value * i / count; };
        last_ = Slice{(closed_ + i) * kNsPerS, part(whole.bytes), part(whole.samples),
                      part(whole.reads),       part(whole.steps), counters_.stalled_accelerators};
        slices_.push_back(last_);
    }
    closed_ = ended;
}

void SliceRecorder::restart(std::uint64_t start_ns) {
    start_ns_ = start_ns;
    closed_ = bytes_ = samples_ = reads_ = steps_ = 0;
    slices_.clear();
    last_ = {};
}

std::vector<Slice> SliceRecorder::take() { return std::exchange(slices_, {}); }

void merge_slices(std::vector<Slice>& into, const std::vector<Slice>& from) {
    for (const Slice& slice : from) {
        const std::size_t position = slice.start_ns / kNsPerS;
        while (into.size() <= position) into.push_back(Slice{into.size() * kNsPerS, 0, 0, 0, 0, 0});
        Slice& target = into[position];
        target.bytes += slice.bytes;
        target.samples += slice.samples;
        target.reads += slice.reads;
        target.steps += slice.steps;
        target.stalled_accelerators += slice.stalled_accelerators;
    }
}

} // namespace feedbench::workloads
