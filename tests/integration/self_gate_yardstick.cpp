// What this machine needs for a fixed piece of work of the kind that a client does: timers, small allocations, indirect
// calls, counting, and a sleep between steps. scripts/self_gate.sh divides feedbench's own figures by it, because
// machines differ.
//
//   self_gate_yardstick THINK_US STEPS ROUNDS
// prints {"cpu_s": .., "utilization": ..}: CPU of all steps, each with ROUNDS of work; how long it was to sleep over
// how long it slept.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <vector>

namespace {

double now_s(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

struct Frame { // about as large as a coroutine of the loader
    std::array<std::uint64_t, 48> words{};
    std::function<std::uint64_t(std::uint64_t)> resume;
};

// The work of one step; its result depends on all of it, so that none can be left out.
std::uint64_t work(std::uint64_t seed, std::vector<std::uint64_t>& histogram) {
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> timers;
    std::uint64_t x = seed, sum = 0;
    for (int i = 0; i < 400; ++i) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        auto frame = std::make_unique<Frame>();
        frame->words[x % frame->words.size()] = x;
        frame->resume = [&frame, i](std::uint64_t y) {
            return frame->words[y % frame->words.size()] + static_cast<std::uint64_t>(i);
        };
        timers.push(x >> 32);
        if (timers.size() > 64) {
            sum += timers.top();
            timers.pop();
        }
        sum += frame->resume(x);
        ++histogram[sum % histogram.size()];
    }
    return sum;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) return std::fprintf(stderr, "self_gate_yardstick THINK_US STEPS ROUNDS\n"), 2;
    const long think_ns = std::atol(argv[1]) * 1000, steps = std::atol(argv[2]), rounds = std::atol(argv[3]);
    std::vector<std::uint64_t> histogram(2048);
    std::uint64_t sum = 88172645463325252ULL;
    double slept_s = 0;
    const double cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    for (long step = 0; step < steps; ++step) {
        const timespec think{0, think_ns};
        const double asleep = now_s(CLOCK_MONOTONIC);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &think, nullptr);
        slept_s += now_s(CLOCK_MONOTONIC) - asleep;
        for (long round = 0; round < rounds; ++round) sum += work(sum | 1, histogram);
    }
    const double cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    std::printf("{\"cpu_s\": %.9f, \"utilization\": %.6f, \"sum\": %llu}\n", cpu_s,
                static_cast<double>(think_ns) * 1e-9 * static_cast<double>(steps) / slept_s,
                static_cast<unsigned long long>(sum));
}
