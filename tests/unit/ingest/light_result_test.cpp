#include <catch2/catch.hpp>

#include <array>
#include <nlohmann/json.hpp>

#include "reporters/ingest/light_result.hpp"

using namespace feedbench::ingest;

namespace {
constexpr std::array<std::string_view, 2> kKeys{"slices", "config"};
}

TEST_CASE("arrays of these keys become empty at any depth, and nothing else changes") {
    const auto whole = nlohmann::json::parse(R"({
      "a": "slices", "slices" : [ {"x": "]\"[", "slices": [1]}, [2] ], "b": ["slices", "config"],
      "config": {"kept": [1]}, "e": [{"config":[3], "c": "\\"}, {"slices": []}], "z": 1})");
    const auto light = nlohmann::json::parse(without_arrays(whole.dump(1), kKeys));
    auto wanted = whole;
    wanted["slices"] = nlohmann::json::array();
    wanted["e"][0]["config"] = nlohmann::json::array();
    CHECK(light == wanted);
}

TEST_CASE("a key with the name of what lies above it is found there only") {
    const std::array<std::string_view, 1> keys{"epochs.hosts"};
    const auto whole = nlohmann::json::parse(R"({"hosts": [1], "epochs": [{"hosts": [2], "deep": {"hosts": [3]}},
      {"x": {"y": 1}, "hosts": [{"hosts": [4]}]}], "other": {"epochs": {"hosts": [5]}}, "n": "epochs"})");
    auto wanted = whole;
    wanted["epochs"][0]["hosts"] = nlohmann::json::array();
    wanted["epochs"][1]["hosts"] = nlohmann::json::array();
    wanted["other"]["epochs"]["hosts"] = nlohmann::json::array();
    CHECK(nlohmann::json::parse(without_arrays(whole.dump(1), keys)) == wanted);
    CHECK(nlohmann::json::parse(without_arrays(whole.dump(), keys)) == wanted);
}

TEST_CASE("torn text stays torn") {
    for (const char* text : {"", "{\"slices\": [1, 2", "{\"slices\": [\"", "{\"slices", "{\"slices\":", "]]}}{["})
        CHECK(without_arrays(text, kKeys) == text);
}
