// Runs that end by the clock: where they end, what of them is measured, that they can follow each other in one job, and
// that no rank is ever left behind.
#include "tests/support/virtual_run.hpp"

#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "tests/support/fake_ranks.hpp"
#include "workloads/short_run.hpp"

using namespace feedbench;
using namespace feedbench::test;
using workloads::ShortRun;

namespace {

// One job in virtual time: reactor and communicator serve all its runs.
struct Job {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();
    std::unique_ptr<cluster::Communicator> communicator = cluster::make_single();
    workloads::RunRequest request;

    explicit Job(const VirtualRun& run) {
        request.workload = &run.workload;
        request.communicator = communicator.get();
        request.reactor = reactor.get();
        request.accelerator_count = run.accelerators;
        request.run_seed = run.seed;
    }
    RunResult must_run(const ShortRun& how) {
        auto result = workloads::run_short(request, how);
        if (!result) FAIL(result.error().describe());
        CHECK(reactor->in_flight() == 0);
        REQUIRE(result->epochs.size() == 1);
        return std::move(*result);
    }
};

const Finding& note_of(const RunResult& result) {
    for (const Finding& finding : result.findings)
        if (finding.rule == "time_limit") return finding;
    FAIL("nothing is said about the time limit");
    return result.findings.front();
}

} // namespace

TEST_CASE("a run ends with the step in which its time is up, and is complete") {
    VirtualRun run("null:", GENERATE("pytorch", "tensorflow", "native")); // 200 files, 0.1 s a step
    run.accelerators = 2;
    run.workload.reader.sample_shuffle = Shuffle::seed;
    Job job(run);
    job.request.limit.time_ns = 1'050 * kNsPerMs;
    auto result = workloads::run_training(job.request);
    REQUIRE(result);
    check_invariants(*result);
    REQUIRE(result->epochs.size() == 1);
    CHECK(result->epochs[0].step_count == 11);
    CHECK(result->epochs[0].dropped_sample_count == 200 - 2 * 11);
    CHECK(result->epochs[0].end_s == Approx(1.1));
    CHECK(note_of(*result).verdict == "note");
    CHECK(note_of(*result).evidence == "the run ended with its time limit of 1.05 s, after 11 measured steps");
}

TEST_CASE("the time limit ends a later epoch; a run that is done before it says nothing about it") {
    VirtualRun run;
    run.workload.dataset.num_files_train = 4;
    run.workload.train.epochs = 5;
    Job job(run);
    job.request.limit.time_ns = kNsPerS;
    auto result = workloads::run_training(job.request);
    REQUIRE(result);
    check_invariants(*result);
    REQUIRE(result->epochs.size() == 3);
    CHECK(result->epochs[1].step_count == 4);
    CHECK(result->epochs[2].step_count == 2);
    job.request.limit.time_ns = 100 * kNsPerS;
    result = workloads::run_training(job.request);
    REQUIRE(result);
    CHECK(result->epochs.size() == 5);
    for (const Finding& finding : result->findings) CHECK(finding.rule != "time_limit");
}

TEST_CASE("a short run measures what comes after settling, however few steps the plan has") {
    VirtualRun run("null:", GENERATE("pytorch", "tensorflow", "native"));
    run.accelerators = 2;
    run.workload.dataset.num_files_train = 5; // 2 steps an epoch, one sample left
    run.workload.workflow.evaluation = run.workload.workflow.checkpoint = true;
    run.workload.dataset.num_files_eval = 4;
    Job job(run);
    const RunResult result = job.must_run({.seconds = 1.05, .settle_s = 0.35});
    check_invariants(result);
    const EpochResult& epoch = result.epochs[0];
    CHECK(epoch.step_count == 11);
    CHECK(epoch.sample_count == 22);
    CHECK(epoch.start_s == Approx(0).margin(1e-9));
    CHECK(epoch.end_s == Approx(1.1));
    CHECK(value_of(result.metrics, "au_mean_percentage") == Approx(100));
    CHECK(value_of(epoch.metrics, "effective_utilization_percentage") == Approx(100));
    REQUIRE(result.histograms.size() >= 3);
    for (const HistogramData& histogram : result.histograms)
        if (histogram.key == "batch_wait") CHECK(histogram.count == 22);
    REQUIRE(result.hosts.size() == 1);
    CHECK(result.hosts[0].bytes_delivered >= 22 * 4096);
    CHECK(result.hosts[0].bytes_delivered <= (22 + 2 * 4) * 4096); // and what was read ahead meanwhile
}

