#include <catch2/catch.hpp>

#include "reporters/ingest/lenient_json.hpp"
#include "tests/unit/ingest/result_tree.hpp"

using namespace feedbench::ingest;
using nlohmann::json;

TEST_CASE("commas before ] and } and NaN are repaired and named, strings stay as they are") {
    const auto parsed =
        parse_json("{\"a\": [1, 2,\n],\n \"b\": NaN, \"c\": -Infinity, \"d\": \"x,] NaN \\\",}\",\r\n}", "f");
    REQUIRE(parsed);
    CHECK(parsed->value["a"].size() == 2);
    CHECK(parsed->value["b"].is_null());
    CHECK(parsed->value["c"].is_null());
    CHECK(parsed->value["d"] == "x,] NaN \",}");
    CHECK(parsed->repairs == "a comma before ] or } in line 1 and 1 more, NaN or Infinity 2 times");
}

TEST_CASE("valid JSON is not repaired") {
    const auto parsed = parse_json(R"({"a": "NaN", "b": [1]})", "f");
    REQUIRE(parsed);
    CHECK(parsed->repairs.empty());
}

TEST_CASE("what is no JSON is said in its own words") {
    const auto found = [](std::string text) {
        const auto parsed = parse_json(std::move(text), "some/file.json");
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().path == "some/file.json");
        return parsed.error().message;
    };
    CHECK(found("") == "the file is empty");
    CHECK(found(std::string("\0\5\x16\7\0\2", 6)).find("AppleDouble") != std::string::npos);
    CHECK(found(std::string("ab\0cd", 5)) == "binary data, not text");
    CHECK(found("version https://git-lfs.github.com/spec/v1\noid x\n").find("Git LFS") != std::string::npos);
    CHECK(found("{\"a\": 1,\n\"b\" 2}").find("in line 2") != std::string::npos);
    CHECK(found(std::string(100000, '[')) == "nested more than 64 levels deep");
}

TEST_CASE("a number may be a string; text, null and infinity are none") {
    CHECK(number(json(64)) == 64);
    CHECK(number(json(" 64 ")) == 64);
    CHECK(number(json("1e3")) == 1000);
    for (const json& none : {json("2.4 GHz"), json("4-58"), json("Inf"), json("nan"), json(""), json(nullptr),
                             json::array({1}), json(true)})
        CHECK_FALSE(number(none));
}

TEST_CASE("YAML becomes the same values, and says where it is broken") {
    const test::ResultTree tree;
    tree.write("a.yaml", "storage_system:\n  usable_capacity_GiB: 12\n  parts: [1, two]\n");
    tree.write("bad.yaml", "a: [1, 2\nb: 3\n");
    const auto good = read_yaml(tree.root() / "a.yaml");
    REQUIRE(good);
    CHECK(number_at(member(*good, "storage_system"), "usable_capacity_GiB") == 12);
    const auto bad = read_yaml(tree.root() / "bad.yaml");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().message.find("not valid YAML in line") != std::string::npos);
}
