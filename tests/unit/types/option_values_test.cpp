#include <catch2/catch.hpp>

#include "harness/types/option_values.hpp"

using namespace feedbench;

TEST_CASE("sizes and durations as people type them") {
    CHECK(*parse_size_bytes("262144") == 262144);
    CHECK(*parse_size_bytes("256KiB") == 262144);
    CHECK(*parse_size_bytes("1.5GB") == 1'500'000'000);
    CHECK(*parse_size_bytes("1e9") == 1'000'000'000);
    CHECK(*parse_duration_ns("350us") == 350'000);
    CHECK(*parse_duration_ns("0.375 ms") == 375'000);
    CHECK(*parse_duration_ns("0.3") == 300'000'000);
    CHECK(*parse_number("-2.5") == -2.5);
}

TEST_CASE("what is no size or duration is refused with the text in the message") {
    for (const char* text : {"", "-1", "12 parsecs", "1QB", "nan", "1e30"}) {
        INFO(text);
        auto size = parse_size_bytes(text);
        REQUIRE_FALSE(size);
        CHECK(size.error().message.find(std::string("'") + text + "'") != std::string::npos);
    }
    CHECK_FALSE(parse_duration_ns("5 KiB"));
    CHECK_FALSE(parse_number("1x"));
}