TEST_CASE("a file-sharded plan is repeated as the loader reads it, whatever its remainder") {
    VirtualRun run("null:", "tensorflow");
    run.workload.dataset.num_files_train = 7;
    run.workload.dataset.num_samples_per_file = 5;
    run.workload.reader.batch_size = 3;
    run.workload.reader.read_threads = GENERATE(1, 2, 4, 16);
    run.workload.reader.file_shuffle = Shuffle::seed;
    run.accelerators = GENERATE(1, 2, 3);
    Job job(run);
    const RunResult result = job.must_run({.seconds = 3});
    check_invariants(result); // every sample as planned
    CHECK(result.epochs[0].step_count == 30);
}

TEST_CASE("steps that are longer than the limit: so many as asked are measured, but not for ever") {
    VirtualRun run("model:latency=2s");
    run.workload.reader.read_threads = 1;
    run.workload.reader.prefetch_size = 1;
    Job job(run);
    const RunResult patient = job.must_run({.seconds = 0.5, .least_step_count = 3, .grace_s = 1000});
    check_invariants(patient);
    CHECK(patient.epochs[0].step_count == 3);

    run.workload.dataset.data_folder = "model:latency=60s";
    const std::uint64_t before = job.clock->now_ns();
    const RunResult cut = job.must_run({.seconds = 1, .settle_s = GENERATE(0.0, 0.5), .grace_s = 4});
    CHECK(cut.status == "complete");
    CHECK(cut.epochs[0].step_count == 0);
    CHECK_FALSE(cut.epochs[0].samples_proved);
    CHECK(reason_of(cut.metrics, "au_mean_percentage") == "no_steps");
    CHECK(note_of(cut).evidence.find("cut short") != std::string::npos);
    CHECK(job.clock->now_ns() - before < 130 * kNsPerS); // its reads are waited for, and no others are begun

    run.workload.dataset.data_folder = "null:";
    CHECK(job.must_run({.seconds = 1}).epochs[0].step_count == 10); // the cut is of no consequence for the next run
}

TEST_CASE("short runs follow each other in one job, each with its own accelerators, storage and think time") {
    VirtualRun run("model:latency=1ms");
    Job job(run);
    for (const std::uint32_t accelerators : {1u, 7u, 64u, 2u}) {
        const RunResult result = job.must_run({.accelerator_count = accelerators, .seconds = 2, .settle_s = 0.5});
        check_invariants(result);
        CHECK(result.accelerator_count == accelerators);
        CHECK(result.backend == "model");
        CHECK(value_of(result.metrics, "au_mean_percentage") > 99);
    }
    const RunResult other = job.must_run({.storage = "null:", .seconds = 2, .think_s = 0.5});
    CHECK(other.backend == "null");
    CHECK(other.epochs[0].step_count == 4);
    CHECK(other.epochs[0].attribution.think_s == Approx(2));
    CHECK(run.workload.dataset.data_folder == "model:latency=1ms");
}

TEST_CASE("an error and a signal end a short run as an error") {
    VirtualRun run("fault:error=EIO@20,on=read;inner=null:");
    Job job(run);
    auto failed = workloads::run_short(job.request, {.seconds = 100});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::storage);
    CHECK(failed.error().errno_value == EIO);

    VirtualRun calm;
    Job interrupted(calm);
    static volatile std::sig_atomic_t signal = SIGINT;
    interrupted.request.signal = &signal;
    auto result = workloads::run_short(interrupted.request, {.seconds = 100});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::interrupted);
}

