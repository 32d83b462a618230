// model: fitted to runs whose storage is known, because it was model: too: parameters come back, and so does AU.
#include "tests/support/virtual_run.hpp"
#include "workloads/model_fit.hpp"

using namespace feedbench;
using namespace feedbench::test;
using workloads::FitLimit;

namespace {

// npz samples of 1 MB: a head, a tail and four transfers; four readers an accelerator.
VirtualRun samples(const std::string& storage, std::uint32_t accelerators) {
    VirtualRun run(storage);
    run.accelerators = accelerators;
    Workload& w = run.workload;
    w.dataset.format = "npz";
    w.dataset.record_length_bytes = 1e6;
    w.dataset.num_files_train = 4 * 60 * accelerators;
    w.reader.batch_size = 4;
    w.reader.read_threads = 4;
    w.reader.file_shuffle = Shuffle::seed;
    for (const auto& [key, value] : {std::pair{"reader.read_threads", "4"}, {"reader.transfer_size", "262144"}})
        w.values.push_back({key, value, "default", ""});
    run.think(0.05);
    return run;
}

RunResult complete(const std::string& storage, std::uint32_t accelerators) {
    RunResult result = samples(storage, accelerators).must_run();
    result.config = samples(storage, accelerators).workload.values;
    return result;
}

workloads::ModelFit must_fit(const RunResult& result) {
    auto fit = workloads::fit_model(result, "result.json");
    if (!fit) FAIL(fit.error().describe());
    return *fit;
}

std::string note_of(const workloads::ModelFit& fit, const std::string& parameter) {
    for (const workloads::FitNote& note : fit.notes)
        if (note.parameter == parameter) return note.text;
    return "no note of " + parameter;
}

double au(const RunResult& result) { return value_of(result.metrics, "au_mean_percentage"); }

} // namespace

TEST_CASE("a fit of a run that the bandwidth held back has it, and AU of other loads agrees within 2 points") {
    const std::string truth = "model:bandwidth=300MB,latency=2ms,open_latency=1ms";
    const workloads::ModelFit fit = must_fit(complete(truth, 8));
    INFO(storage::model_uri(fit.parameters));
    CHECK(fit.limit == FitLimit::bandwidth);
    CHECK(fit.parameters.bytes_per_second == Approx(300e6).epsilon(0.03));
    CHECK(static_cast<double>(fit.parameters.latency.median_ns) == Approx(2e6).epsilon(0.25));
    CHECK_THAT(note_of(fit, "latency"), Catch::Contains("the spread cannot be seen"));
    for (const std::uint32_t accelerators : {2U, 4U, 8U, 16U}) {
        INFO(accelerators << " accelerators");
        CHECK(au(complete(storage::model_uri(fit.parameters), accelerators)) ==
              Approx(au(complete(truth, accelerators))).margin(2));
    }
}

TEST_CASE("a fit of a run that latency held back has latency and its spread, and only a lower bound of bandwidth") {
    const std::string truth = "model:latency=20ms,latency_p99=50ms,open_latency=10ms,open_latency_p99=25ms";
    const RunResult measured = complete(truth, 4);
    REQUIRE(au(measured) < 90);
    const workloads::ModelFit fit = must_fit(measured);
    INFO(storage::model_uri(fit.parameters));
    CHECK(fit.limit == FitLimit::latency);
    CHECK(fit.parameters.bytes_per_second == 0);
    CHECK(static_cast<double>(fit.parameters.latency.median_ns) == Approx(20e6).epsilon(0.1));
    CHECK(static_cast<double>(fit.parameters.open_latency.median_ns) == Approx(10e6).epsilon(0.25));
    CHECK(fit.parameters.latency.p99_ns > 32'000'000);
    CHECK_THAT(note_of(fit, "bandwidth"), Catch::Contains("not determined, only that it is at least"));
    CHECK(au(complete(storage::model_uri(fit.parameters), 4)) == Approx(au(measured)).margin(2));
}

