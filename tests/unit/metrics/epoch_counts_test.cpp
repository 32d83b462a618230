#include "harness/metrics/epoch_counts.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;
using namespace feedbench::metrics;

namespace {
EpochCounts counts(std::uint64_t base) {
    EpochCounts c;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        c.sample_read_latency.add(base * i);
        c.time_to_first_byte.add(base * i / 2);
        c.batch_wait.add(base * i * 3);
    }
    c.think_error.add(base);
    c.in_flight_ns = base;
    c.client_queue_ns = base + 1;
    c.decode_ns = base + 2;
    c.verify_ns = base + 3;
    c.buffer_wait_ns = base + 4;
    c.process_cpu_s = static_cast<double>(base) / 7;
    c.host_cpu_s = static_cast<double>(base) / 3;
    return c;
}
} // namespace

TEST_CASE("counts travel between ranks without the loss of a bit, and in little room") {
    const EpochCounts there = counts(1'000'000);
    const std::string bytes = there.serialise();
    CHECK(bytes.size() < 8192);
    const EpochCounts here = EpochCounts::parse(bytes);
    CHECK(here.serialise() == bytes);
    CHECK(here.in_flight_ns == 1'000'000);
    CHECK(here.buffer_wait_ns == 1'000'004);
    CHECK(here.process_cpu_s == 1e6 / 7);
    CHECK(here.batch_wait.count() == 100);
    CHECK(here.batch_wait.max_ns() == 300'000'000);
}

TEST_CASE("ranks add up to the same whoever comes first") {
    EpochCounts one = counts(1000), other = counts(5'000'000);
    one.merge(counts(5'000'000));
    other.merge(counts(1000));
    CHECK(one.serialise() == other.serialise());
    CHECK(one.sample_read_latency.count() == 200);
    CHECK(one.sample_read_latency.min_ns() == 1000);
    CHECK(one.sample_read_latency.max_ns() == 500'000'000);
    const LoaderTime time = one.loader_time();
    CHECK(time.in_flight_s == Approx(0.005001));
    CHECK(time.client_queue_s == Approx(0.005001002));
    CHECK(time.decode_s == Approx(0.005001004));
    CHECK(time.verify_s == Approx(0.005001006));
    CHECK(time.buffer_wait_s == Approx(0.005001008));
    const auto histograms = one.histograms();
    REQUIRE(histograms.size() == 4);
    for (std::size_t i = 0; i < histograms.size(); ++i) CHECK(histograms[i].key == kCountedHistograms[i].key);
}
