#include "harness/metrics/aggregate.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "harness/metrics/explain.hpp"
#include "harness/metrics/metric_table.hpp"
#include "step_log.hpp"

using namespace feedbench;
using namespace feedbench::metrics;
using namespace feedbench::metrics::test;

namespace {

EpochMeasurement epoch(std::uint32_t index, double start_s, double end_s, bool evaluation = false) {
    EpochMeasurement e;
    e.epoch_index = index;
    e.evaluation = evaluation;
    e.start_ns = ns(start_s);
    e.end_ns = ns(end_s);
    return e;
}

TrainingMeasurements measurements(std::uint32_t accelerator_count, std::uint32_t batch_size) {
    TrainingMeasurements m;
    m.accelerator_count = accelerator_count;
    m.batch_size = m.batch_size_eval = batch_size;
    m.record_length_bytes = 146600628;
    return m;
}

double value(const std::vector<Metric>& rows, std::string_view key) {
    const Metric* row = find_metric(rows, key);
    INFO("metric " << key);
    REQUIRE(row != nullptr);
    INFO("reason " << row->reason);
    REQUIRE(row->value.has_value());
    return *row->value;
}
std::string reason(const std::vector<Metric>& rows, std::string_view key) {
    const Metric* row = find_metric(rows, key);
    INFO("metric " << key);
    REQUIRE(row != nullptr);
    CHECK_FALSE(row->value.has_value());
    return row->reason;
}
double sum(const Attribution& a) {
    return a.think_s + a.storage_wait_s + a.client_wait_s + a.barrier_wait_s + a.outside_s;
}

} // namespace

TEST_CASE("T13: the global window is earliest start to latest end") {
    TrainingMeasurements m = measurements(2, 1);
    m.run_start_ns = ns(100);
    m.epochs = {epoch(0, 100.5, 105)};
    const std::vector<Step> steps(3, {.wait_s = 0.5, .think_s = 0.5, .bytes = 10'000'000});
    m.blocks = {block({0, 0, 0}, 101, steps), block({1, 0, 0}, 101.2, steps)};
    RunResult r;
    aggregate(m, r);
    REQUIRE(r.epochs.size() == 1);
    REQUIRE(r.epochs[0].blocks.size() == 1);
    const BlockResult& b = r.epochs[0].blocks[0];
    CHECK(b.start_s == Approx(1.0));
    CHECK(b.end_s == Approx(4.2));
    CHECK(value(b.metrics, "delivered_MB_per_second") == Approx(60 / 3.2));
    CHECK(r.epochs[0].start_s == Approx(0.5));
    CHECK(r.epochs[0].end_s == Approx(5));
    // AU and samples/s keep each accelerator's own T, as the rules do
    CHECK(value(r.metrics, "samples_per_second_mean") == Approx(2 * 3 / 3.0));
    CHECK(value(r.metrics, "au_mean_percentage") == Approx(50));
}

TEST_CASE("T1: a run of one step an epoch has rows without value, each with its reason") {
    TrainingMeasurements m = measurements(1, 7);
    m.epochs = {epoch(0, 0, 3)};
    m.blocks = {block({}, 0, {{.wait_s = 1, .think_s = 2, .bytes = 1000, .samples = 7}})};
    RunResult r;
    r.au_required = 0.9;
    aggregate(m, r);
    CHECK(reason(r.epochs[0].metrics, "au_percentage") == "metric_window_empty");
    CHECK(reason(r.epochs[0].metrics, "samples_per_second") == "metric_window_empty");
    CHECK(reason(r.metrics, "au_mean_percentage") == "metric_window_empty");
    CHECK(reason(r.metrics, "nominal_MiB_per_second") == "metric_window_empty");
    CHECK(reason(r.metrics, "sustained_MB_per_second_min") == "no_complete_slice_in_window");
    CHECK(reason(r.metrics, "au_later_epochs_percentage") == "only_one_epoch");
    CHECK(value(r.metrics, "delivered_MB_per_second") == Approx(0.001 / 3));
    CHECK(r.explanation.find("metric_window_empty") != std::string::npos);
}