TEST_CASE(
    "what held a run back is told by its first bytes: neither sizes that vary nor a wide spread look like a queue") {
    // Files of one read each, whose sizes vary as those of unet3d do.
    const auto fit_of = [](const std::string& storage, double stdev, std::uint32_t accelerators) {
        VirtualRun run = samples(storage, accelerators);
        run.workload.dataset.record_length_bytes_stdev = stdev;
        run.think(0.001);
        RunResult result = run.must_run();
        result.config = run.workload.values;
        return must_fit(result);
    };
    for (const double stdev : {0.0, 400e3}) {
        INFO("sizes vary by " << stdev);
        CHECK(fit_of("model:latency=20ms", stdev, 4).limit == FitLimit::latency);
        CHECK(fit_of("model:latency=20ms,latency_p99=60ms", stdev, 4).limit == FitLimit::latency);
        CHECK(fit_of("model:latency=20ms,latency_p99=200ms,open_latency=5ms", stdev, 4).limit == FitLimit::latency);
        CHECK(fit_of("model:latency=5ms,jitter=5ms", stdev, 4).limit == FitLimit::latency);
        // A rate and nothing else: once the queue stands, every read takes as long as every other.
        CHECK(fit_of("model:bandwidth=300MB", stdev, 4).limit == FitLimit::bandwidth);
        CHECK(fit_of("model:bandwidth=300MB", stdev, 16).limit == FitLimit::bandwidth);
        CHECK(fit_of("model:bandwidth=300MB,latency=1ms,latency_p99=3ms", stdev, 16).limit == FitLimit::bandwidth);
        CHECK(fit_of("model:iops=2000,latency=1ms", stdev, 8).limit == FitLimit::bandwidth);
    }
}

TEST_CASE("a fit of a run that nothing held back says that bandwidth is only bounded") {
    const workloads::ModelFit fit = must_fit(complete("model:bandwidth=10GB,latency=1ms", 2));
    CHECK(fit.limit == FitLimit::nothing);
    CHECK(fit.parameters.bytes_per_second == 0);
    CHECK_THAT(note_of(fit, "bandwidth"), Catch::Contains("the run was not storage-bound"));
    CHECK(static_cast<double>(fit.parameters.latency.median_ns) == Approx(1e6).epsilon(0.2));
}

TEST_CASE("a model is made faster in what held the run back, and in nothing else") {
    workloads::ModelFit fit;
    fit.parameters.bytes_per_second = 100;
    fit.parameters.link_bytes_per_second = 100;
    fit.parameters.latency = {1000, 4000};
    for (const FitLimit limit : {FitLimit::nothing, FitLimit::bandwidth, FitLimit::client, FitLimit::latency}) {
        workloads::ModelFit faster = fit;
        faster.limit = limit;
        workloads::speed_up(faster, 2);
        CHECK(faster.parameters.bytes_per_second == (limit == FitLimit::bandwidth ? 200 : 100));
        CHECK(faster.parameters.link_bytes_per_second == (limit == FitLimit::client ? 200 : 100));
        CHECK(faster.parameters.latency ==
              (limit == FitLimit::latency ? storage::ModelTime{500, 2000} : storage::ModelTime{1000, 4000}));
    }
}

TEST_CASE("a part that came from a cache is a share of the files, and the rest is the storage's rate") {
    RunResult measured = complete("model:bandwidth=300MB,latency=1ms", 8);
    for (EpochResult& epoch : measured.epochs) {
        epoch.hosts.resize(1);
        CacheEvidence& cache = epoch.hosts[0].cache;
        cache.source_kind = "block";
        cache.bytes_delivered = epoch.bytes_delivered;
        cache.source_bytes = 0.7 * static_cast<double>(epoch.bytes_delivered);
    }
    const workloads::ModelFit fit = must_fit(measured);
    CHECK(fit.parameters.cached_share == Approx(0.3).margin(0.001));
    CHECK(fit.parameters.bytes_per_second == Approx(0.7 * 300e6).epsilon(0.03));
    CHECK_THAT(note_of(fit, "cached"), Catch::Contains("30.0 % of the bytes did not come from the storage"));
}

TEST_CASE("results that say nothing of a storage are refused, each with its reason") {
    const RunResult good = complete("model:latency=1ms", 1);
    const auto refusal = [](const RunResult& result) {
        auto fit = workloads::fit_model(result, "some/result.json");
        REQUIRE_FALSE(fit);
        CHECK(exit_code(fit.error().kind) == 2);
        CHECK(fit.error().path == "some/result.json");
        return fit.error().message;
    };
    RunResult bad = good;
    bad.kind = "checkpoint";
    CHECK_THAT(refusal(bad), Catch::Contains("of kind 'checkpoint', expected 'training'"));
    bad = good;
    bad.status = "interrupted";
    CHECK_THAT(refusal(bad), Catch::Contains("the run is interrupted, expected a complete one"));
    bad = good;
    bad.backend = "null";
    CHECK_THAT(refusal(bad), Catch::Contains("no storage"));
    bad = good;
    bad.histograms.clear();
    CHECK_THAT(refusal(bad), Catch::Contains("no histogram sample_read_latency"));
    bad = good;
    bad.metrics.clear();
    CHECK_THAT(refusal(bad), Catch::Contains("of no byte"));
}
