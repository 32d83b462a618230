#include "harness/cluster/stall_watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "harness/types/error.hpp"
#include "harness/types/units.hpp"

namespace feedbench::cluster {

namespace {

constexpr std::size_t kLinesMost = 5;
// How often signs are given and looked for: often enough for the time-out, seldom enough to cost nothing.
std::uint64_t look_interval_ns(std::uint64_t timeout_ns) {
    return std::clamp<std::uint64_t>(timeout_ns / 16, 20 * kNsPerMs, kNsPerS);
}

std::string line_of(const engine::Outstanding& one, std::uint64_t now_ns) {
    std::string text = fmt::format("{} {}", one.operation, one.path);
    if (one.offset >= 0) text += fmt::format(" at offset {}, {} bytes", one.offset, one.bytes);
    return text + fmt::format(", for {:.1f} s", seconds(now_ns - std::min(now_ns, one.since_ns)));
}

} // namespace

std::string describe_outstanding(const engine::Reactor& reactor, std::uint64_t now_ns) {
    std::vector<engine::Outstanding> all;
    reactor.for_each_outstanding([&all](const engine::Outstanding& one) { all.push_back(one); });
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.since_ns < b.since_ns; });
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), kLinesMost); ++i) text += "\n  " + line_of(all[i], now_ns);
    return text;
}

std::string OperationWatch::check(std::uint64_t now_ns) {
    quiet_ns_ = 0;
    if (reactor_.completion_count() != last_count_ || reactor_.outstanding_count() == 0) {
        last_count_ = reactor_.completion_count();
        since_ns_ = now_ns;
        return {};
    }
    // Nobody looked for long, maybe (other ranks were waited for): only what was asked for can be late.
    std::uint64_t oldest_ns = now_ns;
    reactor_.for_each_outstanding(
        [&oldest_ns](const engine::Outstanding& one) { oldest_ns = std::min(oldest_ns, one.since_ns); });
    quiet_ns_ = now_ns - std::min(now_ns, std::max(since_ns_, oldest_ns));
    if (quiet_ns_ < timeout_ns_) return {};
    return fmt::format("no storage operation has completed for {:.1f} s; {} outstanding:", seconds(quiet_ns_),
                       reactor_.outstanding_count()) +
           describe_outstanding(reactor_, now_ns);
}

bool DeadlockWatch::can_cancel() {
    if (reactor_.in_flight() == 0 || reactor_.completion_count() == cancelled_at_completion_) return false;
    cancelled_at_completion_ = reactor_.completion_count();
    return true;
}

Error DeadlockWatch::error() const {
    return {.kind = ErrorKind::stalled,
            .message = "no event can ever come; outstanding:" + describe_outstanding(reactor_, reactor_.now_ns()),
            .operation = {},
            .path = {},
            .host = {}};
}

// ---- the thread ----

StallWatch::StallWatch(Communicator& communicator, std::uint64_t timeout_ns)
    : communicator_(communicator), timeout_ns_(timeout_ns), thread_([this] { look_around(); }) {}

StallWatch::~StallWatch() {
    if (reactor_) reactor_->set_watch(0, nullptr);
    stand_down();
}

void StallWatch::stand_down() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void StallWatch::set_timeout(std::uint64_t timeout_ns) {
    {
        const std::lock_guard lock(mutex_);
        timeout_ns_ = timeout_ns;
    }
    wake_.notify_all();
}

void StallWatch::watch(engine::Reactor& reactor) {
    reactor_ = &reactor;
    operations_ = std::make_unique<OperationWatch>(reactor, timeout_ns_);
    reactor.set_watch(std::min<std::uint64_t>(look_interval_ns(timeout_ns_), 200 * kNsPerMs), [this] { beat(); });
}

void StallWatch::beat() {
    communicator_.tick();
    const std::uint64_t now = reactor_->now_ns();
    if (const std::string stall = operations_->check(now); !stall.empty()) end_job(stall, true);
    // The others of this host may have to speak for this one.
    const bool show = operations_->quiet_ns() > timeout_ns_ / 4;
    if (show || shows_outstanding_)
        communicator_.life().show_outstanding(show ? describe_outstanding(*reactor_, now) : std::string());
    shows_outstanding_ = show;
}

void StallWatch::look_around() {
    std::unique_lock lock(mutex_);
    std::uint64_t timeout_ns = timeout_ns_;
    SignReader signs(communicator_, timeout_ns);
    std::uint64_t last_ns = engine::monotonic_ns();
    while (!stopping_) {
        const std::uint64_t interval_ns = look_interval_ns(timeout_ns_);
        wake_.wait_for(lock, std::chrono::nanoseconds(interval_ns));
        if (stopping_) break;
        if (timeout_ns != timeout_ns_) signs.set_timeout(timeout_ns = timeout_ns_);
        const std::uint64_t now = engine::monotonic_ns();
        communicator_.life().live();
        // A machine that was suspended has not waited: each look counts for little more than its interval.
        const std::string wrong = signs.look(std::min(now - last_ns, 2 * interval_ns));
        last_ns = now;
        if (wrong.empty()) continue;
        lock.unlock();
        end_job(wrong, false);
    }
}

void StallWatch::end_job(const std::string& text, bool on_main_thread) {
    LifeSigns& life = communicator_.life();
    const auto host = static_cast<std::uint64_t>(communicator_.host_index());
    // Several hosts may notice at once: the first one's word ends the job before the next would speak.
    engine::nap_ns(std::min<std::uint64_t>(host, 8) * 400 * kNsPerMs);
    const int code = exit_code(ErrorKind::stalled);
    if (!life.claim_last_word()) {
        engine::nap_ns(8 * kNsPerS); // another rank of this host has spoken: this process is being ended
        _exit(code);
    }
    Error error;
    error.kind = ErrorKind::stalled;
    error.message = text;
    if (communicator_.size() > 1) {
        error.rank = communicator_.rank();
        error.host = communicator_.hosts()[static_cast<std::size_t>(communicator_.host_index())].name;
    }
    std::fprintf(stderr, "feedbench: error: %s\n", error.describe().c_str());
    std::fflush(stderr);
    if (on_main_thread) communicator_.abort(code); // what never completes cannot be drained
    _exit(code);                                   // MPI belongs to the main thread; the launcher ends the others
}

} // namespace feedbench::cluster
