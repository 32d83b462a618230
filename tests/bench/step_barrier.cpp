// The engine's own share of a step: timers and step barrier as a run uses them, without storage, loader or records.
//
// Usage: [mpirun -n R] bench_step_barrier THINK_US STEPS [ACCELERATORS_A_RANK]      Prints one JSON object (rank 0).
#include <cstdio>
#include <cstdlib>

#include "harness/cluster/step_barrier.hpp"
#include "harness/engine/sync.hpp"

using namespace feedbench;

namespace {

struct Plan {
    std::uint64_t think_ns, step_count;
};

engine::Task<void> accelerator(engine::Reactor& reactor, cluster::StepBarrier& barrier, Plan plan) {
    for (std::uint64_t step = 0; step < plan.step_count; ++step) {
        co_await reactor.sleep_until(reactor.now_ns() + plan.think_ns, 1'000);
        if (co_await barrier.arrive() != 0) co_return;
    }
}

engine::Task<void> all(engine::Reactor& reactor, cluster::StepBarrier& barrier, Plan plan, unsigned count) {
    engine::TaskGroup accelerators(reactor);
    for (unsigned i = 0; i < count; ++i) accelerators.spawn(accelerator(reactor, barrier, plan));
    co_await accelerators.join();
}

} // namespace

int main(int argc, char** argv) {
    auto communicator = cluster::make_communicator(&argc, &argv);
    const double think_us = argc > 1 ? std::atof(argv[1]) : 0;
    const long steps = argc > 2 ? std::atol(argv[2]) : 0;
    const long count = argc > 3 ? std::atol(argv[3]) : 1;
    if (argc < 3 || argc > 4 || think_us <= 0 || steps <= 0 || count <= 0) {
        if (communicator->rank() == 0)
            std::fprintf(stderr, "usage: bench_step_barrier THINK_US STEPS [ACCELERATORS_A_RANK]\n");
        return 2;
    }
    auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {});
    if (!reactor) {
        std::fprintf(stderr, "%s\n", reactor.error().describe().c_str());
        communicator->abort(3);
    }
    cluster::StepBarrier barrier(**reactor, *communicator, static_cast<std::uint32_t>(count));
    communicator->barrier();
    const std::uint64_t cpu_before = engine::process_cpu_ns(), start = clock->now_ns();
    const Plan plan{static_cast<std::uint64_t>(think_us * 1000), static_cast<std::uint64_t>(steps)};
    const Status status = (*reactor)->run(all(**reactor, barrier, plan, static_cast<unsigned>(count)));
    if (!status) {
        std::fprintf(stderr, "%s\n", status.error().describe().c_str());
        communicator->abort(3);
    }
    double sums[3] = {static_cast<double>(clock->now_ns() - start) * 1e-9,
                      static_cast<double>(engine::process_cpu_ns() - cpu_before) * 1e-9, 0};
    communicator->sum(sums);
    if (communicator->rank() == 0) {
        const double wall_s = sums[0] / communicator->size();
        std::printf("{\"ranks\": %d, \"accelerators_a_rank\": %ld, \"think_us\": %.3f, \"steps\": %ld, "
                    "\"utilization_percentage\": %.3f, \"cpu_s\": %.3f, \"wall_s\": %.3f}\n",
                    communicator->size(), count, think_us, steps,
                    100.0 * static_cast<double>(steps) * think_us * 1e-6 / wall_s, sums[1], wall_s);
    }
    return 0;
}
