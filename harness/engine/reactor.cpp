#include "harness/engine/reactor.hpp"

#include <algorithm>
#include <cassert>

#include "harness/engine/run_delay.hpp"

namespace feedbench::engine {

namespace {
// Coroutines: each of them runs for some 0.2 us between two waits, a miss of memory takes about 0.1 us.
constexpr std::size_t kPrefetchAhead = 4;
} // namespace

std::string_view io_kind_name(IoKind kind) {
    switch (kind) {
    case IoKind::open:
        return "open";
    case IoKind::create:
        return "create";
    case IoKind::read:
        return "read";
    case IoKind::write:
        return "write";
    case IoKind::flush:
        return "fsync";
    case IoKind::commit:
        return "commit";
    case IoKind::close:
        return "close";
    }
    return "?";
}

Expected<std::unique_ptr<Reactor>> Reactor::make(Clock& clock, Options options) {
    std::unique_ptr<Uring> ring;
    if (options.use_uring && !clock.is_virtual()) {
        auto made = Uring::make(options.ring_entries, clock);
        if (!made) return made.error();
        ring = std::move(*made);
    }
    return std::unique_ptr<Reactor>(new Reactor(clock, std::move(ring), options.spin_most_ns));
}

Reactor::Reactor(Clock& clock, std::unique_ptr<Uring> uring, std::uint64_t spin_most_ns)
    : clock_(clock), uring_(std::move(uring)), spin_window_ns_(std::min(clock.spin_window_ns(), spin_most_ns)),
      spin_most_ns_(spin_most_ns) {
    if (uring_) sources_.push_back(uring_.get());
    last_reap_end_ns_ = now_ns();
}

Reactor::~Reactor() = default;

void Reactor::ReadyQueue::grow() {
    std::vector<std::coroutine_handle<>> bigger(slots_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) bigger[i] = slots_[(head_ + i) & (slots_.size() - 1)];
    slots_ = std::move(bigger);
    head_ = 0;
}

void Reactor::wake() {
    if (uring_) uring_->wake();
}

void Reactor::set_beat(Beat& beat, std::uint64_t interval_ns, std::function<void()> body) {
    beat.body = std::move(body);
    beat.interval_ns = interval_ns;
    beat.next_ns = beat.body ? now_ns() + interval_ns : kNever;
    next_beat_ns_ = std::min(heartbeat_.next_ns, watch_.next_ns);
}
void Reactor::set_heartbeat(std::uint64_t interval_ns, std::function<void()> beat) {
    set_beat(heartbeat_, interval_ns, std::move(beat));
}
void Reactor::set_watch(std::uint64_t interval_ns, std::function<void()> beat) {
    set_beat(watch_, interval_ns, std::move(beat));
}

// ---- operations ----

void Reactor::link(IoOp& op) {
    op.pending_previous = nullptr;
    op.pending_next = pending_;
    if (pending_) pending_->pending_previous = &op;
    pending_ = &op;
    ++in_flight_;
}

void Reactor::unlink(IoOp& op) {
    if (op.pending_previous)
        op.pending_previous->pending_next = op.pending_next;
    else
        pending_ = op.pending_next;
    if (op.pending_next) op.pending_next->pending_previous = op.pending_previous;
    --in_flight_;
}

void Reactor::for_each_pending(const std::function<void(const IoOp&)>& each) const {
    for (const IoOp* op = pending_; op; op = op->pending_next) each(*op);
}

void Reactor::link(PoolAwaiter& job) {
    job.since_ns_ = now_ns();
    job.next_job_ = jobs_;
    if (jobs_) jobs_->previous_job_ = &job;
    jobs_ = &job;
    ++jobs_in_flight_;
}

void Reactor::unlink(PoolAwaiter& job) {
    (job.previous_job_ ? job.previous_job_->next_job_ : jobs_) = job.next_job_;
    if (job.next_job_) job.next_job_->previous_job_ = job.previous_job_;
    --jobs_in_flight_;
    ++completion_count_;
}

void Reactor::for_each_outstanding(const std::function<void(const Outstanding&)>& each) const {
    for_each_pending([&each](const IoOp& op) {
        const bool has_place = op.kind == IoKind::read || op.kind == IoKind::write;
        each({io_kind_name(op.kind), op.path, has_place ? static_cast<std::int64_t>(op.offset) : -1, op.bytes,
              op.submit_ns});
    });
    for (const PoolAwaiter* job = jobs_; job; job = job->next_job_)
        each({job->name_.operation, job->name_.path, -1, 0, job->since_ns_});
}

bool Reactor::submit_now(IoTarget& target, IoOp& op, std::uint64_t known_ns) {
    op.sink = this;
    op.waiter = nullptr;
    op.complete_ns = 0;
    op.submit_ns = known_ns != 0 ? known_ns : now_ns();
    switch (target.submit(op)) {
    case Submit::done:
        ++completion_count_;
        return true;
    case Submit::pending:
        link(op);
        return false;
    case Submit::busy:
        busy_.push_back({&target, &op});
        link(op);
        return false;
    }
    return true;
}

void Reactor::completed(IoOp& op) {
    op.complete_ns = now_ns();
    // What was submitted since the loop last looked for completions has stood in the client's queue until it looked
    // again; what was submitted before may have been answered all that time. Both are the client's, not the storage's.
    if (op.submit_ns >= last_reap_end_ns_)
        op.submit_ns = std::clamp(last_reap_end_ns_ + busy_before_reap_ns_, op.submit_ns, op.complete_ns);
    else
        op.complete_ns = std::max(op.submit_ns, op.complete_ns - busy_before_reap_ns_);
    ++completion_count_;
    unlink(op);
    assert(op.waiter);
    ready_.push(std::coroutine_handle<>::from_address(op.waiter));
}

void Reactor::retry_busy() {
    std::vector<Busy> waiting;
    waiting.swap(busy_);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        IoOp& op = *waiting[i].op;
        op.submit_ns = now_ns(); // until now it stood in the client's queue, not at the storage
        const Submit answer = waiting[i].target->submit(op);
        if (answer == Submit::done)
            completed(op);
        else if (answer == Submit::busy) {
            busy_.insert(busy_.end(), waiting.begin() + static_cast<std::ptrdiff_t>(i), waiting.end());
            return;
        }
    }
}

