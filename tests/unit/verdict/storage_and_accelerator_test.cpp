#include <catch2/catch.hpp>

#include "harness/verdict/facts.hpp"
#include "tests/unit/verdict/results.hpp"

using namespace feedbench;
using namespace feedbench::verdict::test;
using verdict::accelerator_bound;
using verdict::inconclusive;
using verdict::storage_bound;

TEST_CASE("lost time: the barrier goes to whose stalls can explain it, the rest to think times") {
    RunResult r = honest(); // the example of facts.cpp
    r.attribution = {.think_s = 65, .storage_wait_s = 40, .client_wait_s = 5, .barrier_wait_s = 90, .total_s = 200};
    verdict::LostTime lost = verdict::lost_time(r);
    CHECK(lost.storage_s == Approx(120));
    CHECK(lost.client_s == Approx(15));
    CHECK(lost.imbalance_s == Approx(0).margin(1e-9));
    r.attribution.storage_wait_s = 2;
    r.attribution.client_wait_s = 1;
    lost = verdict::lost_time(r);
    CHECK(lost.storage_s == Approx(8));
    CHECK(lost.client_s == Approx(4));
    CHECK(lost.imbalance_s == Approx(81));
    CHECK(lost.lost_s() == Approx(93));
    r.config = {{"train.computation_time", "0.02", "test", ""}};
    lost = verdict::lost_time(r);
    CHECK(lost.imbalance_s == 0);
    CHECK(lost.client_s == Approx(85)); // constant think times do not differ: the barrier itself
    r.config.push_back({"train.computation_time_stdev", "0.01", "test", ""});
    CHECK(verdict::lost_time(r).imbalance_s == Approx(81));
    r.config = {{"train.computation_time", "{mean: 0.02, stdev: 0.01, type: normal}", "test", ""}};
    CHECK(verdict::lost_time(r).imbalance_s == Approx(81));
    r.accelerator_count = 1;
    CHECK(verdict::lost_time(r).imbalance_s == Approx(90)); // nobody else to wait for
}

TEST_CASE("time lost to reads in flight is storage-bound, with the rates and the client's room") {
    const auto evidence = storage_bound(slow_storage());
    REQUIRE(evidence);
    INFO(evidence->words);
    CHECK(has(evidence->words, "lost 75.0 % of their time in the blocks, 98.4 % of that to reads in flight"));
    CHECK(has(evidence->words, "It delivered 100 MB/s; to keep them busy it would take 400 MB/s"));
    CHECK(has(evidence->words, "the run reached 2.5 % of its ceiling of 4000 MB/s"));
    CHECK(has(evidence->words, "CPUs busy: 10.0 % at most"));
    CHECK(fact_of(*evidence, "storage_share_of_lost") == Approx(0.6 / 0.61));
    CHECK(verdict_of(slow_storage()) == "storage-bound");
    CHECK_FALSE(storage_bound(honest()));
}

TEST_CASE("storage-bound says what it does not know: no ceiling, no cache evidence") {
    RunResult r = slow_storage();
    std::erase_if(r.metrics, [](const Metric& row) { return row.key.find("ceiling") != std::string::npos; });
    r.ceiling_reason = "turned off";
    for (EpochResult& epoch : r.epochs) epoch.hosts.clear();
    const auto evidence = storage_bound(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "ceiling was not measured (turned off)"));
    CHECK(has(evidence->words, "Whether a cache helped is not known: the result holds no cache evidence"));
    r.virtual_time = true;
    CHECK(has(storage_bound(r)->words, "costs nothing in virtual time"));
    CHECK_FALSE(has(storage_bound(r)->words, "cache helped"));
}

TEST_CASE("95 % AU is the edge between storage-bound and accelerator-bound") {
    RunResult r = honest();
    set_shares(r, {.storage = 0.05});
    set_metric(r, "au_mean_percentage", 95.1);
    CHECK(verdict_of(r) == "accelerator-bound");
    set_metric(r, "au_mean_percentage", 94.9);
    CHECK(verdict_of(r) == "storage-bound");
}

