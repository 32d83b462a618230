// The reactor's timers: a binary heap whose members know their place, so that they can be cancelled.
#include "harness/engine/reactor.hpp"

namespace feedbench::engine {

void Reactor::heap_place(std::size_t i, Timer* timer) {
    timers_[i] = timer;
    timer->heap_position = i;
}

void Reactor::heap_up(std::size_t i) {
    Timer* timer = timers_[i];
    while (i > 0 && earlier(timer, timers_[(i - 1) / 2])) {
        heap_place(i, timers_[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    heap_place(i, timer);
}

void Reactor::heap_down(std::size_t i) {
    Timer* timer = timers_[i];
    for (;;) {
        std::size_t child = 2 * i + 1;
        if (child >= timers_.size()) break;
        if (child + 1 < timers_.size() && earlier(timers_[child + 1], timers_[child])) ++child;
        if (!earlier(timers_[child], timer)) break;
        heap_place(i, timers_[child]);
        i = child;
    }
    heap_place(i, timer);
}

void Reactor::set_timer(Timer& timer) {
    cancel_timer(timer);
    timer.order = timer_order_++;
    timers_.push_back(&timer);
    heap_up(timers_.size() - 1);
}

void Reactor::cancel_timer(Timer& timer) {
    const std::size_t i = timer.heap_position;
    if (i == Timer::kNotQueued) return;
    Timer* last = timers_.back();
    timers_.pop_back();
    timer.heap_position = Timer::kNotQueued;
    if (last == &timer) return;
    heap_place(i, last);
    heap_up(i);
    heap_down(last->heap_position);
}

} // namespace feedbench::engine
