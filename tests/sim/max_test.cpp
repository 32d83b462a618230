// `feedbench max` in virtual time: on a model: storage of known capacity it finds the N that full runs of every N give.
#include "tests/support/virtual_run.hpp"

#include <csignal>

#include "workloads/max.hpp"

using namespace feedbench;
using namespace feedbench::test;
using workloads::MaxRequest;

namespace {

struct Messages final : RunObserver {
    void on_message(std::string_view message) override { text += std::string(message) + "\n"; }
    void on_progress(const Progress& progress) override {
        ++progress_count;
        if (progress.eta_s >= 0) eta_s = progress.eta_s;
    }
    std::string text;
    int progress_count = 0;
    double eta_s = -1;
};

// A job in virtual time that searches.
struct Search {
    VirtualRun run;
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();
    std::unique_ptr<cluster::Communicator> communicator = cluster::make_single();
    MaxRequest request;
    Messages messages;

    explicit Search(VirtualRun virtual_run) : run(std::move(virtual_run)) {
        request.base.workload = &run.workload;
        request.base.communicator = communicator.get();
        request.base.reactor = reactor.get();
        request.base.run_seed = run.seed;
        request.base.observer = &messages;
    }
    Search(Search&&) = delete;

    RunResult must_find() {
        auto result = workloads::run_max(request);
        if (!result) FAIL(result.error().describe());
        CHECK(reactor->in_flight() == 0);
        return std::move(*result);
    }
    std::string refusal() {
        auto result = workloads::run_max(request);
        REQUIRE_FALSE(result);
        CHECK(exit_code(result.error().kind) == 2);
        return result.error().message;
    }
};

// 100 ms to think about 2 samples of 400 kB: an accelerator takes 8 MB/s, in 20 reads and 20 opens a second.
VirtualRun training(const std::string& storage, const std::string& loader = "pytorch") {
    VirtualRun run(storage, loader);
    run.workload.dataset.num_files_train = 8'000;
    run.workload.dataset.record_length_bytes = 400'000;
    run.workload.reader.batch_size = 2;
    run.workload.reader.transfer_size = 1 << 20;
    run.workload.reader.read_threads = 2;
    run.workload.train.epochs = 1;
    return run;
}

// The largest N whose run of full length reaches the bar: every N is played.
std::uint32_t by_brute_force(VirtualRun run, double bar_percentage, std::uint32_t from, std::uint32_t to) {
    std::uint32_t last = 0;
    for (std::uint32_t n = from; n <= to; ++n) {
        run.accelerators = n;
        if (value_of(run.must_run().metrics, "au_mean_percentage") >= bar_percentage) last = n;
    }
    return last;
}

const ScalingPoint& point_at(const RunResult& result, std::uint32_t count) {
    for (const ScalingPoint& point : result.scaling)
        if (point.accelerator_count == count) return point;
    FAIL("nothing on the curve at " << count);
    return result.scaling.front();
}

} // namespace

TEST_CASE("max finds exactly the N that full runs of every N give", "[long]") {
    struct Case {
        const char* storage;
        const char* loader;
        std::uint32_t about; // capacity / (8 MB/s x 0.9), or operations / (40 a second x 0.9), by hand
    };
    for (const Case& one : {Case{"model:bandwidth=100MB", "pytorch", 13}, Case{"model:bandwidth=333MB", "pytorch", 46},
                            Case{"model:bandwidth=100MB,latency=2ms", "native", 13},
                            Case{"model:bandwidth=210MB,open_latency=1ms", "tensorflow", 29},
                            Case{"model:iops=425", "pytorch", 11}, Case{"model:iops=750,latency=1ms", "native", 20}}) {
        INFO(one.storage << " " << one.loader);
        const VirtualRun run = training(one.storage, one.loader);
        Search search(run);
        search.request.bar = 0.9;
        const RunResult result = search.must_find();
        const std::uint32_t found = static_cast<std::uint32_t>(value_of(result.metrics, "max_accelerator_count"));
        CHECK(found == by_brute_force(run, 90, one.about > 6 ? one.about - 6 : 1, one.about + 6));
        CHECK(found == Approx(one.about).margin(2));
        CHECK(result.kind == "max");
        CHECK(result.status == "complete");
        CHECK(result.valid);
        CHECK(result.accelerator_count == found);
        CHECK(value_of(result.metrics, "au_mean_percentage") >= 90);
        CHECK(point_at(result, found).passed);
        CHECK(point_at(result, found).confirmed);
        CHECK_FALSE(point_at(result, found + 1).passed);
        CHECK_THAT(result.scaling_stop, Catch::StartsWith("storage: with " + std::to_string(found + 1)));
        for (std::size_t i = 1; i < result.scaling.size(); ++i)
            CHECK(result.scaling[i].accelerator_count > result.scaling[i - 1].accelerator_count);
        CHECK(search.messages.progress_count > 2);
        CHECK(search.messages.eta_s > 0);
    }
}

TEST_CASE("latency alone is no limit of the sum: max goes on to the limit") {
    // 2 samples at 10 ms each, two workers: 10 ms a batch, and nothing is shared.
    Search search(training("model:latency=10ms"));
    search.request.limit = 120;
    RunResult result = search.must_find();
    CHECK(value_of(result.metrics, "max_accelerator_count") == 120);
    CHECK_THAT(result.scaling_stop, Catch::StartsWith("limit: 120 accelerators"));
    CHECK_THAT(result.scaling_stop, Catch::Contains("--limit"));
}

