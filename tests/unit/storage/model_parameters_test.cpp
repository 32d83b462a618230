// The keys of model: what they mean, what is refused, and that a printed URI is the same model again.
#include <catch2/catch.hpp>

#include "harness/engine/reactor.hpp"
#include "storage/model_parameters.hpp"
#include "storage/registry.hpp"

using namespace feedbench;
using namespace feedbench::storage;

namespace {

std::string refusal(const std::string& uri) {
    auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    BackendRequest request;
    request.uri = uri;
    request.reactor = reactor->get();
    auto made = make_backend(request);
    if (made) return "made";
    CHECK(exit_code(made.error().kind) == 2);
    return made.error().describe();
}

Expected<ModelParameters> parsed(const std::string& uri) {
    auto parts = parse_uri(uri);
    REQUIRE(parts);
    return parse_model_parameters(parts->options, uri);
}

} // namespace

TEST_CASE("every key of model: is read, and a printed model is the same model again") {
    ModelParameters p;
    p.bytes_per_second = 5e9;
    p.operations_per_second = 120000;
    p.parallel_count = 64;
    p.latency = {200'000, 900'000};
    p.open_latency = {1'000'000, 2'500'000};
    p.jitter_ns = 30'000;
    p.piece_bytes = 262144;
    p.host_count = 8;
    p.link_bytes_per_second = 1.25e9;
    p.client_cost_ns = 4'000;
    p.cached_share = 0.4;
    p.cache_bytes_per_second = 2e10;
    p.cache_latency_ns = 500;
    const std::string uri = model_uri(p);
    INFO(uri);
    const auto again = parsed(uri);
    REQUIRE(again);
    CHECK(*again == p);
    CHECK(refusal(uri) == "made");
    CHECK(model_uri({}) == "model:");
    for (const Option& option : model_options()) CHECK(uri.find(std::string(option.key) + "=") != std::string::npos);
}

TEST_CASE("every key of model: has a unit or a plain number, a default that is accepted, and help") {
    std::string all = "model:";
    for (const Option& option : model_options()) {
        CHECK_FALSE(option.help.empty());
        CHECK_FALSE(option.unit.empty());
        all += std::string(option.key) + "=" + std::string(option.default_value) + ",";
    }
    CHECK(refusal(all) == "made");
}

TEST_CASE("nonsense in a model: URI is refused with the key and what was expected") {
    struct Row {
        std::string uri, says;
    };
    for (const Row& row :
         {Row{"model:bandwith=1e9", "has no option 'bandwith' (it has: bandwidth"},
          Row{"model:bandwidth=fast", "'bandwidth': 'fast' is not a size"},
          Row{"model:bandwidth=-1", "'bandwidth': '-1' is not a size"},
          Row{"model:latency=1parsec", "'latency': '1parsec' is not a duration"},
          Row{"model:latency=1ms,latency_p99=500us", "'latency_p99': '500us' lies below latency, the median, of '1ms'"},
          Row{"model:latency_p99=1ms", "'latency_p99': has no meaning without latency"},
          Row{"model:open_latency_p99=1ms", "'open_latency_p99': has no meaning without open_latency"},
          Row{"model:cached=1.5", "'cached': '1.5' is outside 0 to 1"},
          Row{"model:cached=-0.1", "'cached': '-0.1' is outside 0 to 1"},
          Row{"model:cached=many", "'cached': 'many' is not a number"},
          Row{"model:cache_bandwidth=1GB", "'cache_bandwidth': has no effect without cached"},
          Row{"model:cache_latency=1us", "'cache_latency': has no effect without cached"},
          Row{"model:hosts=0", "'hosts': '0' is outside 1 to 1000000"},
          Row{"model:hosts=2.5", "'hosts': '2.5' is not an integer"},
          Row{"model:iops=-5", "'iops': '-5' is outside 0 to 1e+15"},
          Row{"model:parallel=-1", "'parallel': '-1' is outside 0 to 1000000000"}}) {
        INFO(row.uri);
        CHECK_THAT(refusal(row.uri), Catch::Contains(row.says));
    }
}
