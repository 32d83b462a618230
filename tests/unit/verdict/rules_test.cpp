#include "harness/verdict/rule.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace feedbench;

namespace {
std::optional<std::string> always(const RunResult& r) { return "workload " + r.workload; }
std::optional<std::string> never(const RunResult&) { return std::nullopt; }
} // namespace

TEST_CASE("rules that fire become findings in order of precedence, with their evidence") {
    const std::array table{verdict::Rule{"a", "cached", never}, verdict::Rule{"b", "client-bound", always},
                           verdict::Rule{"c", "storage-bound", always}};
    RunResult r;
    r.workload = "unet3d";
    const auto findings = verdict::judge(r, table);
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].rule == "b");
    CHECK(findings[0].verdict == "client-bound");
    CHECK(findings[0].evidence == "workload unet3d");
    CHECK(findings[1].verdict == "storage-bound");
    CHECK(verdict::judge(r, verdict::rules()).size() <= verdict::rules().size());
}
