// A whole training run in virtual time: one process, the null: or model: backend, the same code as a real one.
//
// Thread: the test's. Owner: the test. Units: seconds where a workload has them. Errors: as run_training answers; a
// deadlock ends the process (Communicator::abort). Source: DESIGN section 4 (virtual clock), STYLE section 3.
#pragma once

#include <catch2/catch.hpp>

#include "harness/cluster/communicator.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/metrics/aggregate.hpp"
#include "harness/metrics/attribution.hpp"
#include "harness/types/units.hpp"
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

inline double sum_of_parts(const Attribution& a) {
    return a.think_s + a.storage_wait_s + a.client_wait_s + a.barrier_wait_s + a.outside_s;
}

// The hosts of an epoch add up to the epoch.
inline void check_hosts(const RunResult& result, const EpochResult& epoch) {
    REQUIRE(epoch.hosts.size() == result.hosts.size());
    Attribution sum;
    LoaderTime time;
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> counts(epoch.histograms.size());
    for (const HostEpochResult& host : epoch.hosts) {
        INFO("host " << host.host);
        CHECK(sum_of_parts(host.attribution) == Approx(host.attribution.total_s).epsilon(0.001).margin(1e-9));
        metrics::add(sum, host.attribution);
        metrics::add(time, host.loader_time);
        bytes += host.bytes_delivered;
        REQUIRE(host.histograms.size() == epoch.histograms.size());
        for (std::size_t i = 0; i < counts.size(); ++i) {
            CHECK(host.histograms[i].key == epoch.histograms[i].key);
            counts[i] += host.histograms[i].count;
        }
    }
    CHECK(sum.storage_wait_s == Approx(epoch.attribution.storage_wait_s).margin(1e-9));
    CHECK(sum.client_wait_s == Approx(epoch.attribution.client_wait_s).margin(1e-9));
    CHECK(sum.total_s == Approx(epoch.attribution.total_s).margin(1e-9));
    CHECK(time.in_flight_s == Approx(epoch.loader_time.in_flight_s).margin(1e-9));
    CHECK(bytes == epoch.bytes_delivered);
    for (std::size_t i = 0; i < counts.size(); ++i) CHECK(counts[i] == epoch.histograms[i].count);
    // Whoever waits for the storage waits for something that is in flight there.
    CHECK(epoch.attribution.storage_wait_s <= epoch.loader_time.in_flight_s + 1e-9);
}

// Whatever a run does, and however it ends, its books balance.
inline void check_books(const RunResult& result) {
    CHECK(result.virtual_time);
    CHECK(sum_of_parts(result.attribution) == Approx(result.attribution.total_s).epsilon(0.001).margin(1e-9));
    for (std::size_t i = 0; i < result.slices.size(); ++i) CHECK(result.slices[i].start_ns == i * kNsPerS);
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
        CHECK(sum_of_parts(a) == Approx(a.total_s).epsilon(0.001).margin(1e-9));
        check_hosts(result, epoch);
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
    std::uint64_t steps = 0, bytes = 0;
    for (const EpochResult& epoch : result.epochs) {
        INFO("epoch " << epoch.index << (epoch.evaluation ? " (evaluation)" : ""));
        CHECK(epoch.samples_proved);
        for (const HistogramData& histogram : epoch.histograms)
            if (histogram.key == "batch_wait" || histogram.key == "think_error")
                CHECK(histogram.count == epoch.step_count * result.accelerator_count);
        steps += epoch.step_count * result.accelerator_count;
        bytes += epoch.bytes_delivered;
    }
    Slice sum; // the second that the end cut short is among them
    for (const Slice& slice : result.slices) {
        sum.steps += slice.steps;
        sum.bytes += slice.bytes;
    }
    CHECK(sum.steps == steps);
    CHECK(sum.bytes >= bytes); // a loader may read more than it hands over
    check_books(result);
}

} // namespace feedbench::test
