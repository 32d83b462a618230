#include <catch2/catch.hpp>

#include "harness/verdict/facts.hpp"
#include "tests/unit/verdict/results.hpp"

using namespace feedbench;
using namespace feedbench::verdict::test;
using verdict::client_cpu;
using verdict::client_memory;
using verdict::client_network;

namespace {
RunResult starved() {
    RunResult r = honest();
    set_shares(r, {.storage = 0.05, .client = 0.5, .barrier = 0.1});
    set_metric(r, "au_mean_percentage", 35);
    return r;
}
} // namespace

TEST_CASE("time lost to the client makes a run client-bound, and names the CPU") {
    const RunResult r = starved();
    const auto evidence = client_cpu(r);
    REQUIRE(evidence);
    INFO(evidence->words);
    CHECK(has(evidence->words,
              "CPU of the client: accelerators lost 65.0 % of their time in the blocks, 90.9 % of that"));
    CHECK(fact_of(*evidence, "client_share_of_lost") == Approx(0.909).epsilon(0.001));
    CHECK(fact_of(*evidence, "cpu_share") == Approx(0.1));
    CHECK(verdict_of(r) == "client-bound");
    RunResult judged = r;
    verdict::conclude(judged);
    CHECK(judged.valid); // said loudly, and valid
    CHECK_FALSE(client_network(r));
    CHECK_FALSE(client_memory(r));
}

TEST_CASE("half of the lost time is the edge, and the storage takes over beyond it") {
    RunResult r = honest();
    set_metric(r, "au_mean_percentage", 50);
    set_shares(r, {.storage = 0.245, .client = 0.255});
    CHECK(verdict_of(r) == "client-bound");
    set_shares(r, {.storage = 0.255, .client = 0.245});
    CHECK(verdict_of(r) == "storage-bound");
}

TEST_CASE("a client that keeps accelerators busy is not to blame, whatever it does with its CPUs") {
    RunResult r = honest();
    set_metric(r, "achieved_over_ceiling", 0.99);
    r.epochs[0].hosts[0].host_cpu_s = 80;
    r.epochs[0].hosts[0].cache.source_kind = "network";
    r.hosts[0].nic_bytes_per_second = 100e6;
    CHECK_FALSE(client_cpu(r));
    CHECK_FALSE(client_network(r));
    CHECK_FALSE(client_memory(r));
}

TEST_CASE("with no CPU idle, a fifth of the lost time is enough") {
    RunResult r = slow_storage();
    set_shares(r, {.storage = 0.55, .client = 0.2});
    CHECK_FALSE(client_cpu(r));
    r.epochs[1].hosts[0].host_cpu_s = 78; // of 8 CPUs x 10 s
    const auto evidence = client_cpu(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "CPUs busy: 97.5 % in epoch 2 on host h1"));
    CHECK(verdict_of(r) == "client-bound");
    set_shares(r, {.storage = 0.65, .client = 0.1});
    CHECK(verdict_of(r) == "storage-bound");
}

TEST_CASE("a job that may use few CPUs and uses them up is saturated, though others are idle") {
    RunResult r = slow_storage();
    set_shares(r, {.storage = 0.55, .client = 0.2});
    r.hosts[0].cpu_allowed = 0.41;
    REQUIRE(client_cpu(r));
    CHECK(fact_of(*client_cpu(r), "cpu_share") == Approx(4 / 4.1));
    r.hosts[0].cpu_allowed = 2;
    CHECK_FALSE(client_cpu(r));
}

TEST_CASE("a run at the client's own ceiling is client-bound though reads were in flight") {
    RunResult r = slow_storage();
    set_metric(r, "achieved_over_ceiling", 0.93);
    const auto evidence = client_cpu(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "reached 93.0 % of the client's own ceiling"));
    set_metric(r, "achieved_over_ceiling", 0.89);
    CHECK_FALSE(client_cpu(r));
    set_metric(r, "achieved_over_ceiling", std::nullopt, "ceiling_not_measured");
    CHECK_FALSE(client_cpu(r));
    CHECK(verdict_of(r) == "storage-bound");
}

