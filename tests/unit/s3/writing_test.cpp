// How writes become objects, and that nothing half-written ever does.
#include <catch2/catch.hpp>

#include "tests/unit/s3/s3_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::File;
using engine::IoKind;

constexpr std::size_t kMiB = 1 << 20;

struct Wanted {
    std::size_t piece = 0;
    bool head_last = false, commits = true, by_destructor = false;
    std::uint64_t planned = 0;
    std::int64_t result = 0; // of whatever fails first
};

Task<std::int64_t> write_all(S3Rig& s3, File& file, std::string& content, std::size_t piece, bool head_last) {
    for (std::size_t at = head_last ? piece : 0; at < content.size(); at += piece) {
        const std::int64_t put =
            co_await s3.write(file, at, std::span(content).subspan(at, std::min(piece, content.size() - at)));
        if (put < 0) co_return put;
    }
    if (head_last) {
        const std::int64_t put = co_await s3.write(file, 0, std::span(content).first(std::min(piece, content.size())));
        if (put < 0) co_return put;
    }
    co_return 0;
}

Task<void> write_object(S3Rig& s3, std::string path, std::string& content, Wanted wanted) {
    std::unique_ptr<File> file;
    const std::int64_t created = co_await s3.open(path, file, wanted.planned, IoKind::create);
    CHECK(created == 0);
    if (!file) co_return;
    std::int64_t result = co_await write_all(s3, *file, content, wanted.piece, wanted.head_last);
    CHECK_FALSE(s3.store.objects().contains("p/" + path));
    if (result == 0 && wanted.commits) result = co_await s3.finish(IoKind::commit, *file, content.size());
    CHECK(result == wanted.result);
    if (wanted.by_destructor) co_return;
    const std::int64_t closed = co_await s3.finish(IoKind::close, *file);
    CHECK(closed == 0);
}

