// One file through a backend: whole or not there at all.
#include <catch2/catch.hpp>

#include "generators/file_writer.hpp"
#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "tests/support/memory_backend.hpp"
#include "tests/support/recording_backend.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;

namespace {

char byte_at(std::uint64_t place) { return static_cast<char>(mix64(place / 8) >> (place % 8 * 8)); }
std::string bytes_of(std::uint64_t size) {
    std::string bytes(size, '\0');
    for (std::uint64_t i = 0; i < size; ++i) bytes[i] = byte_at(i);
    return bytes;
}

struct WriterRig {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    MemoryBackend memory;
    RecordingBackend backend{*reactor, memory};
    std::unique_ptr<engine::BufferPool> pool =
        std::move(*engine::BufferPool::make({.buffer_bytes = 65536, .buffer_count = 6, .huge_pages = false}));
    engine::Semaphore permits{*reactor, 6};
    generators::FileWriter writer{*reactor, backend, *pool, permits, 3};
    generators::WriteTotals totals;
    std::uint64_t filled = 0;

    generators::FileToWrite file(std::string path, std::uint64_t size) {
        filled = 0;
        generators::FileToWrite file;
        file.path = std::move(path);
        file.file_bytes = size;
        file.fill = [this, size](std::span<std::byte> out) {
            const std::size_t bytes = std::min<std::uint64_t>(out.size(), size - filled);
            for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(byte_at(filled + i));
            filled += bytes;
            return bytes;
        };
        return file;
    }
    Status write(const generators::FileToWrite& file, const bool* stop = nullptr) {
        Status status;
        const Status ran = reactor->run(
            [](WriterRig& rig, const generators::FileToWrite& f, const bool* s, Status& out) -> engine::Task<void> {
                out = co_await rig.writer.write(f, rig.totals, s);
            }(*this, file, stop, status));
        if (!ran) FAIL(ran.error().describe());
        // Whatever happened, everything was given back.
        CHECK(reactor->in_flight() == 0);
        CHECK(pool->free_count() == 6);
        CHECK(permits.permits() == 6);
        return status;
    }
};

} // namespace

TEST_CASE("files of every size around a buffer's are written as they are") {
    const std::uint32_t alignment = GENERATE(1U, 512U, 4096U);
    for (const std::uint64_t size : {1, 511, 4096, 65535, 65536, 65537, 131072, 200000, 1000000}) {
        INFO(size << " bytes, alignment " << alignment);
        WriterRig rig;
        rig.memory.mutable_capabilities().alignment_bytes = alignment;
        rig.backend.delay_ns = [](const Operation& one) { return one.kind == IoKind::write ? 100 : 0; };
        REQUIRE(rig.write(rig.file("a", size)));
        CHECK(rig.memory.files["a"] == bytes_of(size)); // padding of the last direct write is cut off again
        CHECK(rig.totals.bytes == size);
        CHECK(rig.totals.writes == (size + 65535) / 65536);
        std::uint32_t writes_most = 0;
        for (const Operation& one : rig.backend.of_kind(IoKind::write)) {
            CHECK(one.offset % alignment == 0);
            CHECK(one.bytes % alignment == 0);
            writes_most = std::max(writes_most, one.in_flight);
        }
        CHECK(writes_most <= 3);
        CHECK(rig.backend.of_kind(IoKind::flush).size() == 1);
    }
}

TEST_CASE("the head is held back until its patches are known") {
    WriterRig rig;
    auto file = rig.file("a", 300000);
    file.patch_limit = 64;
    file.patches = [&rig] {
        CHECK(rig.filled == 300000); // asked for at the end
        return std::vector<formats::Patch>{{10, {std::byte{'X'}, std::byte{'Y'}}}, {63, {std::byte{'Z'}}}};
    };
    REQUIRE(rig.write(file));
    std::string expected = bytes_of(300000);
    expected.replace(10, 2, "XY");
    expected[63] = 'Z';
    CHECK(rig.memory.files["a"] == expected);
    CHECK(rig.backend.of_kind(IoKind::write).back().offset == 0);
    // A head that does not fit a buffer is our own fault, and is said.
    auto large = rig.file("b", 300000);
    large.patch_limit = 65537;
    const Status refused = rig.write(large);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::internal);
    CHECK(rig.memory.files.count("b") == 0);
}