TEST_CASE("a client that loses most of it at a storage that costs nothing is starved, whatever reads seem to take") {
    RunResult r = slow_storage(); // AU 25 %
    HostCeiling ceiling;
    ceiling.host = "h1";
    ceiling.au_percentage = 41; // 1.44 s of 3 s beside each second of thinking
    r.ceilings = {ceiling};
    CHECK_FALSE(client_cpu(r));
    CHECK(verdict_of(r) == "storage-bound");
    r.ceilings[0].au_percentage = 39; // 1.56 s
    const auto evidence = client_cpu(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "At a storage that costs nothing its AU is 39.0 %"));
    CHECK(fact_of(*evidence, "ceiling_share_of_lost") == Approx((1 / 0.39 - 1) / 3));
    CHECK(verdict_of(r) == "client-bound");
    ceiling.host = "h2";
    ceiling.au_percentage = 99; // the slowest host decides
    r.ceilings.push_back(ceiling);
    CHECK(client_cpu(r));
    r.ceilings[0].au_percentage = std::nullopt;
    CHECK_FALSE(client_cpu(r));
}

TEST_CASE("the host that lost most is named where there are several") {
    RunResult r = starved();
    r.epochs[0].hosts[0].attribution.client_wait_s = 10;
    HostEpochResult second = r.epochs[0].hosts[0];
    second.host = "h2";
    second.attribution.client_wait_s = 90;
    r.epochs[0].hosts.push_back(second);
    CHECK(has(client_cpu(r)->words, "Most of it in epoch 1 on host h2."));
}

TEST_CASE("T14: a stall of one host's client is the client's on all, through the barrier") {
    RunResult r = honest();
    set_metric(r, "au_mean_percentage", 59);
    // one of four accelerators oversleeps 41 % of its time, the others wait for it
    set_shares(r, {.storage = 0.005, .client = 0.1025, .barrier = 0.3});
    const verdict::LostTime lost = verdict::lost_time(r);
    CHECK(lost.share(lost.client_s) > 0.9);
    CHECK(verdict_of(r) == "client-bound");
}

TEST_CASE("a full interface is the client's network, though accelerators waited for reads") {
    RunResult r = slow_storage();
    for (EpochResult& epoch : r.epochs) {
        epoch.hosts[0].cache.source_kind = "network";
        epoch.hosts[0].cache.source = "eth0";
    }
    r.hosts[0].nic_bytes_per_second = 110e6; // 1.001 GB in 10 s
    const auto evidence = client_network(r);
    REQUIRE(evidence);
    INFO(evidence->words);
    CHECK(has(evidence->words, "Network of the client"));
    CHECK(has(evidence->words, "eth0, 91.0 % of its line rate of 110 MB/s"));
    CHECK(verdict_of(r) == "client-bound");
    CHECK(fired(r).front() == "client_network");
    r.hosts[0].nic_bytes_per_second = 125e6;
    CHECK_FALSE(client_network(r));
    r.hosts[0].nic_bytes_per_second = std::nullopt;
    CHECK_FALSE(client_network(r));
    r.hosts[0].nic_bytes_per_second = 100e6;
    r.epochs[0].hosts[0].cache.source_kind = r.epochs[1].hosts[0].cache.source_kind = "block";
    CHECK_FALSE(client_network(r));
}

TEST_CASE("bytes as fast as memory moves them are the client's memory") {
    RunResult r = slow_storage();
    r.hosts[0].memory_bytes_per_second = 180e6;
    const auto evidence = client_memory(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "Memory of the client"));
    CHECK(has(evidence->words, "spares a copy"));
    CHECK(verdict_of(r) == "client-bound");
    r.odirect = true;
    CHECK_FALSE(has(client_memory(r)->words, "spares a copy"));
    r.hosts[0].memory_bytes_per_second = 210e6;
    CHECK_FALSE(client_memory(r));
    r.hosts[0].memory_bytes_per_second = 180e6;
    for (EpochResult& epoch : r.epochs) epoch.hosts[0].cache.source_kind = "none"; // null: moves nothing
    CHECK_FALSE(client_memory(r));
}

TEST_CASE("in virtual time the client cannot be the limit") {
    RunResult r = starved();
    r.virtual_time = true;
    r.hosts[0].memory_bytes_per_second = 1;
    CHECK_FALSE(client_cpu(r));
    CHECK_FALSE(client_memory(r));
    CHECK_FALSE(client_network(r));
}