TEST_CASE("short runs of random configurations, from many seeds: whole, proved, and never longer than they may be") {
    int whole = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        INFO("seed " << seed);
        Random random(stream_seed(seed, "short run"));
        const auto pick = [&random](std::uint64_t low, std::uint64_t high) {
            return low + static_cast<std::uint64_t>(random.uniform() * static_cast<double>(high - low + 1));
        };
        const char* storages[] = {"null:", "model:latency=3ms,jitter=2ms", "model:bandwidth=2e7", "model:iops=900"};
        const char* loaders[] = {"pytorch", "tensorflow", "native"};
        VirtualRun run(storages[pick(0, 3)], loaders[pick(0, 2)]);
        Workload& w = run.workload;
        run.seed = seed;
        run.accelerators = static_cast<std::uint32_t>(pick(1, 6));
        w.reader.batch_size = static_cast<std::uint32_t>(pick(1, 5));
        w.reader.read_threads = static_cast<std::uint32_t>(pick(1, 4));
        w.reader.prefetch_size = static_cast<std::uint32_t>(pick(0, 4));
        w.dataset.num_samples_per_file = static_cast<std::uint32_t>(pick(1, 4));
        w.dataset.num_files_train = run.accelerators * w.reader.batch_size + pick(0, 30);
        w.dataset.record_length_bytes = static_cast<double>(pick(100, 200'000));
        w.reader.file_shuffle = static_cast<Shuffle>(pick(0, 2));
        run.think(0.001 * static_cast<double>(pick(0, 40)) + 0.0005);
        ShortRun how{.seconds = 0.01 * static_cast<double>(pick(1, 100)),
                     .settle_s = 0.01 * static_cast<double>(pick(0, 40)),
                     .least_step_count = pick(0, 5),
                     .grace_s = pick(0, 1) == 0 ? 0.2 : 100};
        Job job(run);
        const std::uint64_t before = job.clock->now_ns();
        const RunResult result = job.must_run(how);
        // The last reads are waited for: at most 24 of 256 KiB at 20 MB/s.
        CHECK(seconds(job.clock->now_ns() - before) < how.settle_s + how.seconds + how.grace_s + 1);
        if (note_of(result).evidence.find("cut short") != std::string::npos) {
            CHECK(how.grace_s < 1);
            continue;
        }
        ++whole;
        if (how.settle_s == 0)
            check_invariants(result);
        else { // what was read before it was measured is handed over later
            check_books(result);
            CHECK(result.valid);
        }
        CHECK(result.epochs[0].samples_proved);
        const EpochResult& epoch = result.epochs[0];
        CHECK(epoch.step_count >= std::max<std::uint64_t>(how.least_step_count, 1));
        CHECK(epoch.end_s - epoch.start_s >= how.seconds);
        const RunResult again = job.must_run(how);
        CHECK(again.status == "complete");
    }
    CHECK(whole > 100);
}

TEST_CASE("ranks on their own clocks end every short run in the same step") {
    VirtualRun run;
    run.think(0.001);
    run.accelerators = 6;
    run.workload.dataset.num_files_train = 18;
    const std::vector<int> hosts = GENERATE(std::vector<int>{2}, std::vector<int>{1, 1, 1});
    FakeRanks ranks(hosts);
    std::vector<std::string> status(static_cast<std::size_t>(ranks.size()));
    std::vector<RunResult> results(3);
    ranks.run([&](cluster::Communicator& communicator) {
        auto clock = engine::make_real_clock();
        auto reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();
        workloads::RunRequest request;
        request.workload = &run.workload;
        request.communicator = &communicator;
        request.reactor = reactor.get();
        request.accelerator_count = 6;
        request.run_seed = 1;
        for (std::size_t i = 0; i < results.size(); ++i) {
            auto result = workloads::run_short(request, {.seconds = 0.03, .settle_s = i == 1 ? 0.02 : 0});
            status[static_cast<std::size_t>(communicator.rank())] +=
                result ? result->status + " " : result.error().describe();
            if (communicator.rank() == 0 && result) results[i] = std::move(*result);
        }
    });
    for (const std::string& one : status) CHECK(one == "complete complete complete ");
    for (const RunResult& result : results) {
        REQUIRE(result.epochs.size() == 1);
        CHECK(result.valid);
        CHECK(result.epochs[0].samples_proved);
        CHECK(result.epochs[0].step_count >= 2);
        CHECK(result.epochs[0].sample_count == 6 * result.epochs[0].step_count); // all accelerators of all ranks
        CHECK(result.hosts.size() == hosts.size());
    }
}

TEST_CASE("metric.instrumentation none: the same run, but nothing that could be judged") {
    VirtualRun run("model:latency=2ms", GENERATE("pytorch", "tensorflow", "native"));
    run.accelerators = 2;
    const RunResult full = run.must_run();
    run.workload.metric.instrumentation = "none";
    const RunResult off = run.must_run();
    CHECK(off.status == "complete");
    for (const char* key : {"au_mean_percentage", "delivered_MB_per_second", "step_count"})
        CHECK(value_of(off.metrics, key) == Approx(value_of(full.metrics, key)));
    CHECK(off.epochs.at(0).samples_proved);
    CHECK_FALSE(full.verdict.empty());
    CHECK(off.verdict.empty());
    CHECK_FALSE(off.valid);
    CHECK_FALSE(full.slices.empty());
    CHECK(off.slices.empty());
    for (const HistogramData& histogram : off.histograms) CHECK(histogram.count == 0);
    CHECK(off.loader_time.in_flight_s == 0);
    CHECK(full.loader_time.in_flight_s > 0);
}
