// Slices and the watchdog of a run.
#include <catch2/catch.hpp>

#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "tests/support/scripted_target.hpp"
#include "workloads/live.hpp"

using namespace feedbench;
using namespace feedbench::test;
using workloads::SliceRecorder;
using workloads::Watchdog;

namespace {

struct Waiting {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    ScriptedTarget target{*reactor};
};

engine::Task<void> perform(Waiting& w, std::string path, std::uint64_t bytes) {
    engine::IoOp op;
    op.path = path;
    op.offset = 4096;
    op.bytes = bytes;
    co_await w.reactor->perform(w.target, op);
}
engine::Task<void> sleep_until(Waiting& w, std::uint64_t time_ns) { co_await w.reactor->sleep_until(time_ns); }

} // namespace

TEST_CASE("slices add up to the counters exactly, however late the heartbeat comes") {
    loader::LoaderCounters counters;
    const std::uint64_t start = 123456789;
    SliceRecorder recorder(counters, start);
    Random random(5);
    std::vector<Slice> all;
    std::uint64_t now = start;
    for (int beat = 0; beat < 500; ++beat) {
        now += static_cast<std::uint64_t>(random.uniform() * 3.7e9);
        counters.bytes += static_cast<std::uint64_t>(random.uniform() * 1e9);
        counters.samples += static_cast<std::uint64_t>(random.uniform() * 1000);
        counters.reads += static_cast<std::uint64_t>(random.uniform() * 7777);
        counters.steps += 1;
        recorder.advance(now);
        for (const Slice& slice : recorder.take()) all.push_back(slice);
    }
    recorder.advance(now + kNsPerS); // closes the last
    for (const Slice& slice : recorder.take()) all.push_back(slice);
    Slice sum;
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i].start_ns == i * kNsPerS); // one a second, none left out, none twice
        sum.bytes += all[i].bytes;
        sum.samples += all[i].samples;
        sum.reads += all[i].reads;
        sum.steps += all[i].steps;
    }
    CHECK(all.size() == (now - start) / kNsPerS + 1);
    CHECK(sum.bytes == counters.bytes);
    CHECK(sum.samples == counters.samples);
    CHECK(sum.reads == counters.reads);
    CHECK(sum.steps == counters.steps);
}

TEST_CASE("a slice is not closed before its second is over, and a late beat spreads what it finds") {
    loader::LoaderCounters counters;
    SliceRecorder recorder(counters, 0);
    counters.bytes = 90;
    counters.stalled_accelerators = 2;
    recorder.advance(kNsPerS - 1);
    CHECK(recorder.take().empty());
    recorder.advance(3 * kNsPerS);
    const auto slices = recorder.take();
    REQUIRE(slices.size() == 3);
    for (const Slice& slice : slices) {
        CHECK(slice.bytes == 30);
        CHECK(slice.stalled_accelerators == 2);
    }
    CHECK(recorder.last().start_ns == 2 * kNsPerS);
    recorder.advance(3 * kNsPerS + 5);
    CHECK(recorder.take().empty());
}

TEST_CASE("slices of several ranks are merged by their second") {
    const auto at = [](std::uint64_t second, std::uint64_t bytes) {
        return Slice{second * kNsPerS, bytes, 1, 2, 3, 1};
    };
    std::vector<Slice> job;
    workloads::merge_slices(job, {at(0, 10), at(1, 20)});
    workloads::merge_slices(job, {at(1, 5), at(3, 7)}); // a rank that began later, and went on
    REQUIRE(job.size() == 4);
    CHECK(job[0].bytes == 10);
    CHECK(job[1].bytes == 25);
    CHECK(job[1].stalled_accelerators == 2);
    CHECK(job[2].bytes == 0);
    CHECK(job[2].start_ns == 2 * kNsPerS);
    CHECK(job[3].bytes == 7);
}

