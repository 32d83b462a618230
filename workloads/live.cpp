#include "workloads/live.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "harness/types/units.hpp"

namespace feedbench::workloads {

Slice SliceRecorder::growth() {
    Slice whole;
    // What was read too much may be taken back later than it was counted; the sums stay exact.
    whole.bytes = counters_.bytes - std::min(bytes_, counters_.bytes);
    bytes_ += whole.bytes;
    whole.samples = counters_.samples - std::exchange(samples_, counters_.samples);
    whole.reads = counters_.reads - std::exchange(reads_, counters_.reads);
    whole.steps = counters_.steps - std::exchange(steps_, counters_.steps);
    const std::uint64_t cpu_ns = cpu_time_ ? cpu_time_() : 0;
    whole.process_cpu_ns = cpu_ns - std::exchange(cpu_ns_, cpu_ns);
    whole.stalled_accelerators = counters_.stalled_accelerators;
    whole.in_flight_reads = counters_.in_flight;
    return whole;
}

std::size_t SliceRecorder::advance(std::uint64_t now_ns) {
    const std::uint64_t ended = (now_ns - start_ns_) / kNsPerS;
    if (ended <= closed_) return 0;
    const std::uint64_t count = ended - closed_;
    const Slice whole = growth();
    // A heartbeat that came late spreads the growth evenly; the sums stay exact.
    for (std::uint64_t i = 0; i < count; ++i) {
        auto part = [&](std::uint64_t value) { return value * (i + 1) / count - value * i / count; };
        last_ = whole;
        last_.start_ns = (closed_ + i) * kNsPerS;
        last_.bytes = part(whole.bytes);
        last_.samples = part(whole.samples);
        last_.reads = part(whole.reads);
        last_.steps = part(whole.steps);
        last_.process_cpu_ns = part(whole.process_cpu_ns);
        slices_.push_back(last_);
    }
    closed_ = ended;
    return count;
}

void SliceRecorder::finish(std::uint64_t now_ns) {
    advance(now_ns);
    const Slice rest = growth();
    // What happened at the very end of the last slice is a slice of no length, rather than nothing.
    const bool anything = rest.bytes > 0 || rest.samples > 0 || rest.reads > 0 || rest.steps > 0;
    if (now_ns <= start_ns_ + closed_ * kNsPerS && !anything) return;
    last_ = rest;
    last_.start_ns = closed_++ * kNsPerS;
    slices_.push_back(last_);
}

void SliceRecorder::restart(std::uint64_t start_ns) {
    start_ns_ = start_ns;
    closed_ = bytes_ = samples_ = reads_ = steps_ = 0;
    cpu_ns_ = cpu_time_ ? cpu_time_() : 0;
    slices_.clear();
    last_ = {};
}

std::vector<Slice> SliceRecorder::take() { return std::exchange(slices_, {}); }

void merge_slices(std::vector<Slice>& into, const std::vector<Slice>& from) {
    for (const Slice& slice : from) {
        const std::size_t position = slice.start_ns / kNsPerS;
        while (into.size() <= position) {
            Slice empty;
            empty.start_ns = into.size() * kNsPerS;
            into.push_back(empty);
        }
        Slice& target = into[position];
        target.bytes += slice.bytes;
        target.samples += slice.samples;
        target.reads += slice.reads;
        target.steps += slice.steps;
        target.stalled_accelerators += slice.stalled_accelerators;
        target.in_flight_reads += slice.in_flight_reads;
        target.process_cpu_ns += slice.process_cpu_ns;
    }
}

} // namespace feedbench::workloads
