#include "harness/engine/run_delay.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <fstream>
#include <sched.h>
#include <thread>
#include <vector>

#include "harness/engine/clock.hpp"
#include "harness/types/units.hpp"

using namespace feedbench;
using engine::cpu_wait_ns;

namespace {
bool stay_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}
} // namespace

TEST_CASE("a thread that others keep off its CPU has waited for it; one that waits for nothing has not") {
    if (!std::ifstream("/proc/thread-self/schedstat")) {
        WARN("this kernel keeps no account of waiting threads");
        return;
    }
    std::uint64_t starved_ns = 0, idle_ns = 1, short_ns = 1, bounded_ns = 0;
    std::thread([&] { // of its own, so that the affinity ends with it
        const int cpu = sched_getcpu();
        if (!stay_on(cpu)) return;
        std::atomic<bool> stop{false};
        std::vector<std::thread> burners;
        cpu_wait_ns(0);
        for (int i = 0; i < 4; ++i)
            burners.emplace_back([&stop, cpu] {
                (void)stay_on(cpu);
                while (!stop) {
                }
            });
        const std::uint64_t end = engine::monotonic_ns() + 100 * kNsPerMs;
        while (engine::monotonic_ns() < end) {
        }
        starved_ns = cpu_wait_ns(kNsPerS);
        idle_ns = cpu_wait_ns(kNsPerS); // of the moment since
        const std::uint64_t again = engine::monotonic_ns() + 50 * kNsPerMs;
        while (engine::monotonic_ns() < again) {
        }
        short_ns = cpu_wait_ns(kNsPerMs - 1);
        bounded_ns = cpu_wait_ns(kNsPerMs);
        stop = true;
        for (std::thread& one : burners) one.join();
    })
        .join();
    CHECK(starved_ns > 5 * kNsPerMs); // about 80 of 100 ms
    CHECK(idle_ns < starved_ns);
    CHECK(short_ns == 0);
    CHECK(bounded_ns == kNsPerMs); // not more than was slept
}
