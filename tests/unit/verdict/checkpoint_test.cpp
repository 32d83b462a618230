// The rules of checkpoint runs: each fires where it must, and not where it must not.
#include <catch2/catch.hpp>

#include "harness/verdict/rule.hpp"
#include "results.hpp"

using namespace feedbench;
using feedbench::verdict::test::set_metric;

namespace {

// One host, one write and one read of 1 GB in 10 s, all of it through a block device, little of it spent on content.
RunResult honest() {
    RunResult r;
    r.kind = "checkpoint";
    r.status = "complete";
    r.valid = true;
    r.accelerator_count = 1;
    HostFacts host;
    host.name = "h1";
    host.cpu_count = 8;
    r.hosts = {host};
    for (const char* kind : {"write", "read"}) {
        CheckpointResult c;
        c.kind = kind;
        c.folder = "global_epoch1_step0";
        c.bytes = 1'000'000'000;
        c.duration_s = 10;
        c.fsync = true;
        CheckpointRankResult rank;
        rank.bytes = c.bytes;
        rank.duration_s = 10;
        rank.transfer_s = 7;
        rank.fsync_s = 2;
        rank.commit_s = 0.5;
        rank.content_s = 1;
        c.ranks = {rank};
        CheckpointHostResult part;
        part.host = "h1";
        part.bytes = c.bytes;
        part.host_cpu_s = 8;
        part.cache.source_kind = "block";
        part.cache.source = "vda";
        part.cache.source_bytes = 1.01e9;
        part.cache.drop_outcome = "dropped";
        c.hosts = {part};
        r.checkpoints.push_back(c);
    }
    return r;
}

RunResult judged(RunResult r) {
    verdict::conclude(r);
    REQUIRE_FALSE(r.findings.empty());
    return r;
}
bool says(const RunResult& r, const std::string& words) {
    return r.findings.front().evidence.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("an honest run is the storage's, with where the time went") {
    const RunResult r = judged(honest());
    CHECK(r.verdict == "storage-bound");
    CHECK(r.valid);
    CHECK(r.findings.size() == 1);
    CHECK(r.findings[0].rule == "checkpoint_storage");
    CHECK(says(r, "60.0 % of their time for data in flight, 20.0 % for fsync"));
}

TEST_CASE("C9: read back without a drop, from pages that lay in the cache") {
    RunResult r = honest();
    CacheEvidence& cache = r.checkpoints[1].hosts[0].cache;
    cache.drop_outcome = "not asked";
    cache.sampled_page_count = 1000;
    cache.resident_page_count = 998;
    RunResult resident = judged(r);
    CHECK(resident.verdict == "cached");
    CHECK_FALSE(resident.valid);
    CHECK(verdict::only_cached(resident));
    CHECK(says(resident, "998 of 1000 sampled pages"));
    CHECK(says(resident, "in 1 of 2"));
    r.odirect = true; // direct reads pass the cache by, whatever lies in it
    CHECK(judged(r).verdict == "storage-bound");
    r = honest();
    r.checkpoints[1].hosts[0].cache.source_bytes = 1e7;
    CHECK(judged(r).verdict == "cached");
}

TEST_CASE("written and not synced: what has not reached the device is in the page cache") {
    RunResult r = honest();
    r.checkpoints[0].fsync = false;
    r.checkpoints[0].hosts[0].cache.source_bytes = 3e8;
    const RunResult unsynced = judged(r);
    CHECK(unsynced.verdict == "cached");
    CHECK(says(unsynced, "of 1000 MB written, 300 MB had reached vda"));
    CHECK(says(unsynced, "checkpoint.fsync=True"));
    r.checkpoints[0].hosts[0].cache.source_bytes = 9.5e8; // it had, whoever asked for it
    CHECK(judged(r).verdict == "storage-bound");
}

TEST_CASE("content that took most of the time, saturated CPUs, or a run near its ceiling are the client's") {
    RunResult r = honest();
    for (auto& c : r.checkpoints) c.ranks[0].content_s = 6;
    RunResult by_content = judged(r);
    CHECK(by_content.verdict == "client-bound");
    CHECK(says(by_content, "60.0 % of their time making content"));
    CHECK(by_content.valid);
    for (auto& c : r.checkpoints) c.ranks[0].content_s = 3;
    CHECK(judged(r).verdict == "storage-bound");
    for (auto& c : r.checkpoints) c.hosts[0].host_cpu_s = 79;
    CHECK(judged(r).verdict == "client-bound");
    r = honest();
    set_metric(r, "achieved_over_ceiling", 0.93);
    set_metric(r, "ceiling_MB_per_second", 107);
    CHECK(judged(r).verdict == "client-bound");
    r.virtual_time = true;
    CHECK(judged(r).verdict == "storage-bound");
}

TEST_CASE("tmpfs is a note, an unknown source is said, and nothing finished is inconclusive") {
    RunResult r = honest();
    for (auto& c : r.checkpoints) {
        c.hosts[0].cache.source_kind = "memory";
        c.hosts[0].cache.source_bytes.reset();
    }
    const RunResult memory = judged(r);
    CHECK(memory.verdict == "storage-bound");
    CHECK(memory.findings.back().rule == "memory_storage");
    for (auto& c : r.checkpoints) {
        c.hosts[0].cache.source_kind = "block";
        c.hosts[0].cache.source_reason = "nobody counts it";
    }
    CHECK(
        says(judged(r), "Whether a cache helped is not known: write of global_epoch1_step0 on host h1: nobody counts"));
    for (auto& c : r.checkpoints) c.hosts[0].cache.source_kind = "none"; // null: there is nothing to come from
    CHECK_FALSE(says(judged(r), "not known"));
    r.checkpoints.clear();
    CHECK(judged(r).verdict == "inconclusive");
    // Inside training checkpoints have no verdict of their own.
    r = honest();
    r.kind = "training";
    for (const Finding& finding : judged(r).findings) CHECK(finding.rule.find("checkpoint_") == std::string::npos);
}

TEST_CASE("more than 30 s between write and read are noted, and clocks that differ") {
    RunResult r = honest();
    for (const auto& [gap_s, count] : {std::pair{29.9, 1u}, std::pair{30.1, 2u}, std::pair{-3.0, 2u}}) {
        r.checkpoint_gap_s = gap_s;
        const RunResult one = judged(r);
        CHECK(one.findings.size() == count);
        CHECK(one.verdict == "storage-bound");
        if (count == 2) CHECK(one.findings[1].rule == "checkpoint_gap");
    }
}