TEST_CASE("T15: an AU that only the excluded first step makes is not praised") {
    RunResult r = honest();
    set_shares(r, {.storage = 0.985});
    set_metric(r, "au_mean_percentage", 100);
    CHECK_FALSE(accelerator_bound(r));
    REQUIRE(storage_bound(r));
    CHECK(has(storage_bound(r)->words, "AU is 100.0 % only because the rules leave out the first step"));
    CHECK(verdict_of(r) == "storage-bound");
    set_shares(r, {.storage = 0.19}); // a start-up of less than a fifth is one
    CHECK(verdict_of(r) == "accelerator-bound");
}

TEST_CASE("busy accelerators over proven reads are accelerator-bound") {
    const auto evidence = accelerator_bound(honest());
    REQUIRE(evidence);
    CHECK(has(evidence->words, "AU is 99.2 %: accelerators were busy 99.0 %"));
    CHECK(fact_of(*evidence, "au_mean_percentage") == 99.2);
    CHECK_FALSE(accelerator_bound(slow_storage()));
}

TEST_CASE("accelerator-bound is never said of cached reads, nor without knowing where bytes came from") {
    RunResult r = honest();
    r.epochs[1].hosts[0].cache.source_bytes = 0;
    CHECK_FALSE(accelerator_bound(r));
    CHECK(fired(r) == std::vector<std::string>{"cached"});

    r = honest();
    r.epochs[1].hosts[0].cache.source_bytes = std::nullopt;
    r.epochs[1].hosts[0].cache.source_reason = "overlay on two devices";
    CHECK(accelerator_bound(r)); // buffered, sampled, not resident
    r.epochs[1].hosts[0].cache.sampled_page_count = 0;
    CHECK_FALSE(accelerator_bound(r));
    REQUIRE(inconclusive(r));
    CHECK(has(inconclusive(r)->words, "epoch 2 on host h1: nothing watched where the bytes came from (overlay"));
    CHECK(verdict_of(r) == "inconclusive");

    r = honest();
    r.epochs.clear(); // an older result
    CHECK(verdict_of(r) == "inconclusive");
    r.virtual_time = true;
    CHECK(verdict_of(r) == "accelerator-bound");
}

TEST_CASE("storage with no cache in front of it needs no device to be watched") {
    RunResult r = honest();
    for (EpochResult& epoch : r.epochs) {
        epoch.hosts[0].cache = {};
        epoch.hosts[0].cache.source_kind = "none";
    }
    CHECK(verdict_of(r) == "accelerator-bound");
}

TEST_CASE("think times that differ are the accelerators' own") {
    RunResult r = honest();
    set_shares(r, {.storage = 0.001, .client = 0.001, .barrier = 0.3});
    set_metric(r, "au_mean_percentage", 70);
    CHECK_FALSE(storage_bound(r));
    REQUIRE(accelerator_bound(r));
    CHECK(has(accelerator_bound(r)->words, "their think times differ"));
    CHECK(verdict_of(r) == "accelerator-bound");
}

TEST_CASE("no cause that explains half is inconclusive, with the three shares") {
    RunResult r = honest();
    set_shares(r, {.storage = 0.1, .client = 0.05, .barrier = 0.65});
    set_metric(r, "au_mean_percentage", 20);
    r.accelerator_count = 2; // explains 0.15 of the barrier
    REQUIRE(inconclusive(r));
    CHECK(verdict_of(r) == "accelerator-bound"); // 0.5 of 0.8 is imbalance
    set_shares(r, {.storage = 0.15, .client = 0.14, .barrier = 0.5});
    CHECK(verdict_of(r) == "inconclusive");
    verdict::conclude(r);
    CHECK(r.valid);
    CHECK(has(r.findings.back().evidence, "storage 38.0 %, client 35.4 %, think times that differ 26.6 %"));
}

TEST_CASE("without AU a busy run is inconclusive, and a waiting one is still judged") {
    RunResult r = honest();
    set_metric(r, "au_mean_percentage", std::nullopt, "metric_window_empty");
    CHECK(verdict_of(r) == "inconclusive");
    CHECK(has(inconclusive(r)->words, "at least two steps"));
    set_shares(r, {.storage = 0.4});
    CHECK(verdict_of(r) == "storage-bound");
}

TEST_CASE("accelerators that do not think are no load that a storage could satisfy") {
    RunResult r = honest();
    r.attribution = {.storage_wait_s = 100, .total_s = 100};
    set_metric(r, "au_mean_percentage", 0);
    CHECK(verdict_of(r) == "storage-bound");
}
