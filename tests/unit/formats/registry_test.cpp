#include <catch2/catch.hpp>

#include "formats/registry.hpp"

using namespace feedbench;

TEST_CASE("registry: an unknown format is refused with the known ones", "[formats]") {
    const auto found = formats::find_format("webdataset");
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == ErrorKind::config);
    for (const char* name : {"npz", "npy", "tfrecord", "raw", "indexed_binary", "jpeg", "png", "csv"}) {
        CHECK_THAT(found.error().message, Catch::Contains(name));
        REQUIRE(formats::find_format(name));
        CHECK((*formats::find_format(name))->name() == name);
    }
}

TEST_CASE("pieces end on multiples of the transfer size", "[formats]") {
    const formats::Extent first = formats::piece_at(4096, 1'000'000, 262144);
    CHECK(first.offset == 4096);
    CHECK(first.bytes == 258048);
    CHECK(formats::piece_at(262144, 1'000'000, 262144).bytes == 262144);
    CHECK(formats::piece_at(786432, 1'000'000, 262144).bytes == 213568);
    CHECK(formats::samples_by_position(5, 10, 3) == 1);
    CHECK(formats::samples_by_position(10, 10, 3) == 3);
    CHECK(formats::samples_by_position(9, 10, 3) == 2);
}
