// The feedfs backend beyond the contract of all backends: commits in groups, damage, chunks, folders of a volume.
#include <cerrno>

#include "storage/feedfs/segment.hpp"
#include "tests/support/backend_variants.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::BufferLease;
using engine::File;

struct FeedfsRig {
    explicit FeedfsRig(const std::string& place = "", unsigned ring_entries = 64)
        : volume(folder.path + "/volume"), rig(request(folder.path + "/volume" + place), ring_entries) {
        REQUIRE(rig.backend->make_directories(""));
    }
    static storage::BackendRequest request(const std::string& place) {
        storage::BackendRequest r;
        r.uri = "feedfs:" + place;
        r.odirect = true;
        return r;
    }
    // Another client of the volume.
    std::unique_ptr<storage::Backend> another() {
        auto r = request(folder.path + "/volume");
        r.reactor = rig.reactor.get();
        auto made = storage::make_backend(r);
        if (!made) FAIL(made.error().describe());
        return std::move(*made);
    }
    TemporaryFolder folder;
    VariantVolume volume;
    Rig rig;
};

Task<void> commit_unflushed(Rig& rig, int count) {
    for (int i = 0; i < count; ++i)
        co_await rig.make_file("f" + std::to_string(i), 3000 + static_cast<std::uint64_t>(i));
}

Task<void> opens(Rig& rig, std::string path, std::int64_t expected) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open(path, file), == expected);
}

TEST_CASE("feedfs backend: what was committed is there for its own client at once, for others when it has settled") {
    FeedfsRig feedfs;
    feedfs.rig.run(commit_unflushed(feedfs.rig, 20));
    feedfs.rig.run(opens(feedfs.rig, "f7", 0));
    CHECK(feedfs.rig.backend->stat("f19")->size_bytes == 3019);
    feedfs.rig.run(commit_unflushed(feedfs.rig, 25));
    CHECK(feedfs.rig.backend->settle());
    const auto other = feedfs.another();
    CHECK(other->stat("f24")->size_bytes == 3024);
    int count = 0;
    CHECK(other->list("", [&](std::string_view, bool) { return ++count > 0; }));
    CHECK(count == 25);
}

// The result of an operation; what it says about a late error is checked to name the file.
Task<std::int64_t> refused(Rig& rig, IoOp& op) {
    co_await rig.reactor->perform(*rig.backend, op);
    CHECK(op.message.find("gone/a") != std::string::npos);
    co_return op.result;
}

Task<void> fail_late(Rig& rig, storage::Backend& other, bool by_settle) {
    std::unique_ptr<File> begun, committed, file;
    CHECK_RESULT(rig.open("begun", begun, 100, IoKind::create), == 0);
    CHECK_RESULT(rig.open("committed", committed, 100, IoKind::create), == 0);
    CHECK_RESULT(rig.open("gone/a", file, 100, IoKind::create), == 0);
    if (!begun || !committed || !file) co_return;
    co_await rig.fill(*committed, 100);
    CHECK_RESULT(rig.finish(IoKind::commit, *committed, 100), == 0);
    co_await rig.fill(*file, 100);
    CHECK(other.remove("gone"));
    CHECK_RESULT(rig.finish(IoKind::commit, *file, 100), == 0);
    if (!by_settle) {
        CHECK(!rig.backend->stat("gone/a")); // looks, so it is published now; not an answer that anybody heeds
        for (const IoKind kind : {IoKind::create, IoKind::write, IoKind::flush, IoKind::commit, IoKind::close}) {
            INFO(engine::io_kind_name(kind));
            BufferLease lease = rig.pool->try_lease();
            IoOp op;
            op.kind = kind;
            op.path = "b";
            op.file = kind == IoKind::close ? committed.get() : begun.get();
            op.data = lease.data();
            op.bytes = kind == IoKind::write ? 4096 : 0;
            CHECK_RESULT(refused(rig, op), == -ENOENT);
        }
        const auto written = rig.backend->write_file("b", {});
        CHECK(!written);
        if (!written) CHECK(written.error().path.find("gone/a") != std::string::npos);
    }
    const auto settled = rig.backend->settle();
    CHECK(!settled);
    if (!settled) {
        CHECK(settled.error().errno_value == ENOENT);
        CHECK(settled.error().path.find("volume/gone/a") != std::string::npos);
    }
    CHECK(rig.backend->settle()); // told once
    co_await rig.make_file("b", 100);
    CHECK(rig.backend->settle());
    CHECK(other.stat("b")->size_bytes == 100);
    CHECK(other.stat("committed")->size_bytes == 100); // with the one that failed in one group
}