TEST_CASE("the watchdog barks when nothing completes for its time, and says what is outstanding") {
    Waiting w;
    Watchdog watchdog(*w.reactor, 10 * kNsPerS);
    w.target.delay_ns = [](const engine::IoOp& op) { return op.path == "train/slow.npz" ? 100 * kNsPerS : kNsPerS; };
    engine::Task<void> slow = perform(w, "train/slow.npz", 777);
    slow.start();
    // Others complete: all is well, though one read takes long.
    for (std::uint64_t second = 0; second < 30; ++second) {
        (void)w.reactor->run(perform(w, "train/fast.npz", 1)).has_value();
        CHECK(watchdog.check(w.reactor->now_ns()).empty());
    }
    // Now nothing does.
    CHECK(watchdog.check(39 * kNsPerS).empty());
    const std::string bark = watchdog.check(41 * kNsPerS);
    INFO(bark);
    CHECK(bark.find("train/slow.npz") != std::string::npos);
    CHECK(bark.find("offset 4096") != std::string::npos);
    CHECK(bark.find("777 bytes") != std::string::npos);
    CHECK(bark.find("1 outstanding") != std::string::npos);
    CHECK(bark.find("41.0 s") != std::string::npos); // since its submission
    (void)w.reactor->run(sleep_until(w, 101 * kNsPerS)).has_value();
    CHECK(watchdog.check(w.reactor->now_ns()).empty()); // it came after all
    CHECK(slow.finished());
}

TEST_CASE("the watchdog is silent where nothing is outstanding, however long") {
    Waiting w;
    Watchdog watchdog(*w.reactor, 10 * kNsPerS);
    for (std::uint64_t second = 0; second < 100; second += 5) CHECK(watchdog.check(second * kNsPerS).empty());
}

TEST_CASE("the watchdog counts from the submission: a long pause without a heartbeat is not a stall") {
    Waiting w;
    // The clock has run for long when the watchdog is made, and nobody looks at it for long afterwards.
    (void)w.reactor->run(sleep_until(w, 1000 * kNsPerS)).has_value();
    Watchdog watchdog(*w.reactor, 10 * kNsPerS);
    w.target.delay_ns = [](const engine::IoOp&) { return 20 * kNsPerS; };
    engine::Task<void> first = perform(w, "train/a.npz", 1);
    first.start();
    CHECK(watchdog.check(1001 * kNsPerS).empty());
    CHECK_FALSE(watchdog.check(1011 * kNsPerS).empty());
    (void)w.reactor->run(sleep_until(w, 1021 * kNsPerS)).has_value();
    CHECK(watchdog.check(w.reactor->now_ns()).empty());
    (void)w.reactor->run(sleep_until(w, 2000 * kNsPerS)).has_value(); // caches are dropped, say
    engine::Task<void> second = perform(w, "train/b.npz", 1);
    second.start();
    CHECK(watchdog.check(2001 * kNsPerS).empty());
    CHECK_FALSE(watchdog.check(2010 * kNsPerS).empty());
    (void)w.reactor->run(sleep_until(w, 2021 * kNsPerS)).has_value();
}

TEST_CASE("the watchdog names a few operations only") {
    Waiting w;
    Watchdog watchdog(*w.reactor, kNsPerS);
    w.target.delay_ns = [](const engine::IoOp&) { return 10 * kNsPerS; };
    std::vector<engine::Task<void>> tasks;
    for (int i = 0; i < 50; ++i) {
        tasks.push_back(perform(w, "train/f" + std::to_string(i), 1));
        tasks.back().start();
    }
    CHECK(watchdog.check(0).empty());
    const std::string bark = watchdog.check(2 * kNsPerS);
    CHECK(bark.find("50 outstanding") != std::string::npos);
    CHECK(std::count(bark.begin(), bark.end(), '\n') == 5);
    (void)w.reactor->run(sleep_until(w, 11 * kNsPerS)).has_value();
}
