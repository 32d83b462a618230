// What the blocking client says where a server is wrong, silent or not there; checksums; threads.
#include <catch2/catch.hpp>

#include <cerrno>

#include "tests/unit/s3/client_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::storage::s3;
using namespace feedbench::test;

TEST_CASE("client: wrong secret, wrong bucket, nobody there: final and in words") {
    ObjectStore store;
    Config config = store.config();
    config.credentials.secret_key = "guess";
    const auto denied = client_of(config)->put("k", bytes_of("x"));
    REQUIRE_FALSE(denied);
    CHECK(denied.error().errno_value == EACCES);
    CHECK(denied.error().describe().find("guess") == std::string::npos);
    CHECK(denied.error().describe().find(kAccessKey) == std::string::npos);

    auto elsewhere = client_of(store.config(), "nowhere");
    const auto missing = elsewhere->head("k"); // a HEAD has no words: the bucket is asked for
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.find("no bucket 'nowhere'") != std::string::npos);
    CHECK(client_of(store.config())->head("k").error().errno_value == ENOENT);

    config = store.config();
    config.endpoints = {*parse_endpoint("http://127.0.0.1:1")};
    const auto down = client_of(config)->head("k");
    REQUIRE_FALSE(down);
    CHECK(down.error().errno_value == ECONNREFUSED);
    CHECK(down.error().message.find("nothing answers at http://127.0.0.1:1") != std::string::npos);
}

TEST_CASE("client: an endpoint that is down is passed over") {
    ObjectStore store;
    Config config = store.config();
    config.endpoints.insert(config.endpoints.begin(), *parse_endpoint("http://127.0.0.1:1"));
    auto client = client_of(config);
    REQUIRE(client->put("k", bytes_of("x")));
    const auto statistics = client->statistics();
    CHECK(statistics[0].retry_count[static_cast<std::size_t>(RetryCause::connect)] == 1);
    CHECK(statistics[1].bytes_sent == 1);
}

TEST_CASE("client: silence is given up after the idle time") {
    ObjectStore store;
    Config config = store.config();
    config.attempts = 2;
    auto client = client_of(config);
    store.put("k", pattern(1000));
    store.set_spoiler([](const HttpRequest& request, HttpAnswer& answer) {
        if (request.method == "GET") answer.stall_after = 100;
    });
    std::string back(1000, '?');
    const auto got = client->get("k", 0, std::as_writable_bytes(std::span(back)));
    REQUIRE_FALSE(got);
    CHECK(got.error().errno_value == ETIMEDOUT);
}

TEST_CASE("client: checksums go out with what is written") {
    ObjectStore store;
    std::vector<std::string> seen;
    store.set_spoiler([&](const HttpRequest& request, HttpAnswer&) {
        for (const char* name : {"x-amz-checksum-crc32c", "content-md5"})
            if (request.headers.contains(name)) seen.push_back(request.headers.at(name));
    });
    Config config = store.config();
    config.checksum = Checksum::crc32c;
    REQUIRE(client_of(config)->put("k", bytes_of("123456789")));
    config.checksum = Checksum::md5;
    REQUIRE(client_of(config)->put("k", bytes_of("")));
    CHECK(seen == std::vector<std::string>{"4waSgw==", "1B2M2Y8AsgTpgAmY7PhCfg=="});
}

TEST_CASE("client: many threads at once") {
    ObjectStore store;
    auto client = client_of(store.config());
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                const std::string key = std::to_string(t) + "/" + std::to_string(i), content = "of " + key;
                std::string back(content.size(), '?');
                const bool is_right = client->put(key, bytes_of(content)).has_value() &&
                                      client->get(key, 0, std::as_writable_bytes(std::span(back))).has_value() &&
                                      back == content;
                good += is_right ? 1 : 0;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(good == 160);
    CHECK(client->statistics().front().request_count == 320);
}

} // namespace
