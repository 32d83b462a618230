#include <catch2/catch.hpp>

#include "tests/unit/verdict/results.hpp"

using namespace feedbench;
using namespace feedbench::verdict::test;
using verdict::implausible;

TEST_CASE("an honest run contradicts nothing, and neither does a slow one") {
    CHECK_FALSE(implausible(honest()));
    CHECK_FALSE(implausible(slow_storage()));
}

TEST_CASE("more than the line carries is implausible, with both numbers, where the data came over it") {
    RunResult r = honest();
    for (EpochResult& epoch : r.epochs) {
        epoch.hosts[0].cache.source_kind = "network";
        epoch.hosts[0].cache.source = "eth0";
    }
    r.hosts[0].nic_bytes_per_second = 50e6;
    const auto evidence = implausible(r);
    REQUIRE(evidence);
    CHECK(
        has(evidence->words, "In epoch 1 on host h1, 100 MB/s were delivered over eth0, whose line rate is 50.0 MB/s"));
    CHECK(fact_of(*evidence, "delivered_MB_per_second") == Approx(100));
    CHECK(fact_of(*evidence, "line_rate_MB_per_second") == Approx(50));
    CHECK(verdict_of(r) == "implausible");

    r.hosts[0].nic_bytes_per_second = 99e6; // within two hundredths
    CHECK_FALSE(implausible(r));
    r.hosts[0].nic_bytes_per_second = 97e6;
    CHECK(implausible(r));
    r.hosts[0].nic_bytes_per_second = std::nullopt;
    CHECK_FALSE(implausible(r));
    r.hosts[0].nic_bytes_per_second = 50e6;
    for (EpochResult& epoch : r.epochs) epoch.hosts[0].cache.source_kind = "block";
    CHECK_FALSE(implausible(r)); // a local disk has nothing to do with the interface
}

TEST_CASE("a cache explains a rate above the line: cached, no contradiction") {
    RunResult r = honest();
    for (EpochResult& epoch : r.epochs) {
        epoch.hosts[0].cache.source_kind = "network";
        epoch.hosts[0].cache.source_bytes = 1000;
    }
    r.hosts[0].nic_bytes_per_second = 50e6;
    CHECK_FALSE(implausible(r));
    CHECK(verdict_of(r) == "cached");
}

TEST_CASE("more than memory can move is implausible, unless nothing moved") {
    RunResult r = honest();
    r.hosts[0].memory_bytes_per_second = 90e6;
    const auto evidence = implausible(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "100 MB/s were delivered into a memory that was measured to give 90.0 MB/s"));
    RunResult simulated = r;
    simulated.virtual_time = true;
    CHECK_FALSE(implausible(simulated));
    for (EpochResult& epoch : r.epochs) epoch.hosts[0].cache.source_kind = "none";
    CHECK_FALSE(implausible(r));
}

TEST_CASE("fewer bytes than the samples hold are implausible, the left-out ones allowed for") {
    RunResult r = honest();
    set_metric(r, "bytes_delivered", 1.9e9);
    const auto evidence = implausible(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "1900 MB were delivered, but the samples that were read hold 1990 MB by the plan"));
    CHECK(fact_of(*evidence, "planned_bytes") == 1.99e9);
    set_metric(r, "dropped_sample_count", 50); // 2.4 % of all, three times that is allowed
    CHECK_FALSE(implausible(r));
    set_metric(r, "dropped_sample_count", 0);
    set_metric(r, "bytes_delivered", 5e9); // headers, and files that are read for one of their samples
    CHECK_FALSE(implausible(r));
    set_metric(r, "bytes_delivered", 1);
    set_metric(r, "planned_bytes", std::nullopt, "sizes_as_found");
    CHECK_FALSE(implausible(r));
}

TEST_CASE("T7: AU and samples/s that tell different stories are implausible") {
    RunResult r = honest();
    set_metric(r, "samples_per_second_mean", 200);
    set_metric(r, "au_identity_deviation", 0.0049);
    CHECK_FALSE(implausible(r));
    set_metric(r, "au_identity_deviation", 0.031);
    const auto evidence = implausible(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "AU is 99.20 % and 200.0 samples/s were counted"));
    CHECK(has(evidence->words, "differ by 3.1 %"));
    CHECK(fact_of(*evidence, "au_identity_deviation") == 0.031);
    set_metric(r, "au_identity_deviation", std::nullopt, "think_time_varies");
    CHECK_FALSE(implausible(r));
}

TEST_CASE("samples that were not proved are implausible, in words") {
    RunResult r = honest();
    r.epochs[1].samples_proved = false;
    const auto evidence = implausible(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "In epoch 2, the samples that were read are not those of the plan"));
    CHECK(verdict_of(r) == "implausible");
    r.hosts[0].memory_bytes_per_second = 1e6;
    CHECK(has(implausible(r)->words, "into a memory")); // every contradiction is said
}
