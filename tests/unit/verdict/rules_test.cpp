#include "harness/verdict/rule.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/verdict/thresholds.hpp"
#include "tests/unit/verdict/results.hpp"

using namespace feedbench;
using namespace feedbench::verdict::test;
using verdict::Evidence;

namespace {
std::optional<Evidence> always(const RunResult& r) { return Evidence{"workload " + r.workload, {}}; }
std::optional<Evidence> never(const RunResult&) { return std::nullopt; }
} // namespace

TEST_CASE("rules that fire become findings in order of precedence, with their evidence") {
    const std::array table{verdict::Rule{"a", "cached", "", never}, verdict::Rule{"b", "client-bound", "", always},
                           verdict::Rule{"c", "storage-bound", "", always},
                           verdict::Rule{"d", "inconclusive", "", always, true},
                           verdict::Rule{"e", "note", "", always}};
    RunResult r;
    r.workload = "unet3d";
    const auto findings = verdict::judge(r, table);
    REQUIRE(findings.size() == 3);
    CHECK(findings[0].rule == "b");
    CHECK(findings[0].verdict == "client-bound");
    CHECK(findings[0].evidence == "workload unet3d");
    CHECK(findings[1].verdict == "storage-bound");
    CHECK(findings[2].verdict == "note");
}

TEST_CASE("the last resort is asked where nothing but a note fired") {
    const std::array table{verdict::Rule{"n", "note", "", always}, verdict::Rule{"a", "cached", "", never},
                           verdict::Rule{"d", "inconclusive", "", always, true}};
    const auto findings = verdict::judge(RunResult(), table);
    REQUIRE(findings.size() == 2);
    CHECK(findings[1].verdict == "inconclusive");
}

TEST_CASE("the table: untrue first, then the client, the storage, praise, and what is missing last") {
    std::vector<std::string> names;
    const std::set<std::string_view> words{"implausible",       "cached",       "client-bound", "storage-bound",
                                           "accelerator-bound", "inconclusive", "note"};
    for (const verdict::Rule& rule : verdict::rules()) {
        names.emplace_back(rule.name);
        CHECK(words.count(rule.verdict) == 1);
        CHECK(rule.last_resort == (rule.verdict == "inconclusive"));
        CHECK_FALSE(rule.fires.empty());
    }
    CHECK(names == std::vector<std::string>{"implausible", "cached", "checkpoint_cached", "client_network",
                                            "client_memory", "client_cpu", "checkpoint_client", "storage_bound",
                                            "checkpoint_storage", "accelerator_bound", "inconclusive", "checkpoint_gap",
                                            "memory_storage"});
}

TEST_CASE("a complete run is concluded: verdict, findings behind those that were there, validity") {
    RunResult r = honest();
    r.findings = {{"drop_cache", "warning", "something"}};
    verdict::conclude(r);
    CHECK(r.verdict == "accelerator-bound");
    REQUIRE(r.findings.size() == 2);
    CHECK(r.findings[0].rule == "drop_cache");
    CHECK(r.findings[1].rule == "accelerator_bound");
    CHECK(r.valid);
    CHECK_FALSE(verdict::only_cached(r));

    r = slow_storage();
    verdict::conclude(r);
    CHECK(r.verdict == "storage-bound");
    CHECK(r.valid);
}

TEST_CASE("cached and implausible make a run invalid, and say so with their evidence") {
    RunResult r = slow_storage();
    r.epochs[1].hosts[0].cache.source_bytes = 1000;
    RunResult both = r;
    verdict::conclude(r);
    CHECK(r.verdict == "cached");
    CHECK_FALSE(r.valid);
    REQUIRE(r.invalid_reasons.size() == 1);
    CHECK(has(r.invalid_reasons[0], "cached: bytes came from a cache on the client"));
    CHECK(verdict::only_cached(r));

    both.epochs[0].samples_proved = false;
    verdict::conclude(both);
    CHECK(both.verdict == "implausible");
    REQUIRE(both.invalid_reasons.size() == 2);
    CHECK(has(both.invalid_reasons[0], "implausible: "));
    CHECK(has(both.findings[0].evidence, "not those of the plan"));
    CHECK_FALSE(verdict::only_cached(both));
    CHECK(fired(both) == std::vector<std::string>{"implausible", "cached", "storage_bound"});
}

TEST_CASE("a run that did not end is not judged") {
    RunResult r = slow_storage();
    r.status = "interrupted";
    r.valid = false;
    r.invalid_reasons = {"run interrupted"};
    verdict::conclude(r);
    CHECK(r.verdict.empty());
    CHECK(r.findings.empty());
    CHECK(r.invalid_reasons.size() == 1);
    CHECK_FALSE(verdict::only_cached(r));
}

TEST_CASE("an empty result is inconclusive, and no rule stumbles over what is missing") {
    RunResult r;
    r.status = "complete";
    verdict::conclude(r);
    CHECK(r.verdict == "inconclusive");
    CHECK(has(r.findings.at(0).evidence, "No training step"));
}

TEST_CASE("docs/trust.md holds the table of rules and every threshold with its reason") {
    std::ifstream file(std::string(FEEDBENCH_SOURCE_DIR) + "/docs/trust.md");
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    const std::string docs = text.str();
    std::size_t at = 0;
    for (const verdict::Rule& rule : verdict::rules()) {
        const std::string row = "| `" + std::string(rule.name) + "` | " + std::string(rule.verdict) + " | " +
                                std::string(rule.fires) + " |";
        INFO(row);
        const std::size_t found = docs.find(row, at); // in order of precedence
        REQUIRE(found != std::string::npos);
        at = found;
    }
    for (const verdict::Threshold& one : verdict::thresholds()) {
        std::ostringstream row;
        row << "| `" << one.name << "` | " << one.value << " | " << one.unit << " | " << one.reason << " |";
        INFO(row.str());
        CHECK(docs.find(row.str()) != std::string::npos);
    }
}