TEST_CASE("feedfs backend: a commit that fails later is told by all that writes, and by settle in any case") {
    for (const bool by_settle : {true, false}) {
        INFO((by_settle ? "settle" : "operations"));
        FeedfsRig feedfs;
        REQUIRE(feedfs.rig.backend->make_directories("gone"));
        const auto other = feedfs.another();
        feedfs.rig.run(fail_late(feedfs.rig, *other, by_settle));
    }
}

Task<void> flushed_file(Rig& rig, std::string name, std::uint64_t bytes) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open(name, file, bytes, IoKind::create), == 0);
    if (!file) co_return;
    co_await rig.fill(*file, bytes);
    CHECK_RESULT(rig.finish(IoKind::flush, *file), == 0);
    CHECK_RESULT(rig.finish(IoKind::commit, *file, bytes), == 0);
    CHECK_RESULT(rig.finish(IoKind::close, *file), == 0);
}

Task<void> many_flushed(Rig& rig) {
    engine::TaskGroup group(*rig.reactor);
    for (int i = 0; i < 30; ++i)
        group.spawn(flushed_file(rig, "d" + std::to_string(i), 100 + static_cast<std::uint64_t>(i) * 5000));
    co_await group.join();
}

TEST_CASE("feedfs backend: flushed files that are committed side by side are all there when their commits answered") {
    FeedfsRig feedfs;
    feedfs.rig.run(many_flushed(feedfs.rig));
    const auto other = feedfs.another();
    for (int i = 0; i < 30; ++i)
        CHECK(other->stat("d" + std::to_string(i))->size_bytes == 100 + static_cast<std::uint64_t>(i) * 5000);
}

// Reads that begin and end within chunks of 64 KiB, through a ring of four entries.
Task<void> read_piece(Rig& rig, File& file, std::uint64_t offset, int& good) {
    BufferLease lease = rig.pool->try_lease();
    if (!lease) co_return;
    const std::int64_t got = co_await rig.move(IoKind::read, file, offset, 65536, lease);
    const std::uint64_t expected = std::min<std::uint64_t>(65536, file.size_bytes - offset);
    good += got == static_cast<std::int64_t>(expected) && has_pattern(lease.data(), offset, expected) ? 1 : 0;
}

Task<void> read_across(Rig& rig) {
    co_await rig.make_file("large", 1'000'001);
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("large", file), == 0);
    if (!file) co_return;
    int good = 0, asked = 0;
    engine::TaskGroup group(*rig.reactor);
    for (std::uint64_t offset = 4096; offset < file->size_bytes; offset += 9 * 4096, ++asked)
        group.spawn(read_piece(rig, *file, offset, good));
    co_await group.join();
    CHECK(good == asked);
}

TEST_CASE("feedfs backend: reads across chunks and segments, more of them than the ring has entries") {
    FeedfsRig feedfs("/a/folder", 4);
    feedfs.rig.run(read_across(feedfs.rig));
    CHECK(feedfs.another()->stat("a/folder/large")->size_bytes == 1'000'001);
}

Task<void> read_damaged(Rig& rig, bool verified) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("a", file), == 0);
    if (!file) co_return;
    BufferLease lease = rig.pool->try_lease();
    CHECK_RESULT(rig.move(IoKind::read, *file, 0, 65536, lease), == (verified ? -EIO : 10'000));
    CHECK((rig.last_message.find(".segment") != std::string::npos) == verified);
}

TEST_CASE("feedfs backend: a flipped bit is an error that names the place, unless verify is off") {
    FeedfsRig feedfs;
    feedfs.rig.run(flushed_file(feedfs.rig, "a", 10'000));
    const std::string path = feedfs.folder.path + "/volume/b/" + feedfs::segment_name(1);
    const std::string other_path = feedfs.folder.path + "/volume/a/" + feedfs::segment_name(1);
    std::FILE* raw = std::fopen(path.c_str(), "r+b");
    if (!raw) raw = std::fopen(other_path.c_str(), "r+b");
    REQUIRE(raw);
    std::fseek(raw, 5000, SEEK_SET);
    const int byte = std::fgetc(raw);
    std::fseek(raw, 5000, SEEK_SET);
    std::fputc(byte ^ 1, raw);
    std::fclose(raw);
    feedfs.rig.run(read_damaged(feedfs.rig, true));
    auto request = FeedfsRig::request(feedfs.folder.path + "/volume");
    request.options["verify"] = "false";
    Rig unverified(request);
    unverified.run(read_damaged(unverified, false));
}

TEST_CASE("feedfs backend: a folder that is no volume is refused in words") {
    const TemporaryFolder folder;
    const auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {});
    REQUIRE(reactor);
    auto request = FeedfsRig::request(folder.path);
    request.reactor = reactor->get();
    const auto made = storage::make_backend(request);
    REQUIRE(!made);
    CHECK(made.error().describe().find("feedfs mkfs") != std::string::npos);
    CHECK(exit_code(made.error().kind) == 3);
}

} // namespace
