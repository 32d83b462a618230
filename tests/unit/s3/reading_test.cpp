// Which GETs serve which reads, and what is never taken for data; each test twice: received in place, and by libcurl.
#include <catch2/catch.hpp>

#include "tests/unit/s3/s3_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::File;
using engine::IoKind;

StorageOptions both_ways(StorageOptions options = {}) {
    options["in_place"] = GENERATE(as<std::string>{}, "true", "false");
    return options;
}

// Reads [from, to) in pieces and compares.
Task<void> read_in_order(S3Rig& s3, File& file, const std::string& content, std::uint64_t from, std::uint64_t to,
                         std::uint64_t piece) {
    std::vector<char> buffer(piece);
    for (std::uint64_t offset = from; offset < to; offset += piece) {
        const std::uint64_t bytes = std::min(piece, to - offset);
        const std::int64_t got = co_await s3.read(file, offset, std::span(buffer).first(bytes));
        CHECK(got == static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, content.size() - offset)));
        if (got <= 0) co_return;
        const auto length = static_cast<std::size_t>(got);
        CHECK(std::string_view(buffer.data(), length) == std::string_view(content).substr(offset, length));
    }
}

Task<void> whole(S3Rig& s3, const std::string& content, std::uint64_t size_hint) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file, size_hint);
    CHECK(opened == 0);
    if (!file) co_return;
    CHECK(file->size_bytes == content.size());
    co_await read_in_order(s3, *file, content, 0, content.size() + 1000, 65'536);
    const std::int64_t closed = co_await s3.finish(IoKind::close, *file);
    CHECK(closed == 0);
}

TEST_CASE("reading: a small object is one GET, which also opens it; no HEAD") {
    S3Rig s3(both_ways());
    for (const std::size_t size : {1UL, 65'536UL, 114'000UL, 1UL << 20}) {
        INFO(size);
        const std::string content = pattern(size);
        s3.store.put("p/a", content);
        s3.store.forget_seen();
        s3.rig->run(whole(s3, content, 0));
        CHECK(s3.store.seen() == std::vector<std::string>{"GET /bucket/p/a bytes=0-1048575"});
    }
    CHECK(s3.store.connection_count() == 1);
}

TEST_CASE("reading: an empty object, and one that is not there") {
    S3Rig s3(both_ways());
    s3.store.put("p/a", "");
    s3.rig->run(whole(s3, "", 0));
    std::unique_ptr<File> file;
    const auto missing = [](S3Rig& rig, std::unique_ptr<File>& opened) -> Task<void> {
        const std::int64_t result = co_await rig.open("b", opened);
        CHECK(result == -ENOENT);
    };
    s3.rig->run(missing(s3, file));
    CHECK_FALSE(file);
}

TEST_CASE("reading: a large object in order is its head and one GET of the rest") {
    S3Rig s3(both_ways());
    const std::string content = pattern(5'000'000);
    s3.store.put("p/a", content);
    s3.rig->run(whole(s3, content, 0));
    CHECK(s3.gets() == std::vector<std::string>{"bytes=0-1048575", "bytes=1048576-4999999"});
    s3.store.forget_seen();
    s3.rig->run(whole(s3, content, content.size())); // its size is known
    CHECK(s3.gets() == std::vector<std::string>{"bytes=0-4999999"});
    CHECK(s3.store.connection_count() <= 2);
}

Task<void> jump(S3Rig& s3, const std::string& content) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == 0);
    if (!file) co_return;
    const std::uint64_t size = content.size();
    co_await read_in_order(s3, *file, content, 0, 4096, 4096); // as numpy: head, tail, then all between
    co_await read_in_order(s3, *file, content, size - 4096, size, 4096);
    co_await read_in_order(s3, *file, content, 4096, size - 4096, 262'144);
}

TEST_CASE("reading: head, tail, then the rest; what is left of the last answer does not cost its connection") {
    S3Rig s3(both_ways());
    const std::string content = pattern(4'000'000);
    s3.store.put("p/a", content);
    for (int i = 0; i < 5; ++i) s3.rig->run(jump(s3, content));
    CHECK(s3.store.connection_count() <= 2);
    const auto gets = s3.gets();
    REQUIRE(gets.size() == 15);
    CHECK(gets[1] == "bytes=3995904-3999999");
    CHECK(gets[2] == "bytes=1048576-3999999");
}

