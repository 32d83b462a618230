// A whole training run in virtual time: one process, the null: or model: backend, the same code as a real one.
//
// Thread: the test's. Owner: the test. Units: seconds where a workload has them. Errors: as run_training answers; a
// deadlock ends the process (Communicator::abort). Source: DESIGN section 4 (virtual clock), STYLE section 3.
#pragma once

#include <catch2/catch.hpp>

#include "harness/cluster/communicator.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/metrics/aggregate.hpp"
#include "workloads/training.hpp"

namespace feedbench::test {

struct VirtualRun {
    Workload workload;
    std::uint32_t accelerators = 1;
    std::uint64_t seed = 1;
    std::function<void(engine::Reactor&)> prepare; // before the run: timers, say

    // One read a sample, one sample a file.
    explicit VirtualRun(std::string storage = "null:", std::string loader = "pytorch") {
        workload.name = "virtual";
        workload.dataset.data_folder = std::move(storage);
        workload.dataset.format = loader == "tensorflow" ? "tfrecord" : "raw";
        workload.dataset.num_files_train = 200;
        workload.dataset.record_length_bytes = 4096;
        workload.reader.data_loader = std::move(loader);
        workload.checkpoint.checkpoint_folder = "null:";
        think(0.1);
    }
    void think(double seconds) { workload.train.computation_time.mean_s = seconds; }

    Expected<RunResult> run(RunObserver* observer = nullptr, const volatile std::sig_atomic_t* signal = nullptr) const {
        auto clock = engine::make_virtual_clock();
        auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
        REQUIRE(reactor);
        if (prepare) prepare(**reactor);
        auto communicator = cluster::make_single();
        workloads::RunRequest request;
        request.workload = &workload;
        request.communicator = communicator.get();
        request.reactor = reactor->get();
        request.accelerator_count = accelerators;
        request.run_seed = seed;
        request.observer = observer;
        request.signal = signal;
        auto result = workloads::run_training(request);
        CHECK((*reactor)->in_flight() == 0);
        CHECK((*reactor)->outstanding_count() == 0);
        return result;
    }
    RunResult must_run() const {
        auto result = run();
        if (!result) FAIL(result.error().describe());
        if (!result->errors.empty()) FAIL(result->errors[0].describe());
        return std::move(*result);
    }
};

inline double value_of(const std::vector<Metric>& rows, std::string_view key) {
    const Metric* metric = metrics::find_metric(rows, key);
    if (metric == nullptr) FAIL("no metric " << key);
    if (!metric->value) FAIL("no value of " << key << ": " << metric->reason);
    return *metric->value;
}
inline std::string reason_of(const std::vector<Metric>& rows, std::string_view key) {
    const Metric* metric = metrics::find_metric(rows, key);
    if (metric == nullptr) FAIL("no metric " << key);
    return metric->value ? "there is a value" : metric->reason;
}

// Mean duration of a step in the first epoch's only block.
inline double step_s(const RunResult& result) {
    REQUIRE_FALSE(result.epochs.empty());
    REQUIRE(result.epochs[0].blocks.size() == 1);
    const BlockResult& block = result.epochs[0].blocks[0];
    return (block.end_s - block.start_s) / static_cast<double>(block.step_count);
}

// Whatever a run does, and however it ends, its books balance.
inline void check_books(const RunResult& result) {
    CHECK(result.virtual_time);
    for (const EpochResult& epoch : result.epochs) {
        INFO("epoch " << epoch.index << (epoch.evaluation ? " (evaluation)" : ""));
        CHECK(epoch.end_s >= epoch.start_s);
        std::uint64_t steps = 0, samples = 0;
        for (const BlockResult& block : epoch.blocks) {
            steps += block.step_count;
            samples += block.sample_count;
            CHECK(block.start_s >= epoch.start_s);
            CHECK(block.end_s <= epoch.end_s);
        }
        CHECK(steps == epoch.step_count);
        CHECK(samples == epoch.sample_count);
        const Attribution& a = epoch.attribution;
        for (const double part : {a.think_s, a.storage_wait_s, a.client_wait_s, a.barrier_wait_s, a.outside_s})
            CHECK(part >= 0);
        const double parts = a.think_s + a.storage_wait_s + a.client_wait_s + a.barrier_wait_s + a.outside_s;
        CHECK(parts == Approx(a.total_s).epsilon(0.001).margin(1e-9));
        CHECK(a.total_s ==
              Approx((epoch.end_s - epoch.start_s) * result.accelerator_count).epsilon(0.001).margin(1e-9));
        if (const Metric* au = metrics::find_metric(epoch.metrics, "au_percentage"); au && au->value) {
            CHECK(*au->value >= 0);
            CHECK(*au->value <= 100.0001);
        }
    }
}

// And of one that nothing went wrong in, this holds as well.
inline void check_invariants(const RunResult& result) {
    CHECK(result.status == "complete");
    CHECK(result.valid);
    for (const EpochResult& epoch : result.epochs) {
        INFO("epoch " << epoch.index << (epoch.evaluation ? " (evaluation)" : ""));
        CHECK(epoch.samples_proved);
    }
    check_books(result);
}

} // namespace feedbench::test
