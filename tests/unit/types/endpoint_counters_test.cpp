#include "harness/types/endpoint_counters.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;

namespace {

EndpointCounters counted() {
    EndpointCounters c;
    c.name = "http://10.0.0.1:9000";
    c.request_count = 100;
    c.failed_request_count = 1;
    c.connection_count = 4;
    c.bytes_received = 1'000'000'007;
    c.bytes_sent = 11;
    c.retried(RetryCause::throttled);
    c.retried(RetryCause::throttled);
    c.retried(RetryCause::other);
    for (std::uint64_t ms = 1; ms <= 100; ++ms) c.first_byte.add(ms * 1'000'000);
    c.last_byte.add(2'000'000'000);
    return c;
}

} // namespace

TEST_CASE("every cause of a retry has a name, and the last one is 'other'") {
    CHECK(static_cast<std::size_t>(RetryCause::other) + 1 == kRetryCauses.size());
    for (const std::string_view name : kRetryCauses) CHECK_FALSE(name.empty());
    CHECK(kRetryCauses[static_cast<std::size_t>(RetryCause::wrong_checksum)] == "wrong_checksum");
    CHECK(kRetryCauses[static_cast<std::size_t>(RetryCause::connection_lost)] == "connection_lost");
}

TEST_CASE("counters reach rank 0 as they are, and two ranks' add up") {
    const EndpointCounters one = counted();
    EndpointCounters sum = EndpointCounters::parse(one.serialise());
    CHECK(sum.serialise() == one.serialise());
    CHECK(sum.name == one.name);
    sum.merge(one);
    CHECK(sum.request_count == 200);
    CHECK(sum.failed_request_count == 2);
    CHECK(sum.connection_count == 8);
    CHECK(sum.bytes_received == 2'000'000'014);
    CHECK(sum.bytes_sent == 22);
    CHECK(sum.first_byte.count() == 200);
    CHECK(sum.last_byte.count() == 2);

    const EndpointResult result = endpoint_result(sum, 2);
    CHECK(result.rank_count == 2);
    CHECK(result.retry_count == 6);
    REQUIRE(result.retries.size() == 2); // causes that never came are left out
    CHECK(result.retries[0].cause == "throttled");
    CHECK(result.retries[0].count == 4);
    CHECK(result.retries[1].cause == "other");
    REQUIRE(result.histograms.size() == 2);
    CHECK(result.histograms[0].key == "time_to_first_byte");
    CHECK(result.histograms[0].p50_ns == Approx(50e6).epsilon(0.01));
    CHECK(result.histograms[1].max_ns == 2'000'000'000);
}

TEST_CASE("an endpoint that was never spoken to has no times") {
    const EndpointResult result = endpoint_result(EndpointCounters{}, 0);
    CHECK(result.retries.empty());
    CHECK(result.histograms.empty());
}
