#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>

#include "tests/unit/s3/client_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::storage::s3;
using namespace feedbench::test;

std::uint64_t retries_of(const Client& client, RetryCause cause) {
    return client.statistics().front().retry_count[static_cast<std::size_t>(cause)];
}

const std::vector<std::string> kOddKeys{"plain",       "with space",
                                        "a+b",         "100%",
                                        "50%25",       "hash#tag",
                                        "q?x=1&y",     "a//b",
                                        "/first",      "dots/../up",
                                        "./here",      "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                        "tilde~_-.",   "semi;colon=,:@!$'()*",
                                        "<tag>&amp;\""};

TEST_CASE("client: odd keys go out and come back, signed (O2)") {
    ObjectStore store;
    auto client = client_of(store.config());
    for (const std::string& key : kOddKeys) {
        INFO(key);
        const std::string content = "of " + key;
        REQUIRE(client->put(key, bytes_of(content)));
        REQUIRE(store.objects().contains(key));
        const auto info = client->head(key);
        REQUIRE(info);
        CHECK(info->size_bytes == content.size());
        std::string back(content.size(), '?');
        const auto got = client->get(key, 0, std::as_writable_bytes(std::span(back)), info->etag);
        REQUIRE(got);
        CHECK(back == content);
    }
    std::vector<std::string> listed;
    REQUIRE(client->list({.prefix = ""}, [&](const ListEntry& entry) {
        listed.push_back(entry.key);
        return true;
    }));
    std::vector<std::string> sorted = kOddKeys;
    std::sort(sorted.begin(), sorted.end());
    CHECK(listed == sorted);
    for (const std::string& key : kOddKeys) REQUIRE(client->remove(key));
    CHECK(store.objects().empty());
    CHECK(store.connection_count() == 1); // one caller, one connection
}