Task<void> random_places(S3Rig& s3, const std::string& content) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == 0);
    if (!file) co_return;
    std::uint64_t at = 7;
    for (int i = 0; i < 40; ++i) {
        at = (at * 2'862'933'555'777'941'757ULL + 3) % content.size();
        co_await read_in_order(s3, *file, content, at, std::min<std::uint64_t>(at + 10'000, content.size()), 3'000);
    }
}

TEST_CASE("reading: any place, many streams") {
    S3Rig s3(both_ways({{"open_size", "1000"}}));
    const std::string content = pattern(3'000'000);
    s3.store.put("p/a", content);
    s3.rig->run(random_places(s3, content));
}

Task<void> one_read(S3Rig& s3, File& file, const std::string& content, std::uint64_t offset, std::uint64_t bytes,
                    int& good) {
    std::vector<char> buffer(bytes);
    const std::int64_t got = co_await s3.read(file, offset, buffer);
    if (got == static_cast<std::int64_t>(bytes) &&
        std::string_view(buffer.data(), bytes) == std::string_view(content).substr(offset, bytes))
        ++good;
}

Task<void> side_by_side(S3Rig& s3, const std::string& content, std::uint64_t piece, int count, int& good) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == 0);
    if (!file) co_return;
    engine::TaskGroup group(*s3.rig->reactor);
    for (int i = 0; i < count; ++i)
        group.spawn(one_read(s3, *file, content, static_cast<std::uint64_t>(i) * piece, piece, good));
    co_await group.join();
}

TEST_CASE("reading: many reads at once, and one that is cut into parts") {
    S3Rig s3(both_ways({{"part_size", "5MiB"}, {"parts_in_flight", "3"}}));
    const std::string content = pattern(24 << 20);
    s3.store.put("p/a", content);
    int good = 0;
    s3.rig->run(side_by_side(s3, content, 100'000, 100, good));
    CHECK(good == 100);
    s3.store.forget_seen();
    s3.rig->run(side_by_side(s3, content, 24 << 20, 1, good));
    CHECK(good == 101);
    const auto gets = s3.gets(); // the parts in any order
    REQUIRE(gets.size() == 6);   // the head, and 23 MiB in parts of 5
    CHECK(std::count(gets.begin(), gets.end(), "bytes=1048576-6291455") == 1);
    CHECK(s3.store.connection_count() <= 6);
}

TEST_CASE("reading: connections cut in the middle, 503, short answers: all is read, all is counted (O5)") {
    S3Rig s3(both_ways());
    const std::string content = pattern(4'000'000);
    s3.store.put("p/a", content);
    unsigned number = 0, spoilt = 0;
    s3.store.set_spoiler([&](const HttpRequest& request, HttpAnswer& answer) {
        if (request.method != "GET") return;
        const unsigned kind = ++number % 5;
        if (kind == 1) answer.cut_after = answer.body.size() / 2;
        if (kind == 2) answer = ObjectStore::error(503, "SlowDown");
        if (kind == 3) answer.body.resize(answer.body.size() / 3);
        if (kind == 4) answer.hangs_up = true;
        spoilt += kind != 0 ? 1 : 0;
    });
    for (int i = 0; i < 3; ++i) s3.rig->run(whole(s3, content, 0));
    CHECK(s3.retries() == spoilt);
    CHECK(spoilt > 3);
}

Task<void> expect_open_fails(S3Rig& s3, int error) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == -error);
}

TEST_CASE("reading: what fails for ever is told once, after its attempts") {
    S3Rig s3(both_ways({{"s3_max_attempts", "3"}}));
    s3.store.put("p/a", pattern(1000));
    s3.store.set_rule([](const HttpRequest&, unsigned) { return ObjectStore::error(503, "SlowDown"); });
    s3.rig->run(expect_open_fails(s3, EBUSY));
    CHECK(s3.message.find("given up after 3 attempts") != std::string::npos);
    CHECK(s3.store.seen().size() == 3);
    s3.store.set_rule([](const HttpRequest&, unsigned) { return ObjectStore::error(403, "AccessDenied"); });
    s3.rig->run(expect_open_fails(s3, EACCES));
    CHECK(s3.store.seen().size() == 4); // final at once
    s3.store.set_rule([](const HttpRequest&, unsigned) {
        HttpAnswer chunked = ObjectStore::error(403, "RequestTimeTooSkewed");
        chunked.is_chunked = true;
        return chunked;
    });
    s3.rig->run(expect_open_fails(s3, EACCES));
    CHECK(s3.message.find("clock") != std::string::npos);
}

