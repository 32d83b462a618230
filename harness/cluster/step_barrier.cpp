#include "harness/cluster/step_barrier.hpp"

#include <algorithm>
#include <cassert>

namespace feedbench::cluster {
namespace {

// How a waiting rank looks after the others. Ranks that think equally long arrive within some 100 us of each other, and
// a nap would cost all of them its wake-up time: so it first only gives its CPU away between looks. After that it naps,
// each time for a fraction of what it has waited already, so that a late rank finds the others at most that fraction
// later, and a long wait costs next to no CPU.
constexpr std::uint64_t kYieldNs = 200'000;
constexpr std::uint64_t kNapNsMin = 20'000, kNapNsMax = 250'000;
constexpr std::uint64_t kNapFraction = 16;

} // namespace

StepBarrier::StepBarrier(engine::Reactor& reactor, Communicator& communicator, std::uint32_t local_count,
                         std::uint64_t first_final)
    : reactor_(reactor), communicator_(communicator), local_count_(local_count), first_final_(first_final) {
    assert(local_count > 0 && first_final > 0);
    waiters_.reserve(local_count);
    reactor_.add_source(*this);
}

StepBarrier::~StepBarrier() {
    assert(waiters_.empty());
    reactor_.remove_source(*this);
}

bool StepBarrier::arrived(std::uint64_t stop, std::uint32_t weight, std::uint64_t& agreed) {
    if (final_stop_ != 0) {
        agreed = final_stop_;
        return true;
    }
    assert(arrived_count_ + weight <= local_count_);
    arrived_count_ += weight;
    step_stop_ = std::max(step_stop_, stop);
    if (outstanding_) return false; // a raised stop has already taken part for this rank
    if (arrived_count_ < local_count_) return false;
    start();
    // One rank, or the last of several: the others are woken, this one goes straight on.
    if (!finish_if_agreed()) return false;
    agreed = last_word_;
    return true;
}

void StepBarrier::start() {
    outstanding_ = true;
    started_ns_ = reactor_.now_ns();
    communicator_.start_agreement(std::max(step_stop_, raised_stop_));
}

bool StepBarrier::finish_if_agreed() {
    std::uint64_t agreed = 0;
    if (!communicator_.test_agreement(agreed)) return false;
    outstanding_ = false;
    ++step_count_;
    last_word_ = agreed;
    final_stop_ = agreed < first_final_ ? 0 : agreed;
    arrived_count_ = 0;
    step_stop_ = 0;
    for (const Waiter& waiter : waiters_) {
        *waiter.agreed = agreed;
        reactor_.post_first(waiter.coroutine);
    }
    waiters_.clear();
    return true;
}

void StepBarrier::raise_stop(std::uint64_t value) {
    if (value > raised_stop_) communicator_.announce_stop(value);
    raise_own_stop(value);
}

void StepBarrier::raise_own_stop(std::uint64_t value) {
    assert(value >= first_final_);
    raised_stop_ = std::max(raised_stop_, value);
    if (final_stop_ == 0 && !outstanding_) start();
}

std::uint64_t StepBarrier::check_stop() {
    if (final_stop_ != 0) return final_stop_;
    if (const std::uint64_t announced = communicator_.announced_stop(); announced > raised_stop_) raise_stop(announced);
    return std::max(raised_stop_, final_stop_);
}

bool StepBarrier::poll() {
    if (!outstanding_) return false;
    if (finish_if_agreed()) {
        // A stop that was raised while this rank's word for the step was already given.
        if (final_stop_ == 0 && raised_stop_ != 0) start();
        return true;
    }
    if (reactor_.now_ns() - started_ns_ < kYieldNs) engine::yield_processor();
    return false;
}

std::uint64_t StepBarrier::max_sleep_ns() const {
    if (!outstanding_) return engine::kNever;
    const std::uint64_t waited = reactor_.now_ns() - started_ns_;
    if (waited < kYieldNs) return 0;
    return std::clamp(waited / kNapFraction, kNapNsMin, kNapNsMax);
}

} // namespace feedbench::cluster