TEST_CASE("writing: small objects are one PUT, large ones parts, in whatever order they are written") {
    for (const char* checksum : {"none", "crc32c", "md5"}) {
        S3Rig s3(StorageOptions{{"part_size", "5MiB"}, {"parts_in_flight", "2"}, {"checksum", checksum}});
        for (const std::size_t size : {0UL, 1UL, 5 * kMiB - 1, 5 * kMiB, 5 * kMiB + 1, 17 * kMiB + 3})
            for (const bool head_last : {false, true})
                for (const std::uint64_t planned : {std::uint64_t{0}, std::uint64_t{size}}) {
                    INFO(size << " " << head_last << " " << planned);
                    std::string content = pattern(size);
                    s3.store.forget_seen();
                    s3.rig->run(
                        write_object(s3, "o", content, {.piece = 700'000, .head_last = head_last, .planned = planned}));
                    CHECK(s3.store.objects()["p/o"] == content);
                    CHECK(s3.store.seen().size() == (size <= 5 * kMiB ? 1U : 2 + (size + 5 * kMiB - 1) / (5 * kMiB)));
                    CHECK(s3.rig->backend->remove("o"));
                }
        CHECK(s3.store.upload_count() == 0);
    }
}

TEST_CASE("writing: without a commit nothing is left, whether closed or destroyed") {
    S3Rig s3(StorageOptions{{"part_size", "5MiB"}});
    for (const std::size_t size : {100UL, 12 * kMiB})
        for (const bool by_destructor : {false, true}) {
            std::string content = pattern(size);
            s3.rig->run(
                write_object(s3, "o", content, {.piece = 1'000'000, .commits = false, .by_destructor = by_destructor}));
            CHECK(s3.store.objects().empty());
            CHECK(s3.store.upload_count() == 0);
        }
}

TEST_CASE("writing: every 10th request refused is not noticed; all refused is told, and leaves nothing (O4)") {
    S3Rig s3(StorageOptions{{"part_size", "5MiB"}, {"s3_max_attempts", "3"}});
    std::string content = pattern(40 * kMiB);
    s3.store.set_rule([](const HttpRequest&, unsigned number) {
        return number % 5 == 0 ? ObjectStore::error(500, "InternalError") : ObjectStore::no_answer();
    });
    s3.rig->run(write_object(s3, "o", content, {.piece = 3'000'000}));
    CHECK(s3.store.objects()["p/o"] == content);
    CHECK(s3.retries() == 2);
    s3.store.set_rule([](const HttpRequest& request, unsigned number) {
        return request.method == "PUT" && number > 4 ? ObjectStore::error(503, "SlowDown") : ObjectStore::no_answer();
    });
    s3.rig->run(write_object(s3, "never", content, {.piece = 3'000'000, .result = -EBUSY}));
    CHECK(s3.message.find("given up after 3 attempts") != std::string::npos);
    CHECK_FALSE(s3.store.objects().contains("p/never"));
    CHECK(s3.store.upload_count() == 0);
    std::string small = pattern(100);
    s3.rig->run(write_object(s3, "never", small, {.piece = 100, .result = -EBUSY}));
}

TEST_CASE("writing: the answer to the completion is lost: the object is there, and that is found out") {
    S3Rig s3(StorageOptions{{"part_size", "5MiB"}});
    std::string content = pattern(11 * kMiB);
    s3.store.set_spoiler([lost = false](const HttpRequest& request, HttpAnswer& answer) mutable {
        if (request.method == "POST" && request.query.starts_with("uploadId") && !std::exchange(lost, true))
            answer.hangs_up = true;
    });
    s3.rig->run(write_object(s3, "o", content, {.piece = kMiB}));
    CHECK(s3.store.objects()["p/o"] == content);
}

Task<void> wrong_commits(S3Rig& s3) {
    std::unique_ptr<File> file;
    std::string content = pattern(1000);
    const std::int64_t created = co_await s3.open("o", file, 0, IoKind::create);
    CHECK(created == 0);
    if (!file) co_return;
    std::int64_t result = co_await s3.write(*file, 500, std::span(content).first(500));
    CHECK(result == 500);
    result = co_await s3.finish(IoKind::commit, *file, 1000); // [0, 500) was never written
    CHECK(result == -EINVAL);
    CHECK(s3.message.find("never written") != std::string::npos);
    result = co_await s3.write(*file, 0, std::span(content).first(600)); // overlaps
    CHECK(result == 600);
    result = co_await s3.finish(IoKind::commit, *file, 1001);
    CHECK(result == -EINVAL);
    result = co_await s3.finish(IoKind::commit, *file, 999);
    CHECK(result == 0);
    result = co_await s3.finish(IoKind::commit, *file, 999);
    CHECK(result == -EINVAL);
    result = co_await s3.read(*file, 0, content);
    CHECK(result == -EBADF);
}

TEST_CASE("writing: holes, sizes that were never written, a second commit are refused; a smaller size cuts") {
    S3Rig s3;
    s3.rig->run(wrong_commits(s3));
    CHECK(s3.store.objects()["p/o"].size() == 999);
}

Task<void> again_after_upload(S3Rig& s3, std::string& content) {
    std::unique_ptr<File> file;
    const std::int64_t created = co_await s3.open("o", file, content.size(), IoKind::create);
    CHECK(created == 0);
    if (!file) co_return;
    std::int64_t result = co_await write_all(s3, *file, content, kMiB, false);
    CHECK(result == 0);
    result = co_await s3.finish(IoKind::commit, *file, content.size());
    CHECK(result == 0);
    result = co_await s3.write(*file, 0, std::span(content).first(10));
    CHECK(result == -EINVAL);
}

TEST_CASE("writing: what has been committed is not written again") {
    S3Rig s3(StorageOptions{{"part_size", "5MiB"}});
    std::string content = pattern(16 * kMiB);
    s3.rig->run(again_after_upload(s3, content));
}

TEST_CASE("namespace: objects as files, prefixes as folders") {
    S3Rig s3;
    storage::Backend& b = *s3.rig->backend;
    const std::string text = "twelve bytes";
    CHECK(b.stat("").error().errno_value == ENOENT);
    REQUIRE(b.make_directories("n/m"));
    REQUIRE(b.write_file("n/a.txt", std::as_bytes(std::span(text))));
    REQUIRE(b.write_file("n/m/b.txt", std::as_bytes(std::span(text))));
    s3.store.put("p/n/", ""); // a marker, as other tools make them
    CHECK(*b.read_file("n/a.txt", 12) == text);
    CHECK(b.read_file("n/a.txt", 11).error().errno_value == EFBIG);
    CHECK(b.stat("n/a.txt")->size_bytes == 12);
    CHECK(b.stat("n")->is_directory);
    CHECK(b.stat("")->is_directory);
    CHECK(b.stat("x").error().errno_value == ENOENT);
    std::vector<std::string> names;
    REQUIRE(b.list("n", [&](std::string_view name, bool is_folder) {
        names.push_back(std::string(name) + (is_folder ? "/" : ""));
        return true;
    }));
    CHECK(names == std::vector<std::string>{"a.txt", "m/"});
    const std::string large = pattern(3'000'000);
    s3.store.put("p/large", large);
    CHECK(*b.read_file("large", 4'000'000) == large);
    REQUIRE(b.remove("n/a.txt"));
    CHECK(b.stat("n/a.txt").error().errno_value == ENOENT);
    CHECK(b.display_path("x/y") == "s3://bucket/p/x/y");
    const auto facts = b.facts("");
    REQUIRE(facts);
    CHECK(facts->type == "s3");
    CHECK(facts->server == "127.0.0.1");
    CHECK(facts->mount_options.find("path-style") != std::string::npos);
}

} // namespace
