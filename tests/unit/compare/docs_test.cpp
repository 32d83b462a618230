// docs/compare.md lists every column and every rule.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "reporters/compare/suspicions.hpp"

using namespace feedbench::compare;

TEST_CASE("docs/compare.md knows every column and footnote") {
    std::ifstream file(std::string(FEEDBENCH_SOURCE_DIR) + "/docs/compare.md");
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    for (const auto kind : {feedbench::ingest::Kind::training, feedbench::ingest::Kind::checkpoint})
        for (const Column& column : columns(kind)) {
            INFO(column.key);
            CHECK(text.str().find("`" + std::string(column.key) + "`") != std::string::npos);
        }
    for (const Suspicion& rule : suspicions()) {
        INFO(rule.rule);
        CHECK(text.str().find("`" + std::string(rule.rule) + "`") != std::string::npos);
        CHECK(text.str().find(std::string(rule.fires)) != std::string::npos);
    }
}
