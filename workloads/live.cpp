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

std::string Watchdog::check(std::uint64_t now_ns) {
    if (reactor_.completion_count() != last_count_ || reactor_.in_flight() == 0) {
        last_count_ = reactor_.completion_count();
        since_ns_ = now_ns;
        return {};
    }
    if (now_ns - since_ns_ < timeout_ns_) return {};
    // Nobody looked for long, maybe (caches were dropped, other ranks waited for): only what was asked for can be late.
    std::uint64_t oldest_ns = now_ns;
    reactor_.for_each_pending([&](const engine::IoOp& op) { oldest_ns = std::min(oldest_ns, op.submit_ns); });
    if (now_ns - oldest_ns < timeout_ns_) return {};
    std::string text = fmt::format("no storage operation has completed for {:.1f} s; {} outstanding:",
                                   seconds(now_ns - std::max(since_ns_, oldest_ns)), reactor_.in_flight());
    int shown = 0;
    reactor_.for_each_pending([&](const engine::IoOp& op) {
        if (++shown > 5) return;
        text += fmt::format("\n  {} {} at offset {}, {} bytes, for {:.1f} s", engine::io_kind_name(op.kind), op.path,
                            op.offset, op.bytes, seconds(now_ns - op.submit_ns));
    });
    return text;
}

} // namespace feedbench::workloads
