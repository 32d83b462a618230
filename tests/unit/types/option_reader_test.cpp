#include <array>

#include <catch2/catch.hpp>

#include "harness/types/option_reader.hpp"

namespace {

using namespace feedbench;

constexpr Option kOptions[] = {
    {"size", OptionType::size_bytes, "bytes", "4KiB", "a size"},
    {"wait", OptionType::duration_s, "s", "2ms", "a time"},
    {"count", OptionType::integer, "", "3", "an integer"},
    {"share", OptionType::number, "", "0.5", "a number"},
    {"fast", OptionType::boolean, "", "false", "true or false"},
    {"mode", OptionType::text, "", "slow", "slow or quick"},
};
constexpr std::array<std::string_view, 2> kModes{"slow", "quick"};

TEST_CASE("option reader: what is given counts, else the table's default") {
    const OptionValues none,
        given{{"size", "1MB"}, {"wait", "1s"}, {"count", "-7"}, {"share", "1e-3"}, {"fast", "True"}, {"mode", "quick"}};
    OptionReader defaults(kOptions, none), all(kOptions, given);
    CHECK(defaults.bytes("size") == 4096);
    CHECK(defaults.duration_ns("wait") == 2'000'000);
    CHECK(defaults.integer("count", 0, 9) == 3);
    CHECK(defaults.number("share", 0, 1) == 0.5);
    CHECK_FALSE(defaults.boolean("fast"));
    CHECK(defaults.choice("mode", kModes) == 0);
    CHECK(defaults.status());
    CHECK(all.bytes("size", 1'000'000, 1'000'000) == 1'000'000);
    CHECK(all.duration_ns("wait", 1'000'000'000) == 1'000'000'000);
    CHECK(all.integer("count", -7, 0) == -7);
    CHECK(all.number("share", 0, 1) == 1e-3);
    CHECK(all.boolean("fast"));
    CHECK(all.choice("mode", kModes) == 1);
    CHECK(all.text("mode") == "quick");
    CHECK(all.status());
}

// What is said of one value, asked for in all ways that its type has.
std::string refusal(const std::string& key, const std::string& value) {
    const OptionValues given{{key, value}};
    OptionReader reader(kOptions, given, "x://y");
    reader.bytes("size", 2, 1024 * 1024);
    reader.duration_ns("wait", 1);
    reader.integer("count", 0, 9);
    reader.number("share", 0, 1);
    reader.boolean("fast");
    reader.choice("mode", kModes);
    const Status status = reader.status();
    CHECK(reader.has_failed() == !status);
    if (status) return "fine";
    CHECK(status.error().kind == ErrorKind::config);
    CHECK(status.error().path == "x://y");
    return status.error().message;
}

TEST_CASE("option reader: one sentence for what is wrong, with key, value and what was expected") {
    struct Row {
        const char *key, *value, *says;
    };
    for (const Row& row : {Row{"size", "much", "storage option 'size': 'much' is not a size"},
                           Row{"size", "1", "storage option 'size': '1' is outside 2 to 1048576 bytes"},
                           Row{"size", "1GiB", "storage option 'size': '1GiB' is outside 2 to 1048576 bytes"},
                           Row{"wait", "soon", "storage option 'wait': 'soon' is not a duration"},
                           Row{"wait", "0", "storage option 'wait': '0' is shorter than 1 ns"},
                           Row{"count", "2.5", "storage option 'count': '2.5' is not an integer"},
                           Row{"count", "", "storage option 'count': '' is not an integer"},
                           Row{"count", "10", "storage option 'count': '10' is outside 0 to 9"},
                           Row{"share", "half", "storage option 'share': 'half' is not a number"},
                           Row{"share", "1.1", "storage option 'share': '1.1' is outside 0 to 1"},
                           Row{"fast", "yes", "storage option 'fast': 'yes' is neither true nor false"},
                           Row{"mode", "fast", "storage option 'mode': 'fast' is none of slow, quick"}}) {
        INFO(row.key << "=" << row.value);
        CHECK(refusal(row.key, row.value).find(row.says) == 0);
    }
    CHECK(refusal("size", "2") == "fine");
}

TEST_CASE("option reader: the first that is wrong is the one that is said; values stay in range") {
    const OptionValues given{{"count", "many"}, {"wait", "10ms"}, {"share", "7"}};
    OptionReader reader(kOptions, given);
    CHECK(reader.duration_ns("wait", 2'000'000'000) == 2'000'000'000);
    CHECK(reader.integer("count", 1, 9) == 1);
    CHECK(reader.number("share", 0, 1) == 1);
    reader.refuse("mode", "anything");
    CHECK(reader.status().error().message == "storage option 'wait': '10ms' is shorter than 2 s");
}

TEST_CASE("option reader: a value is checked against its type alone, before a plug-in is asked") {
    for (const Option& option : kOptions) CHECK(check_option(option, std::string(option.default_value)));
    CHECK(check_option(kOptions[1], "-1").error().message.find("storage option 'wait': '-1' is not a duration") == 0);
    CHECK(check_option(kOptions[4], "maybe").error().message ==
          "storage option 'fast': 'maybe' is neither true nor false");
    CHECK(check_option(kOptions[5], "anything"));
}

} // namespace