TEST_CASE("client: ranges; short only at the end") {
    ObjectStore store;
    auto client = client_of(store.config());
    const std::string content = pattern(100'000);
    store.put("k", content);
    std::vector<char> buffer(70'000);
    const auto into = std::as_writable_bytes(std::span(buffer));
    ObjectInfo info;
    CHECK(*client->get("k", 10, into, {}, &info) == 70'000);
    CHECK(std::string_view(buffer.data(), 70'000) == std::string_view(content).substr(10, 70'000));
    CHECK(info.size_bytes == 100'000);
    CHECK(*client->get("k", 60'000, into) == 40'000);
    CHECK(*client->get("k", 100'000, into) == 0);
    store.put("k", pattern(99'999));
    const auto changed = client->get("k", 0, into, info.etag);
    REQUIRE_FALSE(changed);
    CHECK(changed.error().errno_value == ESTALE);
    store.put("empty", "");
    CHECK(*client->get("empty", 0, into) == 0);
}

TEST_CASE("client: a body cut in the middle goes on where it stopped, with the same ETag (O5)") {
    ObjectStore store;
    auto client = client_of(store.config());
    const std::string content = pattern(300'000);
    store.put("k", content);
    unsigned cuts = 0;
    store.set_spoiler([&](const HttpRequest& request, HttpAnswer& answer) {
        if (request.method == "GET" && cuts < 3) {
            ++cuts;
            answer.cut_after = 50'000;
        }
    });
    std::string back(300'000, '?');
    const auto got = client->get("k", 0, std::as_writable_bytes(std::span(back)));
    REQUIRE(got);
    CHECK(back == content);
    CHECK(retries_of(*client, RetryCause::short_body) + retries_of(*client, RetryCause::connection_lost) == 3);
    const auto seen = store.seen();
    REQUIRE(seen.size() == 4);
    CHECK(seen[3] == "GET /bucket/k bytes=150000-299999");
}

TEST_CASE("client: bodies that are always short are a failure, not data (O5)") {
    ObjectStore store;
    auto client = client_of(store.config());
    store.put("k", pattern(1000));
    store.set_spoiler([](const HttpRequest& request, HttpAnswer& answer) {
        if (request.method == "GET") answer.body.resize(answer.body.size() - 1); // and says so in its length
    });
    std::string back(1000, '?');
    const auto got = client->get("k", 0, std::as_writable_bytes(std::span(back)));
    REQUIRE_FALSE(got);
    CHECK(got.error().message.find("given up after 5 attempts") != std::string::npos);
    CHECK(back == std::string(1000, '?')); // nothing of it was taken
}

TEST_CASE("client: 503 in the middle of a listing is waited out, and all objects are found (O3)") {
    ObjectStore store;
    store.page_size = 7;
    auto client = client_of(store.config());
    for (int i = 0; i < 100; ++i) store.put("d/" + std::to_string(i), "x");
    store.set_rule([](const HttpRequest&, unsigned number) {
        return number % 4 == 0 ? ObjectStore::error(503, "SlowDown") : ObjectStore::no_answer();
    });
    std::set<std::string> found;
    REQUIRE(client->list({.prefix = "d/", .folders = true}, [&](const ListEntry& entry) {
        found.insert(entry.key);
        return true;
    }));
    CHECK(found.size() == 100);
    CHECK(retries_of(*client, RetryCause::throttled) >= 4);
}

TEST_CASE("client: a listing ends where its reader has enough; folders are one level") {
    ObjectStore store;
    store.page_size = 2;
    auto client = client_of(store.config());
    for (const char* key : {"a/1", "a/2", "a/b/1", "a/b/2", "a/c/1", "z"}) store.put(key, "x");
    std::vector<std::string> names;
    REQUIRE(client->list({.prefix = "a/", .folders = true}, [&](const ListEntry& entry) {
        names.push_back(entry.key);
        return true;
    }));
    CHECK(names == std::vector<std::string>{"a/1", "a/2", "a/b/", "a/c/"});
    store.forget_seen();
    unsigned count = 0;
    REQUIRE(client->list({.prefix = ""}, [&](const ListEntry&) { return ++count < 2; }));
    CHECK(count == 2);
    CHECK(store.seen().size() == 1);
}

TEST_CASE("client: every 10th PUT refused: retried and counted; refused for ever: loud (O4)") {
    ObjectStore store;
    auto client = client_of(store.config());
    store.set_rule([](const HttpRequest& request, unsigned number) {
        return request.method == "PUT" && number % 10 == 0 ? ObjectStore::error(500, "InternalError")
                                                           : ObjectStore::no_answer();
    });
    for (int i = 0; i < 50; ++i) REQUIRE(client->put("k" + std::to_string(i), bytes_of("x")));
    CHECK(store.objects().size() == 50);
    CHECK(retries_of(*client, RetryCause::server_error) == 5);
    store.set_rule([](const HttpRequest&, unsigned) { return ObjectStore::error(503, "SlowDown"); });
    const auto refused = client->put("last", bytes_of("x"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().describe().find("s3://bucket/last") != std::string::npos);
    CHECK(refused.error().message.find("SlowDown") != std::string::npos);
    CHECK(exit_code(refused.error().kind) == 3);
    CHECK(client->statistics().front().failed_request_count == 1);
}

TEST_CASE("client: a put in parts becomes one object; one that fails leaves nothing") {
    ObjectStore store;
    Config config = store.config();
    config.part_bytes = 5 << 20;
    auto client = client_of(config);
    const std::string content = pattern((12 << 20) + 5);
    std::size_t at = 0;
    const auto next = [&](std::span<std::byte> room) -> Expected<std::size_t> {
        const std::size_t bytes = std::min(room.size(), content.size() - at);
        std::memcpy(room.data(), content.data() + at, bytes);
        at += bytes;
        return bytes;
    };
    const auto put = client->put_parts("big", next);
    REQUIRE(put);
    CHECK(put->size_bytes == content.size());
    CHECK(store.objects()["big"] == content);
    at = content.size() - 10;
    REQUIRE(client->put_parts("small", next)); // fits one part
    CHECK(store.objects()["small"] == content.substr(content.size() - 10));

    at = 0;
    const auto failing = [&](std::span<std::byte> room) -> Expected<std::size_t> {
        if (at > 6 << 20) return storage_error("read", "source", EIO);
        return next(room);
    };
    CHECK_FALSE(client->put_parts("never", failing));
    CHECK_FALSE(store.objects().contains("never"));
    CHECK(store.upload_count() == 0);

    at = 0; // the answer to the completion is lost: the object is there all the same
    store.set_spoiler([lost = false](const HttpRequest& request, HttpAnswer& answer) mutable {
        if (request.method == "POST" && request.query.starts_with("uploadId") && !std::exchange(lost, true))
            answer.hangs_up = true;
    });
    REQUIRE(client->put_parts("lost", next));
    CHECK(store.objects()["lost"] == content);
}

TEST_CASE("client: uploads that were left behind are ended") {
    ObjectStore store;
    auto client = client_of(store.config());
    store.set_rule([](const HttpRequest& request, unsigned) {
        return request.method == "DELETE" ? ObjectStore::error(403, "AccessDenied") : ObjectStore::no_answer();
    });
    Config config = store.config();
    config.part_bytes = 5 << 20;
    auto dying = client_of(config);
    for (const char* key : {"p/a", "p/ab", "q/a"})
        CHECK_FALSE(dying->put_parts(key, [n = 0](std::span<std::byte> room) mutable -> Expected<std::size_t> {
            if (n++ > 0) return storage_error("read", "source", EIO);
            return room.size();
        }));
    store.set_rule({});
    CHECK(store.upload_count() == 3);
    CHECK(*client->abort_uploads("p/a", true) == 1);
    CHECK(*client->abort_uploads("p/") == 1);
    CHECK(store.upload_count() == 1);
}

} // namespace
