// The 125 published runs of edition 1.0: every row of expected.csv, derived figures of groups.csv, the known findings.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "reporters/ingest/ingest.hpp"
#include "tests/unit/compare/rows.hpp"

using namespace feedbench::compare;
using namespace feedbench::compare::test;
namespace fs = std::filesystem;

namespace {

const fs::path kCorpus = fs::path(FEEDBENCH_SOURCE_DIR) / ".." / "shared" / "corpus" / "mlperf-storage-v1.0";

bool corpus_is_there() {
    if (fs::exists(kCorpus / "expected.csv")) return true;
    std::cout << "skipped: corpus not found\n";
    return false;
}

const Comparison& corpus() {
    static const Comparison kAll = [] {
        const std::vector<fs::path> inputs{kCorpus};
        return compare(feedbench::ingest::ingest(inputs));
    }();
    return kAll;
}

using Record = std::map<std::string, std::string>;
std::vector<Record> table(const char* name) {
    const auto fields = [](const std::string& line) {
        std::vector<std::string> all;
        std::stringstream stream(line);
        for (std::string field; std::getline(stream, field, ',');) all.push_back(field);
        return all;
    };
    std::ifstream file(kCorpus / name);
    std::string line;
    std::getline(file, line);
    const auto keys = fields(line);
    std::vector<Record> records;
    while (std::getline(file, line)) {
        const auto values = fields(line);
        Record& record = records.emplace_back();
        for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i) record[keys[i]] = values[i];
    }
    return records;
}

// The row of a record of either table.
const Row* find_row(const Record& want) {
    for (const Group& group : corpus().groups)
        for (const Row& row : group.rows)
            if (group.workload == want.at("workload") && group.accelerator_model == want.at("accelerator") &&
                row.submitter == want.at("submitter") && row.system == want.at("system") &&
                std::to_string(row.accelerator_count) == want.at("num_accelerators"))
                return &row;
    return nullptr;
}

const Row& row_named(const char* submitter, const char* workload) {
    for (const Group& group : corpus().groups)
        for (const Row& row : group.rows)
            if (row.submitter == submitter && group.workload == workload) return row;
    throw std::runtime_error("no such row");
}

} // namespace

TEST_CASE("all 25 rows of expected.csv to 1e-6, in the order of nothing but the files") {
    if (!corpus_is_there()) return;
    CHECK(corpus().run_count == 125);
    std::size_t row_count = 0;
    for (const Group& group : corpus().groups) row_count += group.rows.size();
    CHECK(row_count == 25);
    const auto records = table("expected.csv");
    CHECK(records.size() == 25);
    for (const Record& want : records) {
        INFO(want.at("submitter") << " " << want.at("system") << " " << want.at("workload"));
        const Row* row = find_row(want);
        REQUIRE(row != nullptr);
        const auto is = [&](const char* key, const char* column) {
            INFO(column);
            REQUIRE(value(*row, key));
            CHECK(*value(*row, key) == Approx(std::stod(want.at(column))).margin(1e-6).epsilon(0));
        };
        is("host_count", "num_hosts");
        is("run_count", "runs");
        is("au_percentage", "mean_au_pct");
        is("samples_per_second", "mean_samples_per_s");
        is("MiB_per_second", "mean_mib_per_s");
    }
}

TEST_CASE("the derived figures of groups.csv to its last digit") {
    if (!corpus_is_there()) return;
    for (const Record& want : table("groups.csv")) {
        INFO(want.at("submitter") << " " << want.at("system") << " " << want.at("workload"));
        const Row* row = find_row(want);
        REQUIRE(row != nullptr);
        const auto is = [&](const char* key, const char* column, double margin) {
            INFO(column);
            REQUIRE(value(*row, key));
            CHECK(*value(*row, key) == Approx(std::stod(want.at(column))).margin(margin).epsilon(0));
        };
        is("run_spread_percentage", "cv_runs_pct", 1e-6);
        is("later_over_first_epoch", "thr_epoch2to5_over_epoch1", 1e-6);
        is("effective_utilization_percentage", "effective_util_pct", 1e-4);
        is("dataset_GiB", "dataset_gib", 1e-3);
        is("host_memory_GiB", "host_mem_gib_sum_over_hosts", 1e-3);
        is("dataset_over_memory", "dataset_over_total_host_mem", 1e-4);
        CHECK(value(*row, "whole_epoch_utilization_percentage").has_value() == (want.at("has_per_epoch_stats") == "1"));
    }
}

TEST_CASE("what is known about these results shows") {
    if (!corpus_is_there()) return;
    CHECK(footnote(row_named("MangoBoost", "resnet50"), "just_above_bar").find("in one run only 0.0011") !=
          std::string::npos);
    for (const Group& group : corpus().groups)
        for (const Row& row : group.rows)
            if (row.submitter == "Micron" && group.workload == "unet3d")
                CHECK(footnote(row, "low_utilization").find("AU is 90.3 %, but effective utilization 75.2 %") !=
                      std::string::npos);
    CHECK(footnote(row_named("Juicedata", "cosmoflow"), "later_epochs_faster").find("x1.20") != std::string::npos);
    CHECK(footnote(row_named("Juicedata", "cosmoflow"), "fits_memory").find("0.65") != std::string::npos);
    CHECK(footnote(row_named("Lightbits_Labs", "cosmoflow"), "later_epochs_slower").find("x0.87") != std::string::npos);
    CHECK(footnote(row_named("HPE", "resnet50"), "outside_blocks").empty() == false);
    CHECK(footnote(row_named("IEI", "unet3d"), "wrong_clock").find("2021") != std::string::npos);
    CHECK(footnote(row_named("DDN", "resnet50"), "fits_memory").empty()); // potential_caching says so, falsely
    CHECK(value(row_named("DDN", "unet3d"), "watts") == 2400);
    CHECK(*value(row_named("Hammerspace", "unet3d"), "scaling_per_host_percentage") == Approx(95).margin(0.1));
    for (const Group& group : corpus().groups)
        CHECK((group.division == "open") == (group.rows[0].submitter == "Volumez"));
}

TEST_CASE("every broken file of the corpus is named") {
    if (!corpus_is_there()) return;
    std::map<std::string, int> named;
    for (const auto& problem : corpus().problems) {
        CHECK(problem.used); // nothing that the figures need
        ++named[fs::path(problem.path).filename().string()];
    }
    CHECK(named["JuiceFS-cloud-distributed-cache.json"] == 1);
    CHECK(named["Lightbits-3-SappRapid-Clients-3-icelake-target.json"] == 1);
    CHECK(named["Lightbits-6-IceLake-Clients-3-SappRapid-target.json"] == 1);
    CHECK(named["Micron_6500_Gen4_High_Capacity_NVMe.json"] == 1);
    CHECK(named["Schema.json"] == 1);
    CHECK(named["._summary.json"] == 2);
    CHECK(named["._mlperf_storage_report.json"] == 2);
    CHECK(corpus().problems.size() == 9);
}
