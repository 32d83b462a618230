#include "storage/registry.hpp"

#include <catch2/catch.hpp>

#include "harness/engine/clock.hpp"
#include "harness/engine/reactor.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::storage;

std::string refusal(const std::string& uri, std::map<std::string, std::string> options = {}) {
    BackendRequest request;
    request.uri = uri;
    request.options = std::move(options);
    const auto made = make_backend(request);
    return made ? "made" : made.error().describe();
}

TEST_CASE("registry: URIs") {
    struct Row {
        std::string text, scheme, root;
    };
    for (const Row& row :
         {Row{"/data/x", "file", "/data/x"}, Row{"data/x", "file", "data/x"}, Row{"file:/data", "file", "/data"},
          Row{"file:///data", "file", "/data"}, Row{"posix:/a,b=c", "posix", "/a,b=c"}, Row{"./a:b", "file", "./a:b"},
          Row{"/a:b", "file", "/a:b"}, Row{"null:", "null", ""}, Row{"model:", "model", ""}}) {
        INFO(row.text);
        const auto uri = parse_uri(row.text);
        REQUIRE(uri);
        CHECK(uri->scheme == row.scheme);
        CHECK(uri->root == row.root);
        CHECK(uri->options.empty());
    }
    const auto model = parse_uri("model:bandwidth=1e9,latency=1ms");
    REQUIRE(model);
    CHECK(model->options == std::map<std::string, std::string>{{"bandwidth", "1e9"}, {"latency", "1ms"}});
    const auto fault = parse_uri("fault:error=EIO@3,on=open;inner=fault:delay=1ms;inner=/a,b");
    REQUIRE(fault);
    CHECK(fault->options == std::map<std::string, std::string>{
                                {"error", "EIO@3"}, {"on", "open"}, {"inner", "fault:delay=1ms;inner=/a,b"}});
    const auto bare = parse_uri("fault:inner=/x");
    REQUIRE(bare);
    CHECK(bare->options.at("inner") == "/x");
}

TEST_CASE("registry: what is refused, and what the sentence says") {
    CHECK(refusal("").find("nothing was given") != std::string::npos);
    const std::string unknown = refusal("gopher://x");
    CHECK(unknown.find("gopher") != std::string::npos);
    for (const BackendEntry& entry : backends()) CHECK(unknown.find(std::string(entry.scheme)) != std::string::npos);
    CHECK(refusal("file:").find("a place is expected") != std::string::npos);
    CHECK(refusal("model:latency").find("'latency' is not key=value") != std::string::npos);
    CHECK(refusal("model:latenzy=1ms").find("has no option 'latenzy'") != std::string::npos);
    CHECK(refusal("model:latency=soon").find("'latency'") != std::string::npos);
    CHECK(refusal("model:latency=-1ms").find("'latency'") != std::string::npos);
    CHECK(refusal("null:a=1").find("it has: copy") != std::string::npos);
    CHECK(refusal("null:copy=much").find("copy") != std::string::npos);
    CHECK(refusal("null:copy=100GiB").find("at most 64 GiB") != std::string::npos);
    CHECK(refusal("/tmp", {{"preallocate", "maybe"}}).find("neither true nor false") != std::string::npos);
    CHECK(refusal("/tmp", {{"readahead", "much"}}).find("normal, sequential, off") != std::string::npos);
    CHECK(refusal("fault:error=EIO@1").find("needs a backend behind it") != std::string::npos);
    for (const std::string& text : {refusal("gopher:x"), refusal("model:x=1")}) CHECK(text != "made");
    CHECK(refusal("null:") == "made");
}

TEST_CASE("registry: the URI's options win over those of the workload") {
    BackendRequest request;
    request.uri = "model:latency=nonsense";
    request.options = {{"latency", "1ms"}};
    CHECK_FALSE(make_backend(request));
}

TEST_CASE("registry: schemes are unique and options have defaults of their own type") {
    for (const BackendEntry& a : backends()) {
        int same = 0;
        for (const BackendEntry& b : backends()) same += a.scheme == b.scheme ? 1 : 0;
        CHECK(same == 1);
        CHECK(a.make != nullptr);
    }
}

} // namespace

TEST_CASE("registry: what wraps a backend passes on the workload's options that are not its own, and only those") {
    const auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    REQUIRE(reactor.has_value());
    const auto made = [&](const std::string& uri, std::map<std::string, std::string> options) {
        BackendRequest request;
        request.uri = uri;
        request.options = std::move(options);
        request.reactor = reactor->get();
        return make_backend(std::move(request));
    };
    CHECK(made("fault:error=EIO@3;inner=model:", {{"bandwidth", "1GB"}}).has_value());
    const auto unknown = made("fault:error=EIO@3;inner=model:", {{"bandwith", "1GB"}});
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().message.find("the backend 'model' has no option 'bandwith'") != std::string::npos);
    const auto misspelt = made("fault:eror=EIO@3;inner=model:", {});
    REQUIRE_FALSE(misspelt.has_value());
    CHECK(misspelt.error().message.find("the backend 'fault' has no option 'eror'") != std::string::npos);
}
