#include "workloads/cache_drop.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include "harness/types/units.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::uint64_t kFirstNapNs = 100 * kNsPerUs, kLongestNapNs = 20 * kNsPerMs;

// From good to bad.
constexpr std::array<std::string_view, 5> kOutcomes{"not asked", "dropped", "not offered", "not permitted", "timeout"};

std::size_t badness(std::string_view outcome) {
    return static_cast<std::size_t>(std::find(kOutcomes.begin(), kOutcomes.end(), outcome) - kOutcomes.begin());
}

std::string_view name_of(storage::DropOutcome outcome) {
    switch (outcome) {
    case storage::DropOutcome::dropped:
        return "dropped";
    case storage::DropOutcome::not_permitted:
        return "not permitted";
    case storage::DropOutcome::not_offered:
        break;
    }
    return "not offered";
}

} // namespace

DropReport worse(const DropReport& a, const DropReport& b) {
    return {badness(a.outcome) < badness(b.outcome) ? b.outcome : a.outcome, std::max(a.duration_s, b.duration_s)};
}

struct CacheDropper::Work {
    const storage::CacheDrop drop;
    const NextPath next;
    std::mutex next_lock; // who holds it may ask for a path, or forbid it
    bool cancelled = false;
    std::string_view outcome = kOutcomes[1];
    std::atomic<bool> done{false};

    Work(storage::CacheDrop how, NextPath what) : drop(std::move(how)), next(std::move(what)) {}
    bool take(std::string& path) {
        const std::lock_guard lock(next_lock);
        return !cancelled && next(path);
    }
    void cancel() {
        const std::lock_guard lock(next_lock);
        cancelled = true;
    }
    void run() {
        for (std::string path; take(path);)
            if (const std::string_view one = name_of(drop(path)); badness(one) > badness(outcome)) outcome = one;
        done.store(true, std::memory_order_release);
    }
};

bool CacheDropper::start_thread(const std::shared_ptr<Work>& work) {
    try {
        std::thread([work] { work->run(); }).detach();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

CacheDropper::~CacheDropper() {
    if (running_) running_->cancel();
}

engine::Task<bool> CacheDropper::finished(std::shared_ptr<Work> work, std::uint64_t deadline_ns, const bool& stopping) {
    for (std::uint64_t nap_ns = kFirstNapNs;; nap_ns = std::min(2 * nap_ns, kLongestNapNs)) {
        if (work->done.load(std::memory_order_acquire)) co_return true;
        const std::uint64_t now_ns = reactor_.now_ns();
        if (now_ns >= deadline_ns || stopping) co_return false;
        co_await reactor_.sleep_until(std::min(now_ns + nap_ns, deadline_ns), nap_ns);
    }
}

engine::Task<DropReport> CacheDropper::drop(NextPath next, const bool& stopping) {
    if (!drop_) co_return DropReport{"not offered", 0};
    const std::uint64_t start_ns = reactor_.now_ns(), deadline_ns = start_ns + limit_ns_;
    const auto report = [&](std::string_view outcome) {
        return DropReport{std::string(outcome), seconds(reactor_.now_ns() - start_ns)};
    };
    if (running_) {
        const bool back = co_await finished(running_, deadline_ns, stopping);
        if (!back) co_return report("timeout");
        running_.reset();
    }
    auto work = std::make_shared<Work>(drop_, std::move(next));
    if (reactor_.clock().is_virtual()) {
        work->run();
        co_return report(work->outcome);
    }
    const bool started = start_thread(work);
    if (!started) co_return report("not offered");
    running_ = work;
    const bool back = co_await finished(work, deadline_ns, stopping);
    if (!back) {
        work->cancel();
        co_return report("timeout");
    }
    running_.reset();
    co_return report(work->outcome);
}

} // namespace feedbench::workloads
