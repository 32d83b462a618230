#include "tests/support/format_files.hpp"

#include "formats/registry.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("raw: the file is its content, and a sample costs itself alone", "[raw]") {
    const FileShape shape = shape_of({50, 30}, 4);
    const Bytes file = make_file(formats::raw_format(), shape, numbered_content());
    CHECK(file == content_bytes(numbered_content(), 6000));
    ReadBack result;
    REQUIRE(read_samples(formats::raw_format(), request_for(file, shape), file, {2}, result, {1024}));
    REQUIRE(result.extents.size() == 3);
    CHECK(result.extents.front().offset == 3000);
    CHECK(result.extents.front().bytes == 72); // to the next multiple of 1024
    CHECK(result.payload_bytes == 1500);
}

TEST_CASE("raw: only the size can be wrong, and is said", "[raw]") {
    formats::ReadRequest request = request_for(Bytes(5999), shape_of({50, 30}, 4));
    const auto reader = formats::raw_format().open(request);
    REQUIRE_FALSE(reader);
    CHECK_THAT(reader.error().describe(), Catch::Contains("5999") && Catch::Contains("6000"));
}

TEST_CASE("a visitor's error ends the reading", "[raw]") {
    const FileShape shape = shape_of({50});
    const Bytes file = make_file(formats::raw_format(), shape, numbered_content());
    formats::ReadRequest request = request_for(file, shape);
    request.on_payload = [](std::uint64_t, std::span<const std::byte>) -> Status {
        return format_error("t", "not my content", 7);
    };
    ReadBack result;
    const Status status = read_samples(formats::raw_format(), request, file, {0}, result, {.wants_payload = false});
    REQUIRE_FALSE(status);
    CHECK(status.error().message == "not my content");
}
