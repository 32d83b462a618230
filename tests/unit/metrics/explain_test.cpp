#include "harness/metrics/explain.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;
using metrics::explain;

namespace {
RunResult missed() {
    RunResult r;
    r.au_required = 0.9;
    r.accelerator_count = 4;
    r.batch_size = 7;
    r.think_time_mean_s = 0.323;
    r.data_loader = "pytorch";
    r.metrics = {{"au_mean_percentage", "%", 45.5, "", "rules"},
                 {"needed_MB_per_second", "MB/s", 12000, "", "bytes_over_think"},
                 {"delivered_MB_per_second", "MB/s", 5400, "", "bytes_over_window"},
                 {"effective_utilization_percentage", "%", 44.25, "", "think_over_wall"}};
    r.attribution = {
        .think_s = 45, .storage_wait_s = 40, .client_wait_s = 5, .barrier_wait_s = 8, .outside_s = 2, .total_s = 100};
    return r;
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
} // namespace

TEST_CASE("a missed bar is explained: needed, achieved, where the time went, what to change") {
    const std::string text = explain(missed());
    INFO(text);
    CHECK(has(text, "AU is 45.50 %, below the required 90.00 %"));
    CHECK(has(text, "4 accelerators that think 323.00 ms a batch of 7 would take 12000 MB/s"));
    CHECK(has(text, "10800 MB/s at the bar"));
    CHECK(has(text, "5400 MB/s were delivered"));
    CHECK(has(
        text,
        "45.0 % was think, 40.0 % waiting on storage, 5.0 % lost in the client, 8.0 % waiting at the step barrier"));
    CHECK(has(text, "needs about 2.00 times the rate"));
    CHECK(has(text, "reader.read_threads"));
    CHECK(has(text, "utilization was 44.25 %"));
    CHECK_FALSE(has(text, "\n"));
}

TEST_CASE("the client is blamed where the client was slow") {
    RunResult r = missed();
    r.attribution = {
        .think_s = 45, .storage_wait_s = 5, .client_wait_s = 40, .barrier_wait_s = 8, .outside_s = 2, .total_s = 100};
    const std::string text = explain(r);
    CHECK(has(text, "The client host was the bottleneck"));
    CHECK_FALSE(has(text, "did not deliver fast enough"));
}

TEST_CASE("the advice follows the verdict, whatever single sums say") {
    RunResult r = missed();
    const auto advice = [&](const char* verdict) {
        r.verdict = verdict;
        return explain(r);
    };
    CHECK(has(advice("client-bound"), "The client host was the bottleneck")); // though it waited 5 s of 100 only
    CHECK(has(advice("storage-bound"), "did not deliver fast enough"));
    CHECK(has(advice("cached"), "The run is cached: nothing follows"));
    CHECK(has(advice("implausible"), "The run is implausible"));
    CHECK(has(advice("inconclusive"), "No one cause explains"));
    CHECK(has(advice("accelerator-bound"), "waited for each other at the step barrier"));
    for (const char* other : {"cached", "implausible", "client-bound", "inconclusive", "accelerator-bound"})
        CHECK_FALSE(has(advice(other), "did not deliver fast enough"));
}

TEST_CASE("other accelerators' stalls, and a window with no waiting, have their own advice") {
    RunResult r = missed();
    r.attribution = {.think_s = 45, .barrier_wait_s = 53, .outside_s = 2, .total_s = 100};
    CHECK(has(explain(r), "waited for each other"));
    r.attribution = {.think_s = 45, .outside_s = 55, .total_s = 100};
    CHECK(has(explain(r), "too short for a judgement"));
}

TEST_CASE("a met bar, no bar, or no AU row needs no explanation") {
    RunResult r = missed();
    r.metrics[0].value = 90.0;
    CHECK(explain(r).empty());
    r = missed();
    r.au_required = 0;
    CHECK(explain(r).empty());
    CHECK(explain(RunResult()).empty());
    r = missed();
    r.metrics[0] = {"au_mean_percentage", "%", std::nullopt, "no_steps", "rules"};
    CHECK(explain(r) == "No training step was finished, so there is no AU.");
    r.metrics[0].reason = "metric_window_empty";
    CHECK(has(explain(r), "at least two steps"));
}
