#include <catch2/catch.hpp>

#include "tests/unit/verdict/results.hpp"

using namespace feedbench;
using namespace feedbench::verdict::test;
using verdict::cached;

namespace {
CacheEvidence& cache_of(RunResult& r, std::size_t epoch) { return r.epochs[epoch].hosts[0].cache; }
} // namespace

TEST_CASE("an honest run is not cached") { CHECK_FALSE(cached(honest())); }

TEST_CASE("C1: an epoch whose bytes did not come from the device is cached, with both numbers") {
    for (const char* kind : {"block", "network"}) {
        RunResult r = honest();
        for (std::size_t i : {0, 1}) cache_of(r, i).source_kind = kind;
        cache_of(r, 1).source_bytes = 50'000'000;
        const auto evidence = cached(r);
        REQUIRE(evidence);
        INFO(evidence->words);
        CHECK(has(evidence->words, "in 1 of 2 epochs and hosts"));
        CHECK(has(evidence->words, "epoch 2 on host h1: of 1000 MB delivered, 50.0 MB came from vda (ext4 on /data)"));
        CHECK(has(evidence->words, "(5.0 %)"));
        CHECK(fact_of(*evidence, "source_bytes_over_delivered") == Approx(0.05));
        CHECK(fact_of(*evidence, "source_bytes") == 50e6);
    }
}

TEST_CASE("nine tenths from the device is the edge") {
    RunResult r = honest();
    cache_of(r, 0).source_bytes = 901e6;
    CHECK_FALSE(cached(r));
    cache_of(r, 0).source_bytes = 899e6;
    CHECK(cached(r));
}

TEST_CASE("C9: files that lay in the page cache are cached although the device was busy, if reads were buffered") {
    RunResult r = honest();
    cache_of(r, 0).resident_page_count = 990;
    const auto evidence = cached(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "990 of 1000 sampled pages were in the page cache"));
    CHECK_FALSE(has(evidence->words, "of it for the ranks"));
    RunResult busy = r; // somebody else reads the same device
    cache_of(busy, 0).source_bytes = 8e9;
    cache_of(busy, 0).process_read_bytes = 2e6;
    CHECK(has(cached(busy)->words,
              "8000 MB came from vda (ext4 on /data) (800.0 %), 2.0 MB of it for the ranks of this"));
    r.odirect = true;
    CHECK_FALSE(cached(r));
    r.odirect = false;
    cache_of(r, 0).resident_page_count = 890;
    CHECK_FALSE(cached(r));
    cache_of(r, 0).sampled_page_count = cache_of(r, 0).resident_page_count = 15; // no sample
    CHECK_FALSE(cached(r));
}

TEST_CASE("memory storage is no cache: a note says that nothing lies below") {
    RunResult r = honest();
    for (std::size_t i : {0, 1}) {
        cache_of(r, i).source_kind = "memory";
        cache_of(r, i).source = "tmpfs on /dev/shm";
        cache_of(r, i).source_bytes = std::nullopt;
        cache_of(r, i).resident_page_count = 1000;
    }
    CHECK_FALSE(cached(r));
    const auto note = verdict::memory_storage(r);
    REQUIRE(note);
    CHECK(has(note->words, "tmpfs on /dev/shm"));
    CHECK(verdict_of(r) == "accelerator-bound");
    verdict::conclude(r);
    CHECK(r.valid);
    CHECK(r.findings.back().verdict == "note");
    CHECK_FALSE(verdict::memory_storage(honest()));
}

TEST_CASE("where no device was watched, only residency speaks") {
    RunResult r = honest();
    for (std::size_t i : {0, 1}) {
        cache_of(r, i).source_bytes = std::nullopt;
        cache_of(r, i).source_reason = "overlay";
    }
    CHECK_FALSE(cached(r));
    cache_of(r, 1).resident_page_count = 1000;
    CHECK(cached(r));
    for (std::size_t i : {0, 1}) cache_of(r, i).source_kind = "none"; // s3, null: there is no page cache
    CHECK_FALSE(cached(r));
}

TEST_CASE("data that a filesystem may compress or share may come from the device in fewer bytes") {
    RunResult r = honest();
    r.config = {{"dataset.compress_percent", "40", "test", ""}, {"dataset.dedupe_percent", "50", "test", ""}};
    cache_of(r, 0).source_bytes = 280e6; // 0.9 * 0.6 * 0.5 = 0.27
    CHECK_FALSE(cached(r));
    cache_of(r, 0).source_bytes = 260e6;
    CHECK(cached(r));
}

TEST_CASE("evaluation counts, nothing delivered does not, virtual time has no cache") {
    RunResult r = honest();
    cache_of(r, 1).source_bytes = 0;
    r.epochs[1].evaluation = true;
    REQUIRE(cached(r));
    CHECK(has(cached(r)->words, "evaluation of epoch 2"));
    RunResult simulated = r;
    simulated.virtual_time = true;
    CHECK_FALSE(cached(simulated));
    cache_of(r, 1).bytes_delivered = 0;
    CHECK_FALSE(cached(r));
}

TEST_CASE("the way out depends on what was tried") {
    RunResult r = honest();
    cache_of(r, 0).source_bytes = 0;
    const auto words = [&](const char* outcome) {
        cache_of(r, 0).drop_outcome = outcome;
        return cached(r)->words;
    };
    CHECK(has(words("not asked"), "Ask for reader.drop_cache=fadvise"));
    CHECK(has(words("dropped"), "filled again"));
    CHECK(has(words("not permitted"), "did not work (not permitted)"));
    CHECK(has(words("timeout"), "did not work (timeout)"));
    r.odirect = true;
    CHECK(has(words("not asked"), "below the page cache"));
}

TEST_CASE("the worst of several hosts is named") {
    RunResult r = honest();
    HostEpochResult second = r.epochs[0].hosts[0];
    second.host = "h2";
    second.cache.source_bytes = 10e6;
    r.epochs[0].hosts[0].cache.source_bytes = 500e6;
    r.epochs[0].hosts.push_back(second);
    const auto evidence = cached(r);
    REQUIRE(evidence);
    CHECK(has(evidence->words, "in 2 of 3 epochs and hosts"));
    CHECK(has(evidence->words, "epoch 1 on host h2"));
}
