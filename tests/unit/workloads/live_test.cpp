// Slices of a run.
#include <catch2/catch.hpp>

#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "workloads/live.hpp"

using namespace feedbench;
using workloads::SliceRecorder;

TEST_CASE("slices add up to the counters exactly, however late the heartbeat comes") {
    loader::LoaderCounters counters;
    const std::uint64_t start = 123456789;
    SliceRecorder recorder(counters, start, nullptr);
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
    SliceRecorder recorder(counters, 0, nullptr);
    counters.bytes = 90;
    counters.stalled_accelerators = 2;
    CHECK(recorder.advance(kNsPerS - 1) == 0);
    CHECK(recorder.take().empty());
    CHECK(recorder.advance(2 * kNsPerS) == 2);
    CHECK(recorder.newest(1).front().start_ns == kNsPerS);
    counters.bytes = 135;
    CHECK(recorder.advance(3 * kNsPerS) == 1);
    CHECK(recorder.newest(3).front().start_ns == 0);
    const auto slices = recorder.take();
    REQUIRE(slices.size() == 3);
    for (const Slice& slice : slices) {
        CHECK(slice.bytes == 45);
        CHECK(slice.stalled_accelerators == 2);
    }
    CHECK(recorder.last().start_ns == 2 * kNsPerS);
    recorder.advance(3 * kNsPerS + 5);
    CHECK(recorder.take().empty());
}

TEST_CASE("slices of several ranks are merged by their second") {
    const auto at = [](std::uint64_t second, std::uint64_t bytes) {
        return Slice{second * kNsPerS, bytes, 1, 2, 3, 1, 4, 1000};
    };
    std::vector<Slice> job;
    workloads::merge_slices(job, {at(0, 10), at(1, 20)});
    workloads::merge_slices(job, {at(1, 5), at(3, 7)}); // a rank that began later, and went on
    REQUIRE(job.size() == 4);
    CHECK(job[0].bytes == 10);
    CHECK(job[1].bytes == 25);
    CHECK(job[1].stalled_accelerators == 2);
    CHECK(job[1].in_flight_reads == 8);
    CHECK(job[1].process_cpu_ns == 2000);
    CHECK(job[2].bytes == 0);
    CHECK(job[2].start_ns == 2 * kNsPerS);
    CHECK(job[3].bytes == 7);
}

TEST_CASE("the second that the run's end cuts short is a slice, too, and the last") {
    static std::uint64_t cpu_ns = 0;
    cpu_ns = 500;
    loader::LoaderCounters counters;
    SliceRecorder recorder(counters, kNsPerS, [] { return cpu_ns; });
    counters.bytes = 10;
    counters.in_flight = 3;
    cpu_ns = 700;
    recorder.advance(2 * kNsPerS);
    counters.bytes = 14;
    counters.in_flight = 0;
    cpu_ns = 1000;
    recorder.finish(2 * kNsPerS + kNsPerS / 4);

    const auto slices = recorder.take();
    REQUIRE(slices.size() == 2);
    CHECK(slices[0].bytes == 10);
    CHECK(slices[0].in_flight_reads == 3);
    CHECK(slices[0].process_cpu_ns == 200);
    CHECK(slices[1].start_ns == kNsPerS);
    CHECK(slices[1].bytes == 4);
    CHECK(slices[1].in_flight_reads == 0);
    CHECK(slices[1].process_cpu_ns == 300);

    SliceRecorder even(counters, 0, nullptr);
    even.finish(2 * kNsPerS); // ended with a second: no empty slice behind it
    CHECK(even.take().size() == 2);
}
