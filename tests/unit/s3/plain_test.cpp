// GETs over plain http:// are carried by lines of the client's own: connections that die, servers that fall silent or
// speak in other ways.
#include <catch2/catch.hpp>

#include "tests/unit/s3/s3_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::File;

Task<void> read_object(S3Rig& s3, const std::string& content, std::int64_t expected_open, std::int64_t expected_read) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == expected_open);
    if (!file) co_return;
    std::vector<char> buffer(content.size());
    const std::int64_t got = co_await s3.read(*file, 0, buffer);
    CHECK(got == expected_read);
    if (got > 0) CHECK(std::string_view(buffer.data(), buffer.size()) == content);
}

TEST_CASE("plain http: a server that closes after each answer, said or unsaid, costs connections, and no read") {
    for (const bool is_said : {true, false}) {
        S3Rig s3;
        const std::string content = pattern(300'000);
        s3.store.put("p/a", content);
        s3.store.set_spoiler([&](const HttpRequest&, HttpAnswer& answer) {
            if (is_said) answer.headers["Connection"] = "close";
            answer.closes = true;
        });
        for (int i = 0; i < 10; ++i)
            s3.rig->run(read_object(s3, content, 0, static_cast<std::int64_t>(content.size())));
        // Unsaid: it is noticed before the next request, or by it, which is then sent once more and counted.
        CHECK(s3.retries() <= (is_said ? 0U : 9U));
        CHECK(s3.store.seen().size() == 10);
        CHECK(s3.store.connection_count() == 10);
    }
}

TEST_CASE("plain http: silence in the head and in the body is given up after the idle time, and tried again") {
    S3Rig s3(StorageOptions{{"idle_timeout", "200ms"}, {"s3_max_attempts", "2"}});
    const std::string content = pattern(1'000);
    s3.store.put("p/a", content);
    unsigned number = 0;
    s3.store.set_spoiler([&](const HttpRequest&, HttpAnswer& answer) {
        if (++number == 1) answer.stall_after = 400;
    });
    s3.rig->run(read_object(s3, content, 0, 1'000));
    CHECK(s3.retries() == 1);
    const auto gets = s3.gets();
    REQUIRE(gets.size() == 2);
    CHECK(gets[1] == "bytes=400-1048575");
}

TEST_CASE("plain http: an answer in chunks is left to libcurl, and is no object, for nobody knows its length") {
    S3Rig s3(StorageOptions{{"s3_max_attempts", "2"}});
    const std::string content = pattern(1'000);
    s3.store.put("p/a", content);
    s3.store.set_spoiler([](const HttpRequest&, HttpAnswer& answer) {
        answer.headers.erase("Content-Length");
        answer.is_chunked = true;
    });
    s3.rig->run(read_object(s3, content, -EIO, 0));
    CHECK(s3.message.find("how long") != std::string::npos);
}

TEST_CASE("plain http: nobody there: libcurl's words, and the attempts that were allowed") {
    S3Rig s3(StorageOptions{{"endpoint_url", "http://127.0.0.1:1"}, {"s3_max_attempts", "3"}});
    s3.rig->run(read_object(s3, "", -ECONNREFUSED, 0));
    CHECK(s3.message.find("nothing answers at http://127.0.0.1:1") != std::string::npos);
    CHECK(s3.message.find("given up after 3 attempts") != std::string::npos);
    CHECK(s3.rig->backend->statistics().front().request_count == 1);
}

} // namespace
