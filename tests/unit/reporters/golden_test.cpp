// Expected output of all reporters beside each other: tests/data/reporters/<sample>.<reporter>.golden. In a golden file
// `{*}` stands for any text within a line. FEEDBENCH_UPDATE_GOLDEN=1 writes the files anew; read the difference before
// committing it.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reporters/registry.hpp"
#include "samples.hpp"

using namespace feedbench;
using namespace feedbench::reporters;

namespace {

const std::filesystem::path kData = std::filesystem::path(FEEDBENCH_SOURCE_DIR) / "tests" / "data" / "reporters";
constexpr std::string_view kWildcard = "{*}";

bool matches(std::string_view text, std::string_view pattern) {
    const std::size_t wild = pattern.find(kWildcard);
    if (wild == std::string_view::npos) return text == pattern;
    if (text.substr(0, wild) != pattern.substr(0, wild)) return false;
    const std::string_view rest = pattern.substr(wild + kWildcard.size());
    for (std::size_t skip = wild; skip <= text.size(); ++skip)
        if (matches(text.substr(skip), rest)) return true;
    return false;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

} // namespace

TEST_CASE("wildcards match within a line and nothing else does") {
    CHECK(matches("version 0.1.0 ok", "version {*} ok"));
    CHECK(matches("abc", "abc"));
    CHECK(matches("abc", "{*}"));
    CHECK_FALSE(matches("abcd", "abc"));
    CHECK_FALSE(matches("version 0.1.0 bad", "version {*} ok"));
}

TEST_CASE("all reporters print what is expected of the samples") {
    const bool update = std::getenv("FEEDBENCH_UPDATE_GOLDEN") != nullptr;
    for (const auto& [name, result] : test::samples()) {
        for (const Reporter& reporter : reporters::reporters()) {
            if (reporter.name == "html")
                continue; // carries a library with it; run_page_test.cpp and tests/browser look at it
            const std::filesystem::path path = kData / (name + "." + std::string(reporter.name) + ".golden");
            const std::string text = reporter.render(result, {});
            if (update) std::ofstream(path) << text;
            std::ifstream file(path);
            INFO(path.string());
            REQUIRE(file);
            std::stringstream golden;
            golden << file.rdbuf();
            const auto actual = lines(text), expected = lines(golden.str());
            for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
                INFO("line " << i + 1 << "\n  expected: " << expected[i] << "\n  actual:   " << actual[i]);
                CHECK(matches(actual[i], expected[i]));
            }
            CHECK(actual.size() == expected.size());
        }
    }
}
