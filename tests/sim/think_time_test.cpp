// Time and metrics of whole runs in virtual time: cases T1 to T5, T7 and T15.
#include "tests/support/virtual_run.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("case T3: reads of 55 ms, thinking of 100 ms, prefetch: a step takes 100 ms, AU 98 % or more") {
    const std::string loader = GENERATE("pytorch", "tensorflow", "native");
    INFO(loader);
    VirtualRun run("model:latency=55ms", loader);
    run.workload.reader.prefetch_size = 1;
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(step_s(result) == Approx(0.100).margin(0.002));
    CHECK(value_of(result.epochs[0].metrics, "au_percentage") >= 98.0);
}

TEST_CASE("case T4: the same without prefetch: a step takes 155 ms, AU about 64.5 %") {
    const std::string loader = GENERATE("pytorch", "tensorflow", "native");
    INFO(loader);
    VirtualRun run("model:latency=55ms", loader);
    run.workload.reader.prefetch_size = 0;
    if (loader == "pytorch") run.workload.reader.read_threads = 0;
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(step_s(result) == Approx(0.155).margin(0.003));
    CHECK(value_of(result.epochs[0].metrics, "au_percentage") == Approx(100 * 100.0 / 155).margin(0.5));
    CHECK(value_of(result.epochs[0].metrics, "effective_utilization_percentage") == Approx(64.5).margin(0.5));
    // All of the wait is the storage's.
    const Attribution& a = result.epochs[0].attribution;
    CHECK(a.storage_wait_s == Approx(200 * 0.055).epsilon(0.001));
    CHECK(a.client_wait_s == Approx(0).margin(1e-6));
}

TEST_CASE("T4, pytorch with one worker and the reference's factor of 2: prefetch 0 still reads ahead") {
    VirtualRun run("model:latency=55ms");
    run.workload.reader.prefetch_size = 0;
    CHECK(step_s(run.must_run()) == Approx(0.100).margin(0.002));
}

TEST_CASE("case T5: thinking of 0.375 ms is 0.375 ms; in virtual time exactly") {
    VirtualRun run;
    run.workload.dataset.num_files_train = 4000;
    run.accelerators = 2;
    run.think(0.000375);
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(result.epochs[0].step_count == 2000);
    CHECK(step_s(result) == Approx(0.000375).epsilon(1e-9));
    CHECK(value_of(result.epochs[0].metrics, "au_percentage") == Approx(100).epsilon(1e-9));
    CHECK(value_of(result.metrics, "think_oversleep_s_mean") == Approx(0).margin(1e-12));
}

TEST_CASE("case T7: samples/s = AU x accelerators x batch / think") {
    const std::string storage = GENERATE("null:", "model:latency=2ms", "model:bandwidth=6e5", "model:iops=150");
    INFO(storage);
    VirtualRun run(storage);
    run.workload.dataset.num_files_train = 8000;
    run.workload.reader.batch_size = 4;
    run.workload.reader.prefetch_size = 2;
    run.accelerators = 4;
    run.think(0.1);
    const RunResult result = run.must_run();
    check_invariants(result);
    const double au = value_of(result.epochs[0].metrics, "au_percentage") / 100;
    const double rate = value_of(result.epochs[0].metrics, "samples_per_second");
    CHECK(rate == Approx(au * 4 * 4 / 0.1).epsilon(0.005));
}

TEST_CASE("bandwidth bounds the run: what is delivered is what the model's pipe lets through") {
    VirtualRun run("model:bandwidth=1e8");
    run.workload.dataset.record_length_bytes = 1e6;
    run.workload.dataset.num_files_train = 400;
    run.workload.reader.read_threads = 4;
    run.workload.reader.prefetch_size = 4;
    run.accelerators = 2;
    run.think(0.001);
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(value_of(result.epochs[0].metrics, "delivered_MB_per_second") == Approx(100).epsilon(0.02));
}

TEST_CASE("case T1: an epoch of one step has an empty window: null and the reason, never 0") {
    VirtualRun run("model:latency=5ms");
    run.workload.dataset.num_files_train = 1;
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(result.epochs[0].step_count == 1);
    CHECK(reason_of(result.epochs[0].metrics, "au_percentage") == "metric_window_empty");
    CHECK(reason_of(result.epochs[0].metrics, "samples_per_second") == "metric_window_empty");
    CHECK(reason_of(result.metrics, "au_mean_percentage") == "metric_window_empty");
}

TEST_CASE("case T2: an epoch of two steps has a window of one") {
    const double think = GENERATE(0.1, 0.0);
    VirtualRun run("model:latency=5ms");
    run.workload.dataset.num_files_train = 2;
    run.workload.reader.read_threads = 0;
    run.think(think);
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(result.epochs[0].step_count == 2);
    if (think > 0)
        CHECK(value_of(result.epochs[0].metrics, "au_percentage") == Approx(100 * 0.1 / 0.105).epsilon(0.001));
    else
        CHECK(value_of(result.epochs[0].metrics, "au_percentage") == 0);
}

TEST_CASE("case T15: the first step takes nearly all of the time, and the report says so") {
    VirtualRun run("model:latency=2s");
    run.workload.dataset.num_files_train = 5 * 8;
    run.workload.reader.batch_size = 8;
    run.workload.reader.read_threads = 8;
    run.think(0.05);
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(result.epochs[0].step_count == 5);
    const auto& rows = result.epochs[0].metrics;
    CHECK(value_of(rows, "au_percentage") == Approx(100).margin(0.1)); // the rules' figure
    const double epoch_s = result.epochs[0].end_s - result.epochs[0].start_s;
    CHECK(epoch_s == Approx(16.0 + 5 * 0.05).margin(0.01));
    CHECK(value_of(rows, "samples_per_second_whole_epoch") == Approx(40 / epoch_s).epsilon(0.001));
    CHECK(value_of(rows, "effective_utilization_percentage") == Approx(100 * 5 * 0.05 / epoch_s).epsilon(0.01));
}
