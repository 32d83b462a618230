// A host's evidence from its ranks', and runs whose storage has no source to count.
#include <catch2/catch.hpp>

#include "tests/support/virtual_run.hpp"
#include "workloads/cache_watch.hpp"

using namespace feedbench;
using namespace feedbench::workloads;

namespace {

RankEvidence rank(bool first) {
    RankEvidence one;
    one.counts_host = first;
    CacheEvidence& e = one.evidence;
    e.bytes_delivered = 100;
    if (first) {
        e.source_kind = "block";
        e.source = "vda (ext4 on /a:b 7)";
        e.source_bytes = 150;
    }
    e.process_read_bytes = 70;
    e.sampled_page_count = 8;
    e.resident_page_count = 2;
    e.residency_method = "cachestat";
    e.drop_outcome = first ? "dropped" : "not asked";
    e.drop_s = first ? 0.5 : 0;
    return one;
}

} // namespace

TEST_CASE("what one rank sends is what rank 0 gets") {
    RankEvidence sent = rank(true);
    sent.evidence.source_reason = "3:of\nall";
    sent.evidence.residency_reason = "";
    const RankEvidence got = RankEvidence::from_bytes(sent.to_bytes());
    CHECK(got.to_bytes() == sent.to_bytes());
    CHECK(got.counts_host);
    CHECK(got.evidence.source == sent.evidence.source);
    CHECK(got.evidence.source_reason == sent.evidence.source_reason);
    CHECK(got.evidence.source_bytes == 150.0);
    CHECK(got.evidence.drop_s == Approx(0.5));
    sent.evidence.source_bytes.reset();
    CHECK_FALSE(RankEvidence::from_bytes(sent.to_bytes()).evidence.source_bytes);
}

TEST_CASE("ranks of a host: their own reads add up, the host's counter is told once") {
    const CacheEvidence host = merge_evidence({rank(true), rank(false), rank(false)});
    CHECK(host.bytes_delivered == 300);
    CHECK(host.source_bytes == 150.0);
    CHECK(host.source_kind == "block");
    CHECK(host.process_read_bytes == 210.0);
    CHECK(host.sampled_page_count == 24);
    CHECK(host.resident_page_count == 6);
    CHECK(host.drop_outcome == "dropped");
    CHECK(host.drop_s == 0.5);
    RankEvidence silent = rank(false);
    silent.evidence.process_read_bytes.reset();
    silent.evidence.drop_outcome = "timeout";
    silent.evidence.drop_s = 2;
    const CacheEvidence partly = merge_evidence({rank(true), silent});
    CHECK_FALSE(partly.process_read_bytes);
    CHECK(partly.drop_outcome == "timeout");
    CHECK(partly.drop_s == 2);
}

TEST_CASE("a warning for every outcome that is not what was asked for") {
    CacheEvidence e;
    for (const char* fine : {"not asked", "dropped"}) {
        e.drop_outcome = fine;
        CHECK_FALSE(drop_warning(e, "h1", 0, 0));
    }
    for (const char* bad : {"not offered", "not permitted", "timeout"}) {
        e.drop_outcome = bad;
        const auto warning = drop_warning(e, "h1", 1, 1);
        REQUIRE(warning);
        CHECK(warning->verdict == "warning");
        CHECK(warning->evidence.find("epoch 2: the page cache of host h1 was not dropped: ") == 0);
        CHECK(warning->evidence.find(bad) != std::string::npos);
    }
}

TEST_CASE("the same outcome epoch after epoch is one warning, another outcome another one") {
    DropWarnings warnings;
    std::vector<Finding> findings{{"other", "note", "before", {}}};
    const auto add = [&](const char* outcome, std::uint32_t epoch) {
        CacheEvidence e;
        e.drop_outcome = outcome;
        warnings.add(e, "h1", epoch, findings);
    };
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) add("not permitted", epoch);
    REQUIRE(findings.size() == 2);
    CHECK(findings[1].evidence == "epochs 1 to 3: the page cache of host h1 was not dropped: not permitted");
    add("dropped", 3);
    add("not permitted", 4);
    add("timeout", 5);
    REQUIRE(findings.size() == 4);
    CHECK(findings[0].evidence == "before");
    CHECK(findings[2].evidence == "epoch 5: the page cache of host h1 was not dropped: not permitted");
    CHECK(findings[3].evidence.find("epoch 6: the page cache of host h1 was not dropped: timeout after 0 s") == 0);
}

TEST_CASE("in virtual time there is no machine to ask, and every field says so") {
    test::VirtualRun run("model:bandwidth=1GB,latency=0.001");
    run.workload.reader.drop_cache = "fadvise";
    run.workload.train.epochs = 2;
    const RunResult result = run.must_run();
    REQUIRE(result.epochs.size() == 2);
    for (const EpochResult& epoch : result.epochs) {
        REQUIRE(epoch.hosts.size() == 1);
        const CacheEvidence& cache = epoch.hosts[0].cache;
        CHECK(cache.bytes_delivered == epoch.bytes_delivered);
        CHECK(cache.bytes_delivered > 0);
        CHECK(cache.source_kind == "none");
        CHECK_FALSE(cache.source_bytes);
        CHECK_FALSE(cache.process_read_bytes);
        CHECK(cache.sampled_page_count == 0);
        for (const std::string* reason : {&cache.source_reason, &cache.residency_reason})
            CHECK(reason->find("virtual time") != std::string::npos);
    }
    const HostFacts& host = result.hosts.at(0);
    CHECK_FALSE(host.nic_bytes_per_second);
    CHECK_FALSE(host.memory_bytes_per_second);
    CHECK_FALSE(host.cpu_allowed);
}