TEST_CASE("an error in any operation leaves nothing visible, and names place and errno") {
    const bool patched = GENERATE(false, true);
    struct Failure {
        IoKind kind;
        std::uint64_t offset;
        int error;
    };
    for (const Failure& failure :
         {Failure{IoKind::create, 0, EACCES}, Failure{IoKind::write, 0, EIO}, Failure{IoKind::write, 131072, ENOSPC},
          Failure{IoKind::write, 983040, ENOSPC}, Failure{IoKind::flush, 0, EIO}, Failure{IoKind::commit, 0, ENOSPC}}) {
        INFO(io_kind_name(failure.kind) << " at " << failure.offset);
        WriterRig rig;
        rig.backend.delay_ns = [](const Operation& one) { return one.kind == IoKind::write ? 100 : 0; };
        rig.backend.error = [&](const Operation& one) {
            return one.kind == failure.kind && one.offset == failure.offset ? failure.error : 0;
        };
        auto file = rig.file("folder/a", 1000000);
        rig.memory.folders.insert("folder");
        if (patched) {
            file.patch_limit = 64;
            file.patches = [] { return std::vector<formats::Patch>{}; };
        }
        const Status status = rig.write(file);
        REQUIRE_FALSE(status);
        CHECK(status.error().errno_value == failure.error);
        CHECK(status.error().operation == io_kind_name(failure.kind));
        CHECK(status.error().path == "memory:/folder/a");
        if (failure.kind == IoKind::write) CHECK(status.error().offset == static_cast<std::int64_t>(failure.offset));
        CHECK(rig.memory.files.empty());
        CHECK(rig.totals.bytes == 0);
        if (failure.kind != IoKind::create) CHECK(rig.backend.close_count == 1);
    }
}

TEST_CASE("an existing file stays as it was when its successor fails") {
    WriterRig rig;
    rig.memory.files["a"] = "before";
    rig.backend.error = [](const Operation& one) { return one.kind == IoKind::write && one.offset > 0 ? ENOSPC : 0; };
    REQUIRE_FALSE(rig.write(rig.file("a", 200000)));
    CHECK(rig.memory.files["a"] == "before");
}

TEST_CASE("a stop gives the file up between writes") {
    WriterRig rig;
    bool stop = false;
    rig.backend.delay_ns = [&stop](const Operation& one) {
        if (one.kind == IoKind::write && one.offset >= 262144) stop = true;
        return one.kind == IoKind::write ? 100 : 0;
    };
    const Status status = rig.write(rig.file("a", 10000000), &stop);
    REQUIRE_FALSE(status);
    CHECK(status.error().kind == ErrorKind::interrupted);
    CHECK(rig.memory.files.empty());
    CHECK(rig.backend.of_kind(IoKind::write).size() < 12);
}

TEST_CASE("an encoder that ends early is an error, not a file full of zeros") {
    WriterRig rig;
    auto file = rig.file("a", 200000);
    file.fill = [calls = 0](std::span<std::byte> out) mutable -> std::size_t { return calls++ == 0 ? out.size() : 0; };
    const Status status = rig.write(file);
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("65536 of 200000") != std::string::npos);
    CHECK(rig.memory.files.empty());
}

TEST_CASE("without flush nothing is synced") {
    WriterRig rig;
    auto file = rig.file("a", 1000);
    file.flush = false;
    REQUIRE(rig.write(file));
    CHECK(rig.backend.of_kind(IoKind::flush).empty());
}
