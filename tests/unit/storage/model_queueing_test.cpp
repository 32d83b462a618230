// The arithmetic of model: each stage alone with times that can be worked out by hand, then the spread of latencies.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "storage/model_queueing.hpp"

using namespace feedbench;
using namespace feedbench::storage;
using Demand = ModelQueueing::Demand;

namespace {

constexpr std::uint64_t kMs = 1'000'000;

Demand reads(std::uint64_t bytes, std::uint32_t client = 0) { return {.bytes = bytes, .client = client}; }

// Answer times of reads that all arrive at 0.
std::vector<std::uint64_t> answers(const ModelParameters& p, const std::vector<Demand>& demands) {
    ModelQueueing queueing(p, 1);
    std::vector<std::uint64_t> times;
    for (const Demand& demand : demands) times.push_back(queueing.answered_ns(0, demand));
    return times;
}

using Times = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("model: without keys answers at once") { CHECK(answers({}, {reads(1000), reads(0)}) == Times{0, 0}); }

TEST_CASE("model: the pipe serves one after another, latency comes on top of each") {
    ModelParameters p;
    p.bytes_per_second = 1e6;
    p.latency.median_ns = kMs;
    CHECK(answers(p, {reads(1000), reads(1000), {.opens = true}}) == Times{2 * kMs, 3 * kMs, 0});
    p.open_latency.median_ns = 7 * kMs; // an open carries no bytes: it does not wait for the pipe
    CHECK(answers(p, {reads(1000), {.opens = true}}) == Times{2 * kMs, 7 * kMs});
}

TEST_CASE("model: iops and bandwidth work side by side, the slower one counts") {
    ModelParameters p;
    p.operations_per_second = 1000;
    CHECK(answers(p, {reads(1), reads(1), {.opens = true}}) == Times{kMs, 2 * kMs, 3 * kMs});
    p.bytes_per_second = 1e6;
    CHECK(answers(p, {reads(3000), reads(100), reads(100)}) == Times{3 * kMs, 3'100'000, 3'200'000});
}

TEST_CASE("model: a link belongs to a host, accelerators are dealt out to hosts in turn") {
    ModelParameters p;
    p.link_bytes_per_second = 1e6;
    p.host_count = 2;
    CHECK(answers(p, {reads(1000, 0), reads(1000, 1), reads(1000, 2), reads(1000, 3), reads(1000, 2)}) ==
          Times{kMs, kMs, 2 * kMs, 2 * kMs, 3 * kMs});
    p.bytes_per_second = 2e6; // the shared pipe lies in front: 0.5 ms each, one after another
    CHECK(answers(p, {reads(1000, 0), reads(1000, 1), reads(1000, 0)}) == Times{1'500'000, 2 * kMs, 2'500'000});
}

TEST_CASE("model: only so many operations are worked on at a time") {
    ModelParameters p;
    p.latency.median_ns = 10 * kMs;
    p.parallel_count = 2;
    CHECK(answers(p, {reads(1), reads(1), reads(1), reads(1), reads(1)}) ==
          Times{10 * kMs, 10 * kMs, 20 * kMs, 20 * kMs, 30 * kMs});
    ModelQueueing later(p, 1);
    later.answered_ns(0, reads(1));
    CHECK(later.answered_ns(50 * kMs, reads(1)) == 60 * kMs); // what is finished takes no place
    CHECK(later.answered_ns(50 * kMs, reads(1)) == 60 * kMs);
    CHECK(later.answered_ns(50 * kMs, reads(1)) == 70 * kMs);
}

TEST_CASE("model: a long operation is several pieces, each with its latency and its turn") {
    ModelParameters p;
    p.latency.median_ns = kMs;
    p.piece_bytes = 1000;
    CHECK(answers(p, {reads(1000), reads(1001), reads(10000)}) == Times{kMs, 2 * kMs, 10 * kMs});
    p.operations_per_second = 1000;
    CHECK(answers(p, {reads(3000)}) == Times{6 * kMs});
}

TEST_CASE("model: files in memory pass storage and link by; the same files in every run") {
    ModelParameters p;
    p.bytes_per_second = 1e3;
    p.link_bytes_per_second = 1e3;
    p.operations_per_second = 1;
    p.cached_share = 0.4;
    p.cache_bytes_per_second = 1e9;
    p.cache_latency_ns = 10'000;
    CHECK(answers(p, {{.cached = true, .bytes = 1000}, {.cached = true, .bytes = 1000}}) == Times{11'000, 12'000});
    const ModelQueueing one(p, 1), other(p, 2);
    int cached = 0, differ = 0;
    for (int i = 0; i < 10000; ++i) {
        const std::string name = "train/img_" + std::to_string(i);
        cached += one.is_cached(name);
        differ += one.is_cached(name) != other.is_cached(name);
    }
    CHECK(cached == Approx(4000).margin(200)); // four standard deviations
    CHECK(differ == 0);
    p.cached_share = 1;
    CHECK(ModelQueueing(p, 1).is_cached("train/x"));
    p.cached_share = 0;
    CHECK_FALSE(ModelQueueing(p, 1).is_cached("train/x"));
}

TEST_CASE("model: an operation takes its host's processor, one after another, host by host") {
    ModelParameters p;
    p.client_cost_ns = 5'000;
    p.host_count = 2;
    ModelQueueing queueing(p, 1);
    CHECK(queueing.leaves_client_ns(0, 0) == 5'000);
    CHECK(queueing.leaves_client_ns(0, 2) == 10'000);
    CHECK(queueing.leaves_client_ns(0, 1) == 5'000);
    CHECK(queueing.leaves_client_ns(1'000'000, 0) == 1'005'000);
}

TEST_CASE("model: a lognormal latency has the median and the p99 that were asked for, and the seed decides") {
    ModelParameters p;
    p.latency = {kMs, 4 * kMs};
    const auto draws = [&p](std::uint64_t seed) {
        ModelQueueing queueing(p, seed);
        Times times(20000);
        for (auto& time : times) time = queueing.answered_ns(0, reads(1));
        return times;
    };
    Times times = draws(1);
    CHECK(times == draws(1));
    CHECK(times != draws(2));
    std::sort(times.begin(), times.end());
    CHECK(static_cast<double>(times[10000]) == Approx(1e6).epsilon(0.03));
    CHECK(static_cast<double>(times[19800]) == Approx(4e6).epsilon(0.08));
}

TEST_CASE("model: pieces drawn one by one and drawn as one sum have the same mean") {
    ModelParameters p;
    p.latency = {kMs, 3 * kMs};
    p.piece_bytes = 1000;
    const auto mean = [&p](std::uint64_t pieces) {
        ModelQueueing queueing(p, 3);
        double sum = 0;
        for (int i = 0; i < 4000; ++i)
            sum += static_cast<double>(queueing.answered_ns(0, reads(pieces * 1000))) / static_cast<double>(pieces);
        return sum / 4000;
    };
    const double sigma = std::log(3.0) / 2.3263478740408408;
    CHECK(mean(4) == Approx(1e6 * std::exp(sigma * sigma / 2)).epsilon(0.02));
    CHECK(mean(40) == Approx(1e6 * std::exp(sigma * sigma / 2)).epsilon(0.02));
}