TEST_CASE("nothing measured at all is reasons, not zeros or crashes") {
    RunResult r;
    aggregate(measurements(4, 7), r);
    CHECK(r.epochs.empty());
    CHECK(reason(r.metrics, "au_mean_percentage") == "no_steps");
    CHECK(reason(r.metrics, "delivered_MB_per_second") == "no_steps");
    CHECK(reason(r.metrics, "batch_wait_s_p99") == "not_counted");
    CHECK(reason(r.metrics, "cpu_s_per_GB_process") == "no_bytes_delivered");
    CHECK(value(r.metrics, "step_count") == 0);
    CHECK(r.attribution.total_s == 0);
    TrainingMeasurements interrupted = measurements(4, 7);
    interrupted.epochs = {epoch(0, 1, 2)};
    aggregate(interrupted, r);
    CHECK(reason(r.epochs.at(0).metrics, "au_percentage") == "no_steps");
    CHECK(r.attribution.outside_s == Approx(4));
}

TEST_CASE("T15: effective utilization and the rate over the whole epoch show what the excluded first step hides") {
    std::vector<Step> steps(5, {.think_s = 0.05, .samples = 7});
    steps[0] = {.wait_s = 15.95, .think_s = 0.05, .samples = 7};
    TrainingMeasurements m = measurements(1, 7);
    m.epochs = {epoch(0, 0, 16.2)};
    m.blocks = {block({}, 0, steps)};
    RunResult r;
    aggregate(m, r);
    CHECK(value(r.metrics, "au_mean_percentage") == Approx(100));
    CHECK(value(r.metrics, "effective_utilization_percentage") == Approx(100 * 0.25 / 16.2));
    CHECK(value(r.metrics, "samples_per_second_whole_epochs") == Approx(35 / 16.2));
    CHECK(value(r.epochs[0].metrics, "samples_per_second_whole_epoch") == Approx(35 / 16.2));
}

TEST_CASE("T6: 1000 samples/s of unet3d in both units") {
    TrainingMeasurements m = measurements(1, 1000);
    m.epochs = {epoch(0, 0, 10)};
    m.blocks = {block({}, 0, std::vector<Step>(10, {.wait_s = 0.5, .think_s = 0.5, .samples = 1000}))};
    RunResult r;
    aggregate(m, r);
    CHECK(value(r.metrics, "nominal_MB_per_second") == Approx(146600.628));
    CHECK(value(r.metrics, "nominal_MiB_per_second") == Approx(139809.3).epsilon(1e-6));
    CHECK(reason(r.metrics, "delivered_MB_per_second") == "no_bytes_delivered");
}

