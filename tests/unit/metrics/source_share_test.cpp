// source_bytes_over_delivered: of the hosts and epochs that can say, the one with the least.
#include "harness/metrics/aggregate.hpp"

#include <catch2/catch.hpp>

#include "step_log.hpp"

using namespace feedbench;
using namespace feedbench::metrics;
using namespace feedbench::metrics::test;

namespace {

const Metric& row(const std::vector<Metric>& rows) {
    const Metric* found = find_metric(rows, "source_bytes_over_delivered");
    REQUIRE(found != nullptr);
    return *found;
}

struct Measured {
    TrainingMeasurements m;
    RunResult result;

    Measured() {
        m.accelerator_count = m.batch_size = m.batch_size_eval = 1;
        m.hosts.resize(3);
    }
    void add_epoch(std::uint32_t index, bool evaluation) {
        EpochMeasurement epoch;
        epoch.epoch_index = index;
        epoch.evaluation = evaluation;
        epoch.start_ns = ns(10.0 * index);
        epoch.end_ns = ns(10.0 * index + 9);
        m.epochs.push_back(epoch);
    }
    void add(std::uint32_t epoch, std::uint32_t host, std::uint64_t delivered, std::optional<double> source,
             bool evaluation = false) {
        HostCache one{epoch, evaluation, host, {}};
        one.evidence.bytes_delivered = delivered;
        one.evidence.source_bytes = source;
        m.cache_evidence.push_back(one);
    }
    const RunResult& aggregated() {
        aggregate(m, result);
        return result;
    }
};

} // namespace

TEST_CASE("bytes from below over bytes delivered: of the host and epoch with the least") {
    Measured run;
    run.add_epoch(0, false);
    run.add_epoch(1, false);
    CHECK(row(run.aggregated().metrics).reason == "source_not_counted");
    run.add(0, 0, 0, 50);
    CHECK(row(run.aggregated().epochs[0].metrics).reason == "no_bytes_delivered");
    run.add(0, 1, 100, 98);
    run.add(0, 2, 100, std::nullopt);
    run.add(1, 1, 100, 3);
    run.add(1, 2, 100, 98);
    const RunResult& r = run.aggregated();
    CHECK(row(r.epochs[0].metrics).value == 0.98);
    CHECK(row(r.epochs[1].metrics).value == 0.03);
    CHECK(row(r.metrics).value == 0.03);
}

TEST_CASE("the run's row is of training epochs; an evaluation has its own") {
    Measured run;
    run.add_epoch(0, false);
    run.add_epoch(0, true);
    run.add(0, 0, 100, 101);
    run.add(0, 0, 100, 0, true);
    const RunResult& r = run.aggregated();
    CHECK(row(r.metrics).value == 1.01);
    CHECK(row(r.epochs[0].metrics).value == 1.01);
    CHECK(row(r.epochs[1].metrics).value == 0.0);
}

TEST_CASE("no training, no share of it") {
    Measured run;
    CHECK(row(run.aggregated().metrics).reason == "no_steps");
}