Task<void> replaced(S3Rig& s3, const std::string& other) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == 0);
    if (!file) co_return;
    s3.store.put("p/a", other);
    std::vector<char> buffer(1000);
    const std::int64_t got = co_await s3.read(*file, 2'000'000, buffer);
    CHECK(got == -ESTALE);
}

TEST_CASE("reading: an object that is replaced meanwhile is an error, never a mixture") {
    S3Rig s3(both_ways());
    s3.store.put("p/a", pattern(3'000'000));
    s3.rig->run(replaced(s3, pattern(3'000'000, 17)));
    CHECK(s3.message.find("replaced") != std::string::npos);
    // A server that does not look at If-Match
    s3.store.put("p/a", pattern(3'000'000));
    s3.store.set_spoiler([n = 0](const HttpRequest& request, HttpAnswer& answer) mutable {
        if (request.method == "GET" && ++n > 1) answer.headers["ETag"] = "\"another\"";
    });
    s3.rig->run(replaced(s3, pattern(3'000'000)));
}

Task<void> another_size(S3Rig& s3) {
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file, 2000);
    CHECK(opened == 0);
    if (!file) co_return;
    std::vector<char> buffer(100);
    const std::int64_t got = co_await s3.read(*file, 0, buffer);
    CHECK(got == -EIO);
}

TEST_CASE("reading: a size that was planned is checked by the first answer") {
    S3Rig s3(both_ways());
    s3.store.put("p/a", pattern(1999));
    s3.rig->run(another_size(s3));
    CHECK(s3.message.find("1999 bytes, expected were 2000") != std::string::npos);
    s3.store.put("p/a", pattern(2001));
    s3.rig->run(another_size(s3));
}

struct CancelSoon final : engine::Timer {
    storage::Backend* backend = nullptr;
};

Task<void> read_until_cancelled(S3Rig& s3) {
    CancelSoon timer;
    timer.backend = s3.rig->backend.get();
    timer.deadline_ns = s3.rig->reactor->now_ns() + 30'000'000;
    timer.fire = [](engine::Timer& t) { static_cast<CancelSoon&>(t).backend->cancel_pending(); };
    s3.rig->reactor->set_timer(timer);
    std::unique_ptr<File> file;
    const std::int64_t opened = co_await s3.open("a", file);
    CHECK(opened == -ECANCELED);
    const std::int64_t later = co_await s3.open("a", file);
    CHECK(later == -ECANCELED);
}

TEST_CASE("reading: what waits for a silent server ends when it is cancelled") {
    S3Rig s3(both_ways());
    s3.store.put("p/a", pattern(1000));
    s3.store.set_rule([](const HttpRequest&, unsigned) { // asked again, and again
        return ObjectStore::error(503, "SlowDown");
    });
    S3Rig patient(
        StorageOptions{{"endpoint_url", s3.store.url()}, {"s3_max_attempts", "1000"}, {"back_off_most", "1s"}});
    patient.rig->run(read_until_cancelled(patient));
}

TEST_CASE("reading: what a reader leaves is abandoned without a trace") {
    S3Rig s3(both_ways());
    const std::string content = pattern(8'000'000);
    s3.store.put("p/a", content);
    const auto leave = [](S3Rig& rig, const std::string& expected) -> Task<void> {
        std::unique_ptr<File> file;
        const std::int64_t opened = co_await rig.open("a", file);
        CHECK(opened == 0);
        if (file) co_await read_in_order(rig, *file, expected, 0, 1'200'000, 100'000);
    };
    for (int i = 0; i < 10; ++i) s3.rig->run(leave(s3, content));
    CHECK(s3.rig->reactor->in_flight() == 0);
}

} // namespace