TEST_CASE("the dataset ends the search where an epoch would have no second step") {
    VirtualRun run = training("null:");
    run.workload.dataset.num_files_train = 250;
    Search search(std::move(run));
    RunResult result = search.must_find();
    CHECK(value_of(result.metrics, "max_accelerator_count") == 62); // 250 / (2 x 2)
    CHECK_THAT(result.scaling_stop, Catch::StartsWith("dataset: 62 accelerators"));
}

TEST_CASE("storage too slow for one accelerator: N is 0, with the reason and the curve") {
    Search search(training("model:bandwidth=3MB"));
    const RunResult result = search.must_find();
    CHECK(value_of(result.metrics, "max_accelerator_count") == 0);
    REQUIRE(result.scaling.size() == 1);
    CHECK(result.scaling[0].accelerator_count == 1);
    CHECK_FALSE(result.scaling[0].passed);
    CHECK(*result.scaling[0].au_percentage == Approx(37.5).margin(1));
    CHECK_THAT(result.scaling_stop, Catch::StartsWith("storage: with 1 "));
    CHECK_THAT(result.scaling_stop, Catch::Contains("N is 0"));
}

TEST_CASE("the bar is --au, else the workload's, else 90 % with a note") {
    const auto bar = [](double asked, std::optional<double> of_workload) {
        VirtualRun run = training("model:bandwidth=100MB");
        run.workload.metric.au_is_set = of_workload.has_value();
        run.workload.metric.au = of_workload.value_or(0.9);
        Search search(std::move(run));
        search.request.bar = asked;
        search.request.confirm = false;
        RunResult result = search.must_find();
        const bool noted = std::any_of(result.findings.begin(), result.findings.end(),
                                       [](const Finding& finding) { return finding.rule == "max_bar"; });
        CHECK(noted == (asked == 0 && !of_workload));
        return value_of(result.metrics, "max_accelerator_count");
    };
    CHECK(bar(0, {}) == 13);     // 100 / 8 / 0.9 = 13.9
    CHECK(bar(0, 0.7) == 17);    // 17.9
    CHECK(bar(0.55, 0.7) == 22); // 22.7
}

TEST_CASE("without a run of full length the result says so") {
    Search search(training("model:bandwidth=100MB"));
    search.request.confirm = false;
    const RunResult result = search.must_find();
    CHECK(value_of(result.metrics, "max_accelerator_count") == 13);
    for (const ScalingPoint& point : result.scaling) CHECK_FALSE(point.confirmed);
    CHECK(std::any_of(result.findings.begin(), result.findings.end(),
                      [](const Finding& finding) { return finding.rule == "max_not_confirmed"; }));
}

TEST_CASE("a search that is interrupted tells the curve so far") {
    static volatile std::sig_atomic_t signal;
    signal = 0;
    Search search(training("model:bandwidth=100MB"));
    search.request.base.signal = &signal;
    int trials = 0;
    search.request.on_trial = [&](const RunResult& so_far) {
        CHECK(so_far.status == "incomplete");
        CHECK(so_far.scaling.size() >= 1);
        if (++trials == 2) signal = 2;
    };
    const RunResult result = search.must_find();
    CHECK(result.status == "interrupted");
    CHECK_FALSE(result.valid);
    CHECK(result.scaling.size() == 2);
    CHECK(reason_of(result.metrics, "max_accelerator_count") == "search_interrupted");
    CHECK_THAT(result.scaling_stop, Catch::Contains("interrupted"));
    // Before anything is known there is nothing to tell.
    Search early(training("model:bandwidth=100MB"));
    early.request.base.signal = &signal;
    auto nothing = workloads::run_max(early.request);
    REQUIRE_FALSE(nothing);
    CHECK(nothing.error().kind == ErrorKind::interrupted);
}

TEST_CASE("what cannot be searched is refused in a sentence") {
    const auto refused = [](auto change) {
        Search search(training("null:"));
        change(search);
        return search.refusal();
    };
    CHECK_THAT(refused([](Search& s) { s.request.bar = 1.5; }), Catch::Contains("--au 1.5"));
    CHECK_THAT(refused([](Search& s) { s.request.bar = -0.1; }), Catch::Contains("--au -0.1"));
    CHECK_THAT(refused([](Search& s) { s.request.probe_s = 0; }), Catch::Contains("--probe-seconds"));
    CHECK_THAT(refused([](Search& s) { s.request.settle_s = -1; }), Catch::Contains("--settle-seconds"));
    CHECK_THAT(refused([](Search& s) { s.run.workload.workflow.train = false; }), Catch::Contains("does not train"));
    CHECK_THAT(refused([](Search& s) { s.run.think(0); }), Catch::Contains("think time"));
    CHECK_THAT(refused([](Search& s) { s.run.workload.train.total_training_steps = 1; }), Catch::Contains("1 step"));
    CHECK_THAT(refused([](Search& s) { s.run.workload.dataset.num_files_train = 3; }), Catch::Contains("2 steps"));
    CHECK_THAT(refused([](Search& s) { s.run.workload.dataset.num_files_train = 1; }), Catch::Contains("too few"));
}
