#include "storage/registry.hpp"

#include <catch2/catch.hpp>

#include "harness/engine/reactor.hpp"
#include "storage/costly_reads.hpp"

using namespace feedbench;
using namespace feedbench::storage;

namespace {
struct Bench {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();

    std::unique_ptr<Backend> make(const std::string& uri) {
        BackendRequest request;
        request.uri = uri;
        request.reactor = reactor.get();
        return make_backend(std::move(request)).value();
    }
    engine::Task<void> read(Backend& backend, std::uint64_t file_bytes, std::vector<std::byte>& buffer,
                            engine::IoOp& op) {
        engine::IoOp open;
        open.kind = engine::IoKind::open;
        open.size_hint = file_bytes;
        co_await reactor->perform(backend, open);
        op.kind = engine::IoKind::read;
        op.file = open.opened.get();
        op.data = buffer.data();
        op.bytes = buffer.size();
        co_await reactor->perform(backend, op);
    }
    // Reads `bytes` at 0 of a file of this size into a buffer of ones; how many of them are ones afterwards.
    std::size_t untouched(Backend& backend, std::uint64_t file_bytes, std::uint64_t bytes) {
        std::vector<std::byte> buffer(bytes, std::byte{1});
        engine::IoOp op;
        REQUIRE(reactor->run(read(backend, file_bytes, buffer, op)));
        CHECK(op.result == static_cast<std::int64_t>(std::min(bytes, file_bytes)));
        return static_cast<std::size_t>(std::count(buffer.begin(), buffer.end(), std::byte{1}));
    }
};
std::unique_ptr<CopySource> numbers(std::size_t count) {
    auto source = CopySource::make(count).value();
    for (std::size_t i = 0; i < count; ++i) source->bytes()[i] = static_cast<std::byte>(i);
    return source;
}
} // namespace

TEST_CASE("null: does not touch the buffer, and with copy= touches exactly what was read") {
    Bench bench;
    CHECK(bench.untouched(*bench.make("null:"), 9000, 5000) == 5000);
    CHECK(bench.untouched(*bench.make("null:copy=4KiB"), 9000, 5000) == 0); // more than it copies from
    CHECK(bench.untouched(*bench.make("null:copy=1MiB"), 3000, 5000) == 2000);
}

TEST_CASE("costly reads take their source in turn, and every byte is looked at once, where it lies") {
    Bench bench;
    const bool copies = GENERATE(true, false);
    std::vector<std::byte> seen, buffer(35, std::byte{99});
    engine::IoOp op;
    {
        auto backend = make_costly_reads(bench.make("null:"),
                                         {.source = numbers(10),
                                          .copies = copies,
                                          .look =
                                              [&seen](std::uint64_t offset, std::span<const std::byte> bytes) {
                                                  CHECK(offset == seen.size() % 10);
                                                  seen.insert(seen.end(), bytes.begin(), bytes.end());
                                                  return true;
                                              }},
                                         *bench.reactor);
        CHECK(backend->capabilities().name == "null");
        REQUIRE(bench.reactor->run(bench.read(*backend, 32, buffer, op)));
    }
    CHECK(op.result == 32);
    REQUIRE(seen.size() == 32);
    for (std::size_t i = 0; i < 35; ++i) {
        if (i < 32) CHECK(seen[i] == static_cast<std::byte>(i % 10));
        CHECK(buffer[i] == static_cast<std::byte>(copies && i < 32 ? i % 10 : 99));
    }
}

TEST_CASE("a look that finds fault fails the read; without a source it sees the buffer") {
    Bench bench;
    auto backend = make_costly_reads(
        bench.make("null:"),
        {.source = nullptr,
         .look = [](std::uint64_t, std::span<const std::byte> bytes) { return bytes.front() == std::byte{7}; }},
        *bench.reactor);
    for (const int value : {7, 8}) {
        std::vector<std::byte> buffer(100, static_cast<std::byte>(value));
        engine::IoOp op;
        REQUIRE(bench.reactor->run(bench.read(*backend, 100, buffer, op)));
        CHECK(op.result == (value == 7 ? 100 : -EIO));
    }
}
