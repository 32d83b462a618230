// The step log: totals at once, records spooled and replayed in order.
#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <cstdlib>

#include "harness/accelerator/step_log.hpp"

using namespace feedbench;
using accelerator::StepLog;

namespace {

StepRecord record_at(std::uint32_t accelerator, std::uint32_t step) {
    StepRecord r{};
    r.accelerator_index = accelerator;
    r.step_index = step;
    r.sample_count = 7;
    r.request_ns = step * 100ULL + 10;
    r.ready_ns = r.request_ns + 20;
    r.think_drawn_ns = 50;
    r.think_end_ns = r.ready_ns + 51;
    r.barrier_end_ns = r.request_ns + 90;
    r.storage_wait_ns = 15;
    r.client_wait_ns = 5;
    r.bytes_delivered = 1000 + step;
    return r;
}

void fill(StepLog& log, std::uint32_t steps) {
    const std::uint32_t accelerators[] = {4, 5};
    log.begin_block(accelerators, 0, 0);
    for (std::uint32_t step = 0; step < steps; ++step)
        for (std::uint32_t a = 0; a < 2; ++a) log.add(a, record_at(4 + a, step));
}

} // namespace

TEST_CASE("the step log replays every record in order, across the borders of its buffer and of the pieces") {
    // The buffer holds 4096 records: around it, and far beyond it.
    for (const std::uint32_t steps : {0U, 1U, 2047U, 2048U, 2049U, 10000U})
        for (const std::size_t chunk : {std::size_t{1000}, std::size_t{4096}, std::size_t{1} << 20}) {
            INFO(steps << " steps in pieces of " << chunk);
            StepLog log(true);
            fill(log, steps);
            REQUIRE(log.status());
            CHECK(log.record_count() == steps * 2);
            for (int time = 0; time < 2; ++time) { // twice gives the same
                std::uint64_t count = 0, wrong = 0;
                const Status replayed = log.replay(chunk, [&](std::span<const StepRecord> records) -> Status {
                    CHECK(records.size() <= chunk);
                    CHECK(!records.empty());
                    for (const StepRecord& r : records) {
                        const auto step = static_cast<std::uint32_t>(count / 2);
                        wrong += r.step_index != step || r.accelerator_index != 4 + count % 2 ||
                                 r.bytes_delivered != 1000 + step || r.request_ns != step * 100ULL + 10;
                        ++count;
                    }
                    return {};
                });
                CHECK(replayed);
                CHECK(count == steps * 2);
                CHECK(wrong == 0);
            }
        }
}

TEST_CASE("records may be added after a replay") {
    StepLog log(true);
    fill(log, 10);
    std::uint64_t count = 0;
    const auto counter = [&](std::span<const StepRecord> records) -> Status {
        count += records.size();
        return {};
    };
    CHECK(log.replay(100, counter));
    fill(log, 5);
    count = 0;
    CHECK(log.replay(100, counter));
    CHECK(count == 30);
}

TEST_CASE("totals are those of the records, one an accelerator and block, and are taken once") {
    for (const bool keeps : {true, false}) {
        StepLog log(keeps);
        fill(log, 100);
        CHECK(log.current(1).step_count == 100);
        const std::uint32_t accelerators[] = {4, 5};
        log.begin_block(accelerators, 0, 1);
        StepRecord later = record_at(4, 7);
        later.block_index = 1;
        log.add(0, later); // accelerator 5 had no step in this block
        const auto totals = log.take_totals();
        REQUIRE(totals.size() == 3);
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(totals[i].accelerator_index == 4 + i);
            CHECK(totals[i].block_index == 0);
            CHECK(totals[i].step_count == 100);
            CHECK(totals[i].sample_count == 700);
            CHECK(totals[i].bytes == 100 * 1000 + 99 * 100 / 2);
            CHECK(totals[i].bytes_first == 1000);
            CHECK(totals[i].think_ns == 5000);
            CHECK(totals[i].think_ns_first == 50);
            CHECK(totals[i].storage_wait_ns == 1500);
            CHECK(totals[i].request_ns_first == 10);
            CHECK(totals[i].barrier_end_ns_last == 99 * 100 + 100);
        }
        CHECK(totals[2].block_index == 1);
        CHECK(totals[2].step_count == 1);
        CHECK(log.take_totals().empty());
        fill(log, 3);
        CHECK(log.take_totals().size() == 2);
        CHECK(log.record_count() == (keeps ? 207 : 0));
    }
}

TEST_CASE("without records there is nothing to replay, and no file") {
    StepLog log(false);
    fill(log, 10);
    bool called = false;
    CHECK(log.replay(10, [&](std::span<const StepRecord>) -> Status {
        called = true;
        return {};
    }));
    CHECK_FALSE(called);
}

TEST_CASE("an error of the reader ends the replay") {
    StepLog log(true);
    fill(log, 100);
    int calls = 0;
    const Status replayed = log.replay(10, [&](std::span<const StepRecord>) -> Status {
        return ++calls == 3 ? Status(internal_error("enough")) : Status{};
    });
    REQUIRE_FALSE(replayed);
    CHECK(replayed.error().message == "enough");
    CHECK(calls == 3);
}

TEST_CASE("a temporary folder that is not there is reported, and the totals stay right") {
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before ? before : "";
    setenv("TMPDIR", "/nowhere/at/all", 1);
    StepLog log(true);
    if (before)
        setenv("TMPDIR", kept.c_str(), 1);
    else
        unsetenv("TMPDIR");
    REQUIRE_FALSE(log.status());
    CHECK(log.status().error().path == "/nowhere/at/all");
    CHECK(log.status().error().errno_value == ENOENT);
    fill(log, 5000);
    CHECK_FALSE(log.replay(10, [](std::span<const StepRecord>) -> Status { return {}; }));
    CHECK(log.take_totals()[0].step_count == 5000);
}

TEST_CASE("the memory of a step log does not grow with the steps") {
    StepLog log(true);
    fill(log, 5000);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    fill(log, 500000); // 80 MB of records
    getrusage(RUSAGE_SELF, &after);
    CHECK(log.record_count() == 1010000);
    CHECK(after.ru_maxrss - before.ru_maxrss < 8 * 1024); // KiB
}
