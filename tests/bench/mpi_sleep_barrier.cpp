// The best that a rank-per-accelerator loop can do on this machine: exact sleep, then MPI_Barrier, nothing else. What
// feedbench reaches with as many ranks is judged against this (issue: >= 0.95 of it at 0.375 ms with 8 ranks on 2
// cores).
//
// Usage: mpirun -n R bench_mpi_sleep_barrier THINK_US STEPS      Prints one JSON object (rank 0).
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::int64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// A coarse sleep that ends before the deadline, then a spin that meets it.
void sleep_exactly(std::int64_t ns) {
    constexpr std::int64_t kSpinNs = 60'000;
    const std::int64_t deadline = now_ns() + ns;
    if (ns > kSpinNs) {
        const std::int64_t coarse = deadline - kSpinNs;
        const timespec t{coarse / 1'000'000'000, coarse % 1'000'000'000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
    }
    while (now_ns() < deadline) {
    }
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto s = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return s(usage.ru_utime) + s(usage.ru_stime);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double think_us = argc > 1 ? std::atof(argv[1]) : 0;
    const long steps = argc > 2 ? std::atol(argv[2]) : 0;
    if (argc != 3 || think_us <= 0 || steps <= 0) {
        if (rank == 0) std::fprintf(stderr, "usage: bench_mpi_sleep_barrier THINK_US STEPS\n");
        MPI_Finalize();
        return 2;
    }
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    const auto think_ns = static_cast<std::int64_t>(think_us * 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    const double cpu_before = cpu_seconds();
    const std::int64_t start = now_ns();
    for (long step = 0; step < steps; ++step) {
        sleep_exactly(think_ns);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const double wall_s = static_cast<double>(now_ns() - start) * 1e-9;
    const double cpu_s = cpu_seconds() - cpu_before;
    const double utilization = 100.0 * static_cast<double>(steps) * think_us * 1e-6 / wall_s;
    double sums[2] = {utilization, cpu_s}, totals[2] = {};
    MPI_Reduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf(
            "{\"ranks\": %d, \"think_us\": %.3f, \"steps\": %ld, \"utilization_percentage\": %.3f, \"cpu_s\": %.3f, "
            "\"wall_s\": %.3f}\n",
            size, think_us, steps, totals[0] / size, totals[1], wall_s);
    }
    MPI_Finalize();
    return 0;
}
