// What bench_small_files and bench_feedfs_files share, so that ours and the yardstick are measured by the same lines.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace bench {

inline std::string file_name(std::uint64_t index) { return std::to_string(index / 1000) + "/" + std::to_string(index); }

inline std::vector<std::uint64_t> random_order(std::uint64_t count) {
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(42);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

inline double seconds_of(const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

inline double cpu_s() { // of this process
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

inline void say(std::uint64_t files, std::uint64_t bytes, double wall, double cpu) {
    const auto count = static_cast<double>(files);
    std::printf("{\"files_per_second\": %.0f, \"cpu_us_per_file\": %.3f, \"MB_per_second\": %.1f, \"wall_s\": %.3f}\n",
                count / wall, cpu / count * 1e6, count * static_cast<double>(bytes) / 1e6 / wall, wall);
}

// Wall and CPU time of `work`, as JSON.
template <class Work>
void measure(std::uint64_t files, std::uint64_t bytes, Work work) {
    const double cpu_before = cpu_s();
    const auto start = std::chrono::steady_clock::now();
    work();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    say(files, bytes, wall, cpu_s() - cpu_before);
}

} // namespace bench