TEST_CASE("T11: delivered MB/s counts the bytes that were read, not samples x nominal length") {
    TrainingMeasurements m = measurements(1, 1);
    m.record_length_bytes = 1e6;
    m.epochs = {epoch(0, 0, 4)};
    m.blocks = {
        block({}, 0, {{.wait_s = 1, .think_s = 1, .bytes = 300'000}, {.wait_s = 1, .think_s = 1, .bytes = 2'500'000}})};
    RunResult r;
    aggregate(m, r);
    CHECK(value(r.metrics, "bytes_delivered") == 2'800'000);
    CHECK(value(r.metrics, "delivered_MB_per_second") == Approx(0.7));
    CHECK(value(r.metrics, "delivered_MiB_per_second") == Approx(2.8e6 / 1048576 / 4));
    CHECK(value(r.metrics, "nominal_MB_per_second") == Approx(0.5));
    CHECK(value(r.metrics, "needed_MB_per_second") == Approx(1.4));
}

TEST_CASE("T8: checkpoints of 100 GiB in 5 s and in 20 s") {
    TrainingMeasurements m = measurements(1, 1);
    for (const double s : {5.0, 20.0}) {
        CheckpointResult c;
        c.bytes = std::uint64_t{100} << 30;
        c.duration_s = s;
        m.checkpoints.push_back(c);
    }
    RunResult r;
    aggregate(m, r);
    CHECK(value(r.metrics, "checkpoint_GiB_per_second") == Approx(8.0));
    CHECK(value(r.metrics, "checkpoint_GiB_per_second_mean_of_rates") == Approx(12.5));
    CHECK(value(r.metrics, "checkpoint_duration_s_mean") == Approx(12.5));
    CHECK(r.checkpoints.size() == 2);
    RunResult without;
    aggregate(measurements(1, 1), without);
    CHECK(find_metric(without.metrics, "checkpoint_GiB_per_second") == nullptr);
}

TEST_CASE("a checkpoint between two blocks is outside, and blocks weigh by their steps") {
    TrainingMeasurements m = measurements(1, 1);
    m.epochs = {epoch(0, 0, 31)};
    m.blocks = {block({0, 0, 1}, 25, std::vector<Step>(3, {.wait_s = 1, .think_s = 1})),
                block({0, 0, 0}, 1, std::vector<Step>(9, {.think_s = 1}))};
    RunResult r;
    aggregate(m, r);
    REQUIRE(r.epochs[0].blocks.size() == 2);
    CHECK(r.epochs[0].blocks[0].step_count == 9);
    CHECK(r.epochs[0].blocks[1].start_s == Approx(25));
    CHECK(value(r.epochs[0].metrics, "au_percentage") == Approx((9 * 100 + 3 * 50) / 12.0));
    CHECK(value(r.epochs[0].metrics, "outside_block_s") == Approx(31 - 9 - 6));
    CHECK(r.attribution.outside_s == Approx(16));
    CHECK(r.attribution.total_s == Approx(31));
    CHECK(sum(r.attribution) == Approx(31));
}

TEST_CASE("evaluation epochs have figures of their own and leave the training's alone") {
    TrainingMeasurements m = measurements(1, 4);
    m.batch_size_eval = 2;
    m.epochs = {epoch(0, 0, 4), epoch(0, 4, 10, true), epoch(1, 10, 18)};
    m.blocks = {block({0, 0, 0}, 0, std::vector<Step>(4, {.think_s = 1})),
                block({0, 0, kEvaluationBlock}, 4, std::vector<Step>(3, {.wait_s = 1, .think_s = 1})),
                block({0, 1, 0}, 10, std::vector<Step>(4, {.wait_s = 1, .think_s = 1}))};
    RunResult r;
    aggregate(m, r);
    REQUIRE(r.epochs.size() == 3);
    CHECK(r.epochs[1].evaluation);
    CHECK(value(r.metrics, "au_mean_percentage") == Approx(75));
    CHECK(value(r.metrics, "au_stdev_percentage") == Approx(25));
    CHECK(value(r.metrics, "au_first_epoch_percentage") == Approx(100));
    CHECK(value(r.metrics, "au_later_epochs_percentage") == Approx(50));
    CHECK(value(r.metrics, "samples_per_second_mean") == Approx((4 + 2) / 2.0));
    CHECK(value(r.metrics, "samples_per_second_stdev") == Approx(1));
    CHECK(value(r.metrics, "eval_au_mean_percentage") == Approx(50));
    CHECK(value(r.metrics, "eval_samples_per_second_mean") == Approx(1));
    CHECK(value(r.metrics, "step_count") == 8);
}

TEST_CASE("sustained MB/s looks at complete slices inside the blocks only") {
    TrainingMeasurements m = measurements(1, 1);
    m.run_start_ns = ns(10);
    m.epochs = {epoch(0, 10, 20)};
    m.blocks = {block({}, 10.5, std::vector<Step>(8, {.wait_s = 0.5, .think_s = 0.5, .bytes = 1}))}; // 10.5 .. 18.5
    for (int i = 0; i < 10; ++i) {
        Slice s;
        s.start_ns = ns(i);
        s.bytes = i == 0 || i == 9 ? 0 : static_cast<std::uint64_t>(i) * 100'000'000; // outside: would be the minimum
        m.slices.push_back(s);
    }
    RunResult r;
    aggregate(m, r); // complete inside 10.5 .. 18.5: slices 1..7
    CHECK(value(r.metrics, "sustained_MB_per_second_mean") == Approx(400));
    CHECK(value(r.metrics, "sustained_MB_per_second_min") == Approx(100));
    CHECK(value(r.metrics, "sustained_MB_per_second_p5") == Approx(100));
    CHECK(r.slices.size() == 10);
}

TEST_CASE("histograms and CPU cost become rows") {
    TrainingMeasurements m = measurements(1, 1);
    m.epochs = {epoch(0, 0, 2)};
    m.blocks = {block({}, 0, {{.think_s = 1, .bytes = 5}, {.think_s = 1, .bytes = 5}})};
    EpochCounts counts;
    for (std::uint64_t i = 1; i <= 1000; ++i) counts.sample_read_latency.add(i * 1'000'000);
    counts.batch_wait.add(2'000'000);
    m.counts = {{0, false, 0, counts.serialise()}};
    m.hosts.resize(2);
    m.hosts[0].process_cpu_s = 8;
    m.hosts[1].process_cpu_s = 4;
    m.hosts[0].host_cpu_s = m.hosts[1].host_cpu_s = 10;
    m.hosts[0].bytes_delivered = m.hosts[1].bytes_delivered = 20'000'000'000;
    RunResult r;
    aggregate(m, r);
    CHECK(value(r.metrics, "sample_read_latency_s_p50") == Approx(0.5).epsilon(0.01));
    CHECK(value(r.metrics, "sample_read_latency_s_p99") == Approx(0.99).epsilon(0.01));
    CHECK(value(r.metrics, "batch_wait_s_p50") == Approx(0.002));
    CHECK(reason(r.metrics, "time_to_first_byte_s_p50") == "not_counted");
    CHECK(value(r.metrics, "cpu_s_per_GB_process") == Approx(0.3));
    CHECK(value(r.metrics, "cpu_s_per_GB_host") == Approx(0.5));
    REQUIRE(r.histograms.size() == 4);
    CHECK(r.histograms[0].count == 1000);
}

TEST_CASE("the order in which ranks gathered does not change a bit of the result") {
    TrainingMeasurements m = measurements(7, 3);
    m.epochs = {epoch(0, 0, 9)};
    for (std::uint32_t a = 0; a < 7; ++a)
        m.blocks.push_back(
            block({a, 0, 0}, 0.1 * a, std::vector<Step>(5, {.wait_s = 0.01 * a, .think_s = 0.3, .bytes = 77 + a})));
    RunResult forward, backward;
    aggregate(m, forward);
    std::reverse(m.blocks.begin(), m.blocks.end());
    aggregate(m, backward);
    CHECK(value(forward.metrics, "au_mean_percentage") == value(backward.metrics, "au_mean_percentage"));
    CHECK(value(forward.metrics, "samples_per_second_mean") == value(backward.metrics, "samples_per_second_mean"));
}

TEST_CASE("every metric key is unique, names its unit and its formula") {
    std::vector<std::string_view> keys;
    const auto check = [&](std::string_view key, std::string_view unit, std::string_view formula) {
        CHECK(std::find(keys.begin(), keys.end(), key) == keys.end());
        keys.push_back(key);
        CHECK_FALSE(formula.empty());
        INFO(key);
        const auto has = [&](std::string_view part) { return key.find(part) != std::string_view::npos; };
        if (unit == "%")
            CHECK(has("_percentage"));
        else if (unit == "MB/s")
            CHECK(has("_MB_per_second"));
        else if (unit == "MiB/s")
            CHECK(has("_MiB_per_second"));
        else if (unit == "GiB/s")
            CHECK(has("_GiB_per_second"));
        else if (unit == "samples/s")
            CHECK(has("samples_per_second"));
        else if (unit == "s/GB")
            CHECK(has("_s_per_GB"));
        else if (unit == "s")
            CHECK(has("_s"));
        else if (unit == "bytes")
            CHECK(has("bytes"));
        else
            CHECK((has("_count") || has("_over_") || has("_deviation")));
    };
    for (const RunMetric& m : run_metrics()) check(m.key, m.unit, m.formula);
    keys.clear();
    for (const WindowMetric& m : window_metrics()) check(m.key, m.unit, m.formula);
}
