// Whole runs on model: whose AU and rate can be worked out by hand: links, the warm share, IOPS, parallel operations.
#include <algorithm>

#include "reporters/result_json.hpp"
#include "tests/support/virtual_run.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

// Samples of 1 MB in one read, thinking of 100 ms, two batches ahead.
VirtualRun megabytes(const std::string& storage, std::uint32_t accelerators, std::uint64_t steps = 60) {
    VirtualRun run(storage);
    run.accelerators = accelerators;
    run.workload.dataset.record_length_bytes = 1e6;
    run.workload.dataset.num_files_train = accelerators * steps;
    run.workload.reader.transfer_size = 2 << 20;
    run.workload.reader.read_threads = 2;
    run.workload.reader.prefetch_size = 2;
    return run;
}
double sample_bytes(const RunResult& result) {
    return static_cast<double>(result.epochs[0].bytes_delivered) / static_cast<double>(result.epochs[0].sample_count);
}
double au(const RunResult& result) { return value_of(result.epochs[0].metrics, "au_percentage"); }

std::string numbers_of(RunResult result) {
    result.hosts.clear();
    for (EpochResult& epoch : result.epochs) epoch.hosts.clear();
    std::erase_if(result.metrics, [](const Metric& metric) { return metric.key.starts_with("cpu_s_per_GB"); });
    result.start_time = result.end_time = {};
    return reporters::to_json(result);
}

} // namespace

TEST_CASE("the link of a host bounds its accelerators: AU = link / demand, whatever the storage has") {
    // 8 accelerators on 4 hosts ask for 20 MB/s a host; a link of 10 MB/s feeds them half.
    const RunResult result = megabytes("model:bandwidth=10GB,link=10MB,hosts=4", 8).must_run();
    check_invariants(result);
    CHECK(au(result) == Approx(100 * 10e6 / (2 * sample_bytes(result) / 0.1)).margin(1));
    // The same link for all of them on one host: an eighth.
    CHECK(au(megabytes("model:bandwidth=10GB,link=10MB", 8).must_run()) == Approx(12.5).margin(0.5));
    // And a host each: 100 %.
    CHECK(au(megabytes("model:bandwidth=10GB,link=11MB,hosts=8", 8).must_run()) > 99);
}

TEST_CASE("files in memory do not take the storage's time: the rest has its whole bandwidth") {
    // 4 accelerators ask for 40 MB/s. All cold, a pipe of 20 MB/s gives AU 50 %; half warm, 20 MB/s are asked of it.
    CHECK(au(megabytes("model:bandwidth=20MB", 4, 200).must_run()) == Approx(50).margin(0.6));
    const RunResult warm = megabytes("model:bandwidth=20MB,cached=1", 4).must_run();
    CHECK(au(warm) == Approx(100).margin(0.1));
    const RunResult half = megabytes("model:bandwidth=10MB,cached=0.5", 4, 400).must_run();
    check_invariants(half);
    // A pipe of 10 MB/s for half of the files delivers 20 MB/s in all; which files are warm is a draw of 1600.
    CHECK(value_of(half.epochs[0].metrics, "delivered_MB_per_second") == Approx(20).epsilon(0.08));
}

TEST_CASE("IOPS bound the rate whatever the bandwidth: each sample costs an open and a read") {
    const RunResult result = megabytes("model:bandwidth=10GB,iops=100", 8, 100).must_run();
    check_invariants(result);
    CHECK(value_of(result.epochs[0].metrics, "samples_per_second") == Approx(50).epsilon(0.02));
    CHECK(au(result) == Approx(100 * 50.0 / 80).margin(1.5));
}

TEST_CASE("operations that are worked on at a time bound the rate: parallel / latency") {
    // 2 at a time, 25 ms each: 80 reads a second; 16 accelerators ask for 160.
    const RunResult result = megabytes("model:latency=25ms,parallel=2", 16, 100).must_run();
    check_invariants(result);
    CHECK(value_of(result.epochs[0].metrics, "samples_per_second") == Approx(80).epsilon(0.03));
    CHECK(au(result) == Approx(50).margin(1.5));
}

TEST_CASE("the client's cost of an operation bounds each host") {
    // 10 ms an operation, two operations a sample: 50 samples a second and host; each host's 8 accelerators ask for 80.
    const RunResult result = megabytes("model:client_cost=10ms,hosts=2", 16, 100).must_run();
    check_invariants(result);
    CHECK(value_of(result.epochs[0].metrics, "samples_per_second") == Approx(100).epsilon(0.03));
}

TEST_CASE("case T4 with a spread: without reading ahead a step takes thinking and the mean latency") {
    VirtualRun run("model:latency=50ms,latency_p99=100ms");
    run.workload.reader.read_threads = 0;
    run.workload.dataset.num_files_train = 3000;
    const RunResult result = run.must_run();
    const double sigma = std::log(2.0) / 2.3263478740408408;
    CHECK(step_s(result) == Approx(0.1 + 0.05 * std::exp(sigma * sigma / 2)).epsilon(0.01));
}

TEST_CASE("one event a sample gives the AU of one event a transfer") {
    const std::string storage = GENERATE("model:bandwidth=25MB,latency=1ms", "model:latency=20ms", "model:iops=170");
    INFO(storage);
    VirtualRun fine = megabytes(storage, 4, 150), coarse = fine;
    fine.workload.reader.transfer_size = 262144; // 4 reads a sample
    coarse.workload.dataset.data_folder += ",piece=262144";
    CHECK(au(coarse.must_run()) == Approx(au(fine.must_run())).margin(1));
}

TEST_CASE("two simulations of a seed give the same numbers, another seed gives others") {
    VirtualRun run =
        megabytes("model:bandwidth=60MB,latency=5ms,latency_p99=20ms,link=30MB,hosts=3,cached=0.2,parallel=9", 6);
    run.workload.reader.file_shuffle = Shuffle::seed;
    const std::string once = numbers_of(run.must_run());
    CHECK(once == numbers_of(run.must_run()));
    run.seed = 2;
    CHECK(once != numbers_of(run.must_run()));
}

TEST_CASE("a thousand accelerators keep the invariants, and nobody waits for room to land") {
    VirtualRun run = megabytes("model:latency=90ms", 1000, 12); // 2000 readers of 2 MiB: more than any pool has
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(au(result) == Approx(100).margin(0.1));
}
