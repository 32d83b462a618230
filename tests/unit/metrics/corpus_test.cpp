// Case T10: the formulas reproduce published results from the files that were published with them.
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "harness/metrics/editions.hpp"
#include "harness/types/units.hpp"

using namespace feedbench::metrics;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const fs::path kCorpus = fs::path(FEEDBENCH_SOURCE_DIR) / ".." / "shared" / "corpus" / "mlperf-storage-v1.0";

bool corpus_is_there() {
    if (fs::exists(kCorpus / "expected.csv")) return true;
    std::cout << "skipped: corpus not found\n";
    return false;
}

json load(const fs::path& path) {
    std::ifstream file(path);
    REQUIRE(file);
    return json::parse(file);
}

bool close(double actual, double wanted) { return std::abs(actual - wanted) <= 1e-12 * std::abs(wanted); }

std::vector<std::string> csv_fields(const std::string& line) {
    std::vector<std::string> fields;
    std::stringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    return fields;
}

double average(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

TEST_CASE("T10: AU and samples/s of 15 ranks' files equal the published summary to 1e-12") {
    if (!corpus_is_there()) return;
    const fs::path run = kCorpus / "Closed/HPE/results/Cray_ClusterStor_E1000_6xSlingShot200_5hosts/unet3d_h100/run-3";
    const json summary = load(run / "summary.json");
    const Formula& dlio = *find_formula("dlio");
    constexpr double kBatch = 7;

    std::vector<json> ranks;
    for (int rank = 0; rank < 15; ++rank) ranks.push_back(load(run / (std::to_string(rank) + "_output.json")));
    std::vector<FormulaValue> au, rate;
    for (int epoch = 1; epoch <= 5; ++epoch) {
        std::vector<AcceleratorBlock> blocks;
        for (std::uint32_t rank = 0; rank < 15; ++rank) {
            const json& figures = ranks[rank][std::to_string(epoch)];
            for (const auto& [name, compute] : figures["compute"].items()) {
                const json& proc = figures["proc"][name];
                BlockInput input;
                input.step_count = static_cast<double>(proc.size());
                input.batch_size = kBatch;
                input.first_step_s = proc[0];
                input.compute_window_s = std::accumulate(compute.begin() + 1, compute.end(), 0.0,
                                                         [](double s, const json& c) { return s + c.get<double>(); });
                // T itself is not stored; it follows from the rank's own throughput (corpus README)
                input.block_s = input.step_count * kBatch / figures["throughput"][name].get<double>();
                CHECK(close(*dlio.au_percentage(input).number, figures["au"][name]));
                blocks.push_back({rank, input});
            }
        }
        const Figures whole = combine(dlio, blocks);
        REQUIRE(whole.au_percentage);
        REQUIRE(whole.samples_per_second);
        const auto at = static_cast<std::size_t>(epoch - 1);
        CHECK(close(*whole.au_percentage.number, summary["metric"]["train_au_percentage"][at]));
        CHECK(close(*whole.samples_per_second.number, summary["metric"]["train_throughput_samples_per_second"][at]));
        au.push_back(whole.au_percentage);
        rate.push_back(whole.samples_per_second);
    }
    const json& metric = summary["metric"];
    CHECK(close(*mean(au).number, metric["train_au_mean_percentage"]));
    CHECK(std::abs(*population_stdev(au).number - metric["train_au_stdev_percentage"].get<double>()) < 1e-10);
    CHECK(close(*mean(rate).number, metric["train_throughput_mean_samples_per_second"]));
    CHECK(close(feedbench::to_MiB(*mean(rate).number * 146600628), metric["train_io_mean_MB_per_second"]));
}

TEST_CASE("all 25 published groups: the mean over runs of the mean over epochs, and their MiB/s from samples/s") {
    if (!corpus_is_there()) return;
    const std::map<std::string, double> record_length{
        {"unet3d", 146600628}, {"resnet50", 114660.07}, {"cosmoflow", 2828486}};
    std::ifstream expected(kCorpus / "expected.csv"), groups(kCorpus / "groups.csv");
    std::string line, group_line;
    std::getline(expected, line);
    std::getline(groups, group_line);
    int group_count = 0;
    while (std::getline(expected, line) && std::getline(groups, group_line)) {
        const auto want = csv_fields(line), group = csv_fields(group_line);
        INFO(line);
        std::vector<double> au, rate, mib;
        for (const auto& entry : fs::recursive_directory_iterator(kCorpus / group.at(6))) {
            if (entry.path().filename() != "summary.json") continue;
            const json summary = load(entry.path());
            // A report can lie above several workloads (Huawei's does not here): keep to this group's accelerators.
            if (std::to_string(summary["num_accelerators"].get<int>()) != want.at(4)) continue;
            std::vector<FormulaValue> au_epochs, rate_epochs;
            for (const double v : summary["metric"]["train_au_percentage"]) au_epochs.push_back(FormulaValue::of(v));
            for (const double v : summary["metric"]["train_throughput_samples_per_second"])
                rate_epochs.push_back(FormulaValue::of(v));
            au.push_back(*mean(au_epochs).number);
            rate.push_back(*mean(rate_epochs).number);
            mib.push_back(feedbench::to_MiB(rate.back() * record_length.at(want.at(2))));
        }
        CHECK(au.size() == 5);
        if (au.empty()) continue;
        CHECK(average(au) == Approx(std::stod(want.at(7))).margin(1e-6).epsilon(0));
        CHECK(average(rate) == Approx(std::stod(want.at(8))).margin(1e-6).epsilon(0));
        CHECK(average(mib) == Approx(std::stod(want.at(9))).margin(2e-6).epsilon(0));
        ++group_count;
    }
    CHECK(group_count == 25);
}
