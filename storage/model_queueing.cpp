#include "storage/model_queueing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace feedbench::storage {

namespace {

constexpr double kNsPerSecond = 1e9;

// A stage that serves one after another: free again after `work` from whenever it is free, or this is there.
double serve(double& free_ns, double arrives_ns, double work_ns) {
    free_ns = std::max(free_ns, arrives_ns) + work_ns;
    return free_ns;
}

} // namespace

ModelQueueing::ModelQueueing(const ModelParameters& parameters, std::uint64_t seed)
    : parameters_(parameters), latency_(lognormal(parameters.latency)),
      open_latency_(lognormal(parameters.open_latency)), random_(stream_seed(seed, "model jitter")),
      hosts_(parameters.host_count) {}

ModelQueueing::Lognormal ModelQueueing::lognormal(const ModelTime& time) {
    constexpr double kNormalP99 = 2.3263478740408408; // of the standard normal distribution
    const auto median = static_cast<double>(time.median_ns);
    return {median, time.p99_ns == 0 ? 0.0 : std::log(static_cast<double>(time.p99_ns) / median) / kNormalP99};
}

std::uint64_t ModelQueueing::leaves_client_ns(std::uint64_t now_ns, std::uint32_t client) {
    if (parameters_.client_cost_ns == 0) return now_ns;
    return static_cast<std::uint64_t>(std::llround(serve(host_of(client).processor_free_ns, static_cast<double>(now_ns),
                                                         static_cast<double>(parameters_.client_cost_ns))));
}

std::uint64_t ModelQueueing::answered_ns(std::uint64_t now_ns, const Demand& demand) {
    const auto now = static_cast<double>(now_ns);
    Host& host = host_of(demand.client);
    if (demand.cached) {
        double done = now;
        if (parameters_.cache_bytes_per_second > 0)
            done = serve(host.memory_free_ns, now,
                         static_cast<double>(demand.bytes) / parameters_.cache_bytes_per_second * kNsPerSecond);
        return static_cast<std::uint64_t>(std::llround(done)) + parameters_.cache_latency_ns;
    }
    const double pieces =
        parameters_.piece_bytes == 0 || demand.bytes <= parameters_.piece_bytes
            ? 1.0
            : std::ceil(static_cast<double>(demand.bytes) / static_cast<double>(parameters_.piece_bytes));
    double start = now;
    if (parameters_.parallel_count > 0 && worked_on_.size() >= parameters_.parallel_count) {
        start = std::max(start, worked_on_.top());
        worked_on_.pop();
    }
    double done = through_storage(start, demand, pieces, host);
    const Lognormal& distribution = demand.opens ? open_latency_ : latency_;
    if (distribution.median_ns > 0) done += latency(distribution, pieces);
    if (parameters_.parallel_count > 0) worked_on_.push(done);
    return static_cast<std::uint64_t>(std::llround(done));
}

double ModelQueueing::through_storage(double start, const Demand& demand, double pieces, Host& host) {
    double done = start;
    const auto bytes = static_cast<double>(demand.bytes);
    if (parameters_.bytes_per_second > 0 && demand.bytes > 0)
        done = serve(pipe_free_ns_, start, bytes / parameters_.bytes_per_second * kNsPerSecond);
    if (parameters_.operations_per_second > 0)
        done = std::max(done, serve(turn_free_ns_, start, pieces * kNsPerSecond / parameters_.operations_per_second));
    if (parameters_.link_bytes_per_second > 0 && demand.bytes > 0)
        done = serve(host.link_free_ns, done, bytes / parameters_.link_bytes_per_second * kNsPerSecond);
    return done;
}

// The sum of the latencies of `pieces` operations that follow each other. Of many the sum is as good as normal.
double ModelQueueing::latency(const Lognormal& d, double pieces) {
    constexpr double kDrawnEach = 8;
    double sum = 0;
    if (d.sigma == 0)
        sum = pieces * d.median_ns;
    else if (pieces <= kDrawnEach)
        for (double i = 0; i < pieces; ++i) sum += d.median_ns * std::exp(d.sigma * normal());
    else {
        const double variance = d.sigma * d.sigma, mean = d.median_ns * std::exp(variance / 2);
        const double stdev = mean * std::sqrt(std::exp(variance) - 1);
        sum = std::max(pieces * mean + std::sqrt(pieces) * stdev * normal(), pieces * d.median_ns / 2);
    }
    if (parameters_.jitter_ns == 0) return sum;
    for (double i = 0; i < pieces; ++i)
        sum -= std::log(1.0 - random_.uniform()) * static_cast<double>(parameters_.jitter_ns);
    return sum;
}

double ModelQueueing::normal() {
    const double radius = std::sqrt(-2 * std::log(1.0 - random_.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random_.uniform());
}

bool ModelQueueing::is_cached(std::string_view name) const {
    if (parameters_.cached_share <= 0) return false;
    return Random(stream_seed(0, name)).uniform() < parameters_.cached_share;
}

} // namespace feedbench::storage