// ---- timers (the heap: reactor_timers.cpp) ----

bool Reactor::fire_due_timers() {
    if (timers_.empty()) return false;
    const std::uint64_t now = now_ns();
    bool fired = false;
    while (!timers_.empty() && timers_.front().deadline_ns <= now) {
        Timer& timer = *timers_.front().timer;
        cancel_timer(timer);
        timer.fire(timer);
        fired = true;
    }
    return fired;
}

// ---- the loop ----

bool Reactor::poll_sources() {
    const std::uint64_t now = now_ns();
    busy_before_reap_ns_ = now - last_reap_end_ns_;
    bool any = false;
    for (std::size_t i = 0; i < sources_.size(); ++i) any |= sources_[i]->poll();
    if (completion_count_ != retried_at_completion_ && !busy_.empty()) {
        retried_at_completion_ = completion_count_;
        retry_busy();
        any = true;
    }
    last_reap_end_ns_ = now_ns();
    return any;
}

void Reactor::beat_if_due() {
    if (next_beat_ns_ == kNever) return;
    const std::uint64_t now = now_ns();
    if (now < next_beat_ns_) return;
    for (Beat* beat : {&heartbeat_, &watch_}) {
        if (now < beat->next_ns) continue;
        beat->next_ns = now + beat->interval_ns;
        beat->body();
    }
    next_beat_ns_ = std::min(heartbeat_.next_ns, watch_.next_ns);
}

// Nothing is ready: sleep until something can be.
Status Reactor::sleep_until_event() {
    std::uint64_t deadline = timers_.empty() ? kNever : timers_.front().deadline_ns;
    const std::uint64_t late_allowed = timers_.empty() ? kNever : timers_.front().timer->late_allowed_ns;
    const bool timer_is_next = deadline != kNever;
    bool active = false;
    std::uint64_t longest = kNever;
    for (EventSource* source : sources_) {
        deadline = std::min(deadline, source->next_event_ns());
        if (!source->is_active()) continue;
        active = true;
        longest = std::min(longest, source->max_sleep_ns());
    }
    if (deadline == kNever && clock_.is_virtual() && rescue_ && rescue_()) return {};
    if (deadline == kNever && !active) return internal_error("deadlock: a coroutine waits, and no event can ever come");
    if (clock_.is_virtual()) {
        if (deadline == kNever) return internal_error("deadlock: under the virtual clock no event is due");
        clock_.wait_until(deadline);
        last_reap_end_ns_ = now_ns();
        busy_before_reap_ns_ = 0;
        return {};
    }
    const std::uint64_t now = now_ns();
    if (deadline <= now || longest == 0) return {};
    // A sleep ends late by up to the spin window. Where that matters for this timer, sleep less and spin the rest.
    if (timer_is_next && late_allowed < spin_window_ns_) {
        const std::uint64_t window = spin_window_ns_;
        if (deadline - now <= window) return {};
        deadline -= window;
    }
    if (longest != kNever) deadline = std::min(deadline, now + longest);
    deadline = std::min(deadline, next_beat_ns_);
    if (deadline <= now) return {};
    if (uring_)
        uring_->wait(deadline);
    else
        clock_.wait_until(std::min(deadline, now + 200'000)); // without a ring nothing can wake us: short naps
    const std::uint64_t woken = now_ns();
    if (woken > deadline) learn_wake_error(woken - deadline);
    // Asleep is not busy, but ready to run and without a CPU is: what completed meanwhile may have lain so long.
    last_reap_end_ns_ = woken - cpu_wait_ns(woken - now);
    busy_before_reap_ns_ = 0;
    return {};
}

// The clock measured the machine when it was started; it may be busier now. A wake-up that came later than the window
// widens it at once, good ones narrow it slowly.
void Reactor::learn_wake_error(std::uint64_t late_ns) {
    constexpr std::uint64_t kLeastNs = 10'000;
    if (late_ns > spin_window_ns_)
        spin_window_ns_ = std::min(late_ns + late_ns / 4, spin_most_ns_);
    else
        spin_window_ns_ = std::max(kLeastNs, spin_window_ns_ - spin_window_ns_ / 256);
}

Status Reactor::run(Task<void> task) {
    task.start();
    while (!task.finished()) {
        // A bounded batch, so that timers and completions get their turn while coroutines keep each other busy.
        for (std::size_t n = urgent_.size(); n > 0 && !task.finished(); --n) {
            urgent_.prefetch(kPrefetchAhead);
            urgent_.pop().resume();
        }
        for (std::size_t n = ready_.size(); n > 0 && !task.finished(); --n) {
            ready_.pop().resume();
            if (fire_due_timers() || urgent_.size() > 0) break;
        }
        if (task.finished()) break;
        const bool fired = fire_due_timers();
        const bool polled = poll_sources();
        beat_if_due();
        if (!fired && !polled && ready_.size() == 0 && urgent_.size() == 0)
            if (auto status = sleep_until_event(); !status) return status;
    }
    return {};
}

} // namespace feedbench::engine
