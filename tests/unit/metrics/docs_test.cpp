// docs/metrics.md lists every key, formula and reason that a result can hold.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "harness/metrics/checkpoint_metrics.hpp"
#include "harness/metrics/metric_table.hpp"

using namespace feedbench::metrics;

TEST_CASE("docs/metrics.md knows every metric, formula and reason") {
    std::ifstream file(std::string(FEEDBENCH_SOURCE_DIR) + "/docs/metrics.md");
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    const std::string docs = text.str();
    const auto documented = [&](std::string_view word) {
        INFO(word);
        CHECK(docs.find("`" + std::string(word) + "`") != std::string::npos);
    };
    for (const WindowMetric& metric : window_metrics()) {
        documented(metric.key);
        documented(metric.formula);
    }
    for (const RunMetric& metric : run_metrics()) {
        documented(metric.key);
        documented(metric.formula);
    }
    for (const CheckpointMetric& metric : checkpoint_metrics()) {
        documented(metric.key);
        documented(metric.formula);
    }
    for (const CheckpointRunMetric& metric : checkpoint_run_metrics()) {
        documented(metric.key);
        documented(metric.formula);
    }
    for (const Formula& formula : formulas()) documented(formula.name);
    for (const std::string_view reason :
         {kWindowEmpty, kNoSteps, kNoBytes, kNoTime, kUneven, kNoSlices, kNotCounted, kOneEpoch, kNoSource, kFewSlices,
          kThinkVaries, kThinkIsZero, kNoCheckpoint, kNoRanks})
        documented(reason);
}
