#include <catch2/catch.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "generators/content.hpp"
#include "generators/content_lanes.hpp"
#include "harness/types/random.hpp"

using namespace feedbench;
using generators::Content;

namespace {

using Bytes = std::vector<std::byte>;

Bytes filled(const Content& content, std::uint64_t file, std::uint64_t offset, std::size_t size) {
    Bytes out(size);
    content.fill(file, offset, out);
    return out;
}

double deflate_ratio(const Bytes& bytes) {
    uLongf size = compressBound(bytes.size());
    std::vector<Bytef> out(size);
    REQUIRE(compress2(out.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1) == Z_OK);
    return static_cast<double>(bytes.size()) / static_cast<double>(size);
}

std::uint64_t word(const Bytes& bytes, std::size_t at) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

} // namespace

TEST_CASE("content: pinned bytes; whoever changes them changes kContentVersion", "[content]") {
    REQUIRE(generators::kContentVersion == 1);
    const Content content({.seed = 42});
    const Bytes start = filled(content, 0, 0, 64);
    const Bytes far = filled(content, 123456789, (std::uint64_t{7} << 40) + 4096 * 5 + 1000, 64);
    CHECK(word(start, 0) == 0x48d69c573463d9ab);
    CHECK(word(start, 56) == 0x6a6b6e75f89ed594);
    CHECK(word(far, 0) == 0x2f9da2f0ee4a72b2);
    CHECK(word(filled(Content({.seed = 0}), 1, 8, 8), 0) == 0x83d50842e5925269);
}

TEST_CASE("content: the fast form makes the bytes of the definition, anywhere in memory", "[content]") {
    for (std::uint64_t key = 0; key < 50; ++key)
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{64}, std::size_t{1024}, generators::kContentBlockBytes}) {
            Bytes slow(size), fast(size + 3);
            generators::run_lanes_portable({mix64(key), key}, slow.data(), size);
            generators::fastest_run_lanes()({mix64(key), key}, fast.data() + 3, size);
            CHECK(std::equal(slow.begin(), slow.end(), fast.begin() + 3));
        }
}

TEST_CASE("content: any split gives the same bytes (basis of C5)", "[content]") {
    for (const generators::ContentParameters& parameters :
         {generators::ContentParameters{.seed = 9},
          generators::ContentParameters{.seed = 9, .compress_percent = 30, .dedupe_percent = 40}}) {
        const Content content(parameters);
        const Bytes whole = filled(content, 3, 0, 40000);
        Random random(5);
        for (int turn = 0; turn < 200; ++turn) {
            const std::size_t begin = random.below(whole.size()), size = random.below(whole.size() - begin) + 1;
            const Bytes part = filled(content, 3, begin, size);
            CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin)));
        }
        Bytes pieced(whole.size());
        for (std::size_t at = 0, size = 1; at < pieced.size(); at += size, size = size * 7 % 5003) {
            size = std::min(size, pieced.size() - at);
            content.fill(3, at, std::span(pieced).subspan(at, size));
        }
        CHECK(pieced == whole);
    }
}

TEST_CASE("content: no two equal 512-byte blocks, across files and seeds, and nothing to compress (C4)", "[content]") {
    std::unordered_set<std::string_view> seen;
    std::vector<Bytes> files;
    for (std::uint64_t file = 0; file < 16; ++file)
        files.push_back(filled(Content({.seed = file / 8}), file % 8, 0, 1 << 20));
    for (const Bytes& file : files)
        for (std::size_t at = 0; at < file.size(); at += 512)
            REQUIRE(seen.insert(std::string_view(reinterpret_cast<const char*>(file.data()) + at, 512)).second);
    CHECK(seen.size() == 16 * 2048);
    for (const Bytes& file : files) CHECK(deflate_ratio(file) <= 1.01);

    std::size_t counts[256] = {}; // every value about equally often
    for (const std::byte b : files[0]) ++counts[std::to_integer<std::size_t>(b)];
    CHECK(*std::min_element(counts, counts + 256) > 3700);
    CHECK(*std::max_element(counts, counts + 256) < 4500);
}

TEST_CASE("content: compress_percent is the part that is zeros", "[content]") {
    CHECK(deflate_ratio(filled(Content({.seed = 1, .compress_percent = 50}), 0, 0, 4 << 20)) ==
          Approx(2.0).margin(0.1));
    CHECK(deflate_ratio(filled(Content({.seed = 1, .compress_percent = 75}), 0, 0, 4 << 20)) ==
          Approx(4.0).margin(0.3));
    const Bytes zeros = filled(Content({.compress_percent = 100}), 0, 100, 10000);
    CHECK(std::all_of(zeros.begin(), zeros.end(), [](std::byte b) { return b == std::byte{0}; }));
    CHECK(filled(Content({.compress_percent = -5}), 0, 0, 8192) == filled(Content({}), 0, 0, 8192));
}

TEST_CASE("content: dedupe_percent is the part of 4 KiB blocks that repeat another", "[content]") {
    std::unordered_set<std::string_view> distinct;
    std::vector<Bytes> files;
    const Content content({.seed = 3, .dedupe_percent = 25});
    for (std::uint64_t file = 0; file < 8; ++file) files.push_back(filled(content, file, 0, 4 << 20));
    for (const Bytes& file : files)
        for (std::size_t at = 0; at < file.size(); at += 4096)
            distinct.insert(std::string_view(reinterpret_cast<const char*>(file.data()) + at, 4096));
    CHECK(static_cast<double>(distinct.size()) / 8192 == Approx(0.75).margin(0.03));
    CHECK(deflate_ratio(files[0]) <= 1.01); // within deflate's 32 KiB window hardly anything repeats
}

TEST_CASE("content: the first difference is found wherever it is", "[content]") {
    const Content content({.seed = 11});
    Bytes data = filled(content, 5, 777, 20000);
    CHECK(content.first_difference(5, 777, data) == data.size());
    CHECK(content.first_difference(5, 777, std::span(data).first(0)) == 0);
    CHECK(content.first_difference(6, 777, data) < 16);
    CHECK(content.first_difference(5, 778, data) < 16);
    for (const std::size_t at :
         {std::size_t{0}, std::size_t{3318}, std::size_t{3319}, std::size_t{12345}, data.size() - 1}) {
        data[at] ^= std::byte{1};
        CHECK(content.first_difference(5, 777, data) == at);
        data[at] ^= std::byte{1};
    }
}
