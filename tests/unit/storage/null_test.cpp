#include "storage/registry.hpp"

#include <catch2/catch.hpp>

#include <cstring>

#include "storage/copy_source.hpp"

using namespace feedbench;
using namespace feedbench::storage;

namespace {
std::unique_ptr<Backend> make(const std::string& uri) {
    BackendRequest request;
    request.uri = uri;
    return make_backend(std::move(request)).value();
}
// Reads `bytes` at 0 of a file of this size into a buffer of ones; how many of them are ones afterwards.
std::size_t untouched(Backend& backend, std::uint64_t file_bytes, std::uint64_t bytes) {
    engine::IoOp open;
    open.kind = engine::IoKind::open;
    open.size_hint = file_bytes;
    REQUIRE(backend.submit(open) == engine::Submit::done);
    std::vector<std::byte> buffer(bytes, std::byte{1});
    engine::IoOp read;
    read.kind = engine::IoKind::read;
    read.file = open.opened.get();
    read.data = buffer.data();
    read.bytes = bytes;
    REQUIRE(backend.submit(read) == engine::Submit::done);
    CHECK(read.result == static_cast<std::int64_t>(std::min(bytes, file_bytes)));
    return static_cast<std::size_t>(std::count(buffer.begin(), buffer.end(), std::byte{1}));
}
} // namespace

TEST_CASE("null: does not touch the buffer, and with copy= touches exactly what was read") {
    CHECK(untouched(*make("null:"), 9000, 5000) == 5000);
    CHECK(untouched(*make("null:copy=4KiB"), 9000, 5000) == 0); // more than it copies from
    CHECK(untouched(*make("null:copy=1MiB"), 3000, 5000) == 2000);
}

TEST_CASE("what is copied comes from the whole memory in turn") {
    auto source = CopySource::make(10);
    REQUIRE(source);
    for (std::size_t i = 0; i < 10; ++i) (*source)->bytes()[i] = static_cast<std::byte>(i);
    std::byte out[7] = {}, more[25] = {};
    (*source)->copy(out, 7);
    CHECK(out[6] == std::byte{6});
    (*source)->copy(more, 25);
    for (std::size_t i = 0; i < 25; ++i) CHECK(more[i] == static_cast<std::byte>((7 + i) % 10));
    CHECK((*source)->next(100).size() == 8); // the stretch ends with the memory
}
