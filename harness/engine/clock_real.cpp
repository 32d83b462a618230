#include "harness/engine/clock.hpp"

#include <algorithm>
#include <array>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

namespace feedbench::engine {

namespace {

std::uint64_t read_clock(clockid_t id) {
    timespec t{};
    clock_gettime(id, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(t.tv_nsec);
}

void sleep_to(std::uint64_t monotonic_deadline_ns) {
    const timespec t{static_cast<time_t>(monotonic_deadline_ns / 1'000'000'000ULL),
                     static_cast<long>(monotonic_deadline_ns % 1'000'000'000ULL)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

class RealClock final : public Clock {
  public:
    RealClock() : origin_(read_clock(CLOCK_MONOTONIC)) {
        // The default slack of 50 us would be most of a 0.375 ms think time's error.
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        measure_spin_window();
    }
    std::uint64_t now_ns() const override { return read_clock(CLOCK_MONOTONIC) - origin_; }
    bool is_virtual() const override { return false; }
    std::uint64_t spin_window_ns() const override { return spin_window_; }
    void wait_until(std::uint64_t time_ns) override { sleep_to(origin_ + time_ns); }

  private:
    // How late this machine wakes a sleeper: the spin must begin that much before the deadline. The 90th percentile of
    // a few sleeps, within bounds that keep the spin from eating a core on a machine that is busy just now.
    void measure_spin_window() {
        std::array<std::uint64_t, 20> late{};
        for (auto& value : late) {
            const std::uint64_t deadline = read_clock(CLOCK_MONOTONIC) + 100'000;
            sleep_to(deadline);
            value = read_clock(CLOCK_MONOTONIC) - deadline;
        }
        std::sort(late.begin(), late.end());
        spin_window_ = std::clamp<std::uint64_t>(late[18] + 5'000, 10'000, 120'000);
    }
    std::uint64_t origin_;
    std::uint64_t spin_window_ = 60'000;
};

} // namespace

std::unique_ptr<Clock> make_real_clock() { return std::make_unique<RealClock>(); }

void nap_ns(std::uint64_t duration_ns) { sleep_to(read_clock(CLOCK_MONOTONIC) + duration_ns); }
void yield_processor() { sched_yield(); }
std::uint64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
std::int64_t unix_time_s() { return static_cast<std::int64_t>(read_clock(CLOCK_REALTIME) / 1'000'000'000ULL); }
std::int64_t unix_time_ns() { return static_cast<std::int64_t>(read_clock(CLOCK_REALTIME)); }
std::uint64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

} // namespace feedbench::engine
