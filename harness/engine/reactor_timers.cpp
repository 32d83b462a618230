// The reactor's timers: a heap of four children a node, whose members know their place, so that they can be cancelled.
// Its keys lie beside each other: thousands of accelerators think until nearly the same moment, and a look into each
// timer on the way down would be a cache miss apiece.
#include <algorithm>

#include "harness/engine/reactor.hpp"

namespace feedbench::engine {

namespace {
constexpr std::size_t kChildren = 4;
} // namespace

void Reactor::heap_place(std::size_t i, const Queued& queued) {
    timers_[i] = queued;
    queued.timer->heap_position = i;
}

void Reactor::heap_up(std::size_t i) {
    const Queued queued = timers_[i];
    while (i > 0 && queued.earlier_than(timers_[(i - 1) / kChildren])) {
        heap_place(i, timers_[(i - 1) / kChildren]);
        i = (i - 1) / kChildren;
    }
    heap_place(i, queued);
}

void Reactor::heap_down(std::size_t i) {
    const Queued queued = timers_[i];
    for (;;) {
        const std::size_t first = kChildren * i + 1, end = std::min(first + kChildren, timers_.size());
        if (first >= end) break;
        std::size_t child = first;
        for (std::size_t other = first + 1; other < end; ++other)
            if (timers_[other].earlier_than(timers_[child])) child = other;
        if (!timers_[child].earlier_than(queued)) break;
        heap_place(i, timers_[child]);
        i = child;
    }
    heap_place(i, queued);
}

void Reactor::set_timer(Timer& timer) {
    cancel_timer(timer);
    timer.order = timer_order_++;
    timers_.push_back({timer.deadline_ns, timer.order, &timer});
    heap_up(timers_.size() - 1);
}

void Reactor::cancel_timer(Timer& timer) {
    const std::size_t i = timer.heap_position;
    if (i == Timer::kNotQueued) return;
    const Queued last = timers_.back();
    timers_.pop_back();
    timer.heap_position = Timer::kNotQueued;
    if (last.timer == &timer) return;
    heap_place(i, last);
    heap_up(i);
    heap_down(last.timer->heap_position);
}

} // namespace feedbench::engine
