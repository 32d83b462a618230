// Results, step records and baselines as the gate's runs; the page that lists what they are compared by.
#include "reporters/gate/gate_run.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "reporters/gate/baseline.hpp"
#include "reporters/gate/formats.hpp"
#include "reporters/gate/step_blocks.hpp"
#include "tests/unit/gate/synthetic.hpp"

using namespace feedbench;
using namespace feedbench::gate;
using namespace feedbench::gate::test;
using Catch::Matchers::Contains;

namespace {

void set(GateRun& run, const std::string& key, const std::string& value) {
    for (Fact& one : run.identity)
        if (one.key == key) one.value = value;
}

} // namespace

TEST_CASE("A baseline reads back to the same runs", "[gate]") {
    Baseline baseline{"lab-nas", "alice@client-1", "2026-11-30T09:00:00+0000", "before the upgrade",
                      pair_of(1, {}, 0, {3, 3}).baseline};
    baseline.runs[0].surroundings = {{"kernel", "6.1.0"}};
    baseline.runs[1].figures[1].value.reset();
    const std::string text = to_json(baseline);
    CHECK(is_baseline(text));
    CHECK(text.size() < 30'000);
    const auto back = baseline_from_json(text, "b.json");
    REQUIRE(back);
    CHECK(to_json(*back) == text);
    CHECK(workload_key(back->runs[0]) == "unet3d_mini-4acc");
    set(baseline.runs[0], "host_count", "2");
    set(baseline.runs[0], "workload", "../x");
    CHECK(workload_key(baseline.runs[0]) == "workload.._x-4acc-2hosts");

    CHECK_FALSE(is_baseline("{\"schema_version\": 2}"));
    for (const std::string& broken :
         {std::string("{"), std::string("[]"), std::string("{\"baseline_schema_version\": 2}"),
          std::string("{\"baseline_schema_version\": \"1\"}"), text.substr(0, text.size() / 2)}) {
        const auto none = baseline_from_json(broken, "b.json");
        REQUIRE_FALSE(none);
        CHECK_THAT(none.error().describe(), Contains("b.json"));
    }
}

TEST_CASE("Step records become blocks with rate, AU and p99 wait", "[gate]") {
    // 64 steps of 10 ms on two accelerators: 4 ms wait, 6 ms think; 1 MB each.
    StepBlocks blocks(64);
    std::vector<StepRecord> records;
    for (std::uint32_t step = 0; step < 64; ++step)
        for (std::uint32_t accelerator = 0; accelerator < 2; ++accelerator) {
            const std::uint64_t start = step * 10'000'000ULL;
            records.push_back({accelerator, 0, 0, step, 1, start, start + 4'000'000, 6'000'000, start + 10'000'000,
                               start + 10'000'000, 4'000'000, 0, 1'000'000});
        }
    std::reverse(records.begin(), records.end()); // any order
    StepRecord evaluation = records[0];
    evaluation.block_index = kEvaluationBlock;
    evaluation.bytes_delivered = 1'000'000'000;
    records.push_back(evaluation);
    blocks.add(records);
    const auto parts = blocks.parts();
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].source == "blocks of 2 steps");
    REQUIRE(parts[0].parts.size() == 32);
    for (const Part& part : parts[0].parts) CHECK(part.above / part.below == Approx(200)); // MB/s
    for (const Part& part : parts[1].parts) CHECK(part.above / part.below == Approx(60));  // AU %
    for (const Part& part : parts[2].parts) CHECK(part.above == Approx(0.004).epsilon(0.01));

    GateRun run = run_of({}, 0, *std::make_unique<Random>(1));
    take_finer_parts(run, parts);
    CHECK(parts_of(run, "delivered_MB_per_second")->source == "blocks of 2 steps");
    CHECK(parts_of(run, "au_mean_percentage")->parts.size() == 32);
    CHECK(parts_of(run, "cpu_s_per_GB_process") == nullptr);
}

TEST_CASE("A result gives slices inside blocks, epochs and checkpoints as parts, and says why it is not valid",
          "[gate]") {
    RunResult result;
    result.status = "interrupted";
    result.invalid_reasons = {"stopped by a signal"};
    result.epochs.resize(5);
    for (std::uint32_t e = 0; e < 5; ++e) {
        EpochResult& epoch = result.epochs[e];
        epoch.metrics = {{"au_percentage", "%", 80.0 + e, "", "rules"}};
        epoch.blocks.push_back({0, 10, 10, 0, 3.5 * e, 3.5 * e + 2.5, {}});
        epoch.histograms.push_back({"batch_wait", 10, 0, 0, 0, 0, 0, 2e6, 0, {}});
    }
    result.epochs[4].evaluation = true;
    for (std::uint64_t s = 0; s < 16; ++s) {
        Slice slice;
        slice.start_ns = s * 1'000'000'000;
        slice.bytes = 500'000'000;
        slice.process_cpu_ns = 100'000'000;
        result.slices.push_back(slice);
    }
    result.checkpoints.resize(4);
    for (CheckpointResult& one : result.checkpoints) {
        one.bytes = std::uint64_t{1} << 30;
        one.duration_s = 0.5;
    }
    const GateRun run = gate_run(result, "r.json");
    CHECK_FALSE(run.valid);
    CHECK(run.reasons == std::vector<std::string>{"the run is interrupted", "stopped by a signal"});
    // Blocks at 0-2.5, 3.5-6, 7-9.5, 10.5-13 s: the seconds 0 1 | 4 5 | 7 8 | 11 12.
    REQUIRE(parts_of(run, "delivered_MB_per_second") != nullptr);
    CHECK(parts_of(run, "delivered_MB_per_second")->parts.size() == 8);
    CHECK(parts_of(run, "cpu_s_per_GB_process")->parts[0].above /
              parts_of(run, "cpu_s_per_GB_process")->parts[0].below ==
          Approx(0.2));
    CHECK(parts_of(run, "au_mean_percentage")->parts.size() == 4);
    CHECK(parts_of(run, "batch_wait_s_p99")->parts[0].above == Approx(0.002));
    CHECK(parts_of(run, "checkpoint_GiB_per_second")->parts[0].below == 0.5);

    // A run of checkpoints alone: writes and reads are two figures.
    result.kind = "checkpoint";
    result.workload = "llama3_8b";
    result.hosts.resize(1);
    for (int i = 0; i < 4; ++i) {
        result.checkpoints.push_back(result.checkpoints.front());
        result.checkpoints.back().kind = "read";
        result.checkpoints.back().duration_s = 0.25;
    }
    for (CheckpointResult& one : result.checkpoints) one.ranks.resize(8);
    const GateRun checkpoints = gate_run(result, "c.json");
    CHECK(parts_of(checkpoints, "checkpoint_GiB_per_second") == nullptr);
    CHECK(parts_of(checkpoints, "checkpoint_write_GiB_per_second")->parts.size() == 4);
    CHECK(parts_of(checkpoints, "checkpoint_read_GiB_per_second")->parts[3].below == 0.25);
    CHECK(fact(checkpoints.identity, "checkpoint_bytes") == "1073741824");
    CHECK(describe(checkpoints) == "checkpoints of llama3_8b, 8 ranks on 1 host, ");
    CHECK(workload_key(checkpoints) == "llama3_8b-8ranks");
}

TEST_CASE("docs/gate.md knows every metric, every key of a policy and every fact that must be equal", "[gate]") {
    std::ifstream file(FEEDBENCH_SOURCE_DIR "/docs/gate.md");
    REQUIRE(file);
    std::stringstream text;
    text << file.rdbuf();
    std::vector<std::string> words = identity_keys();
    for (const MetricRule& rule : known_metrics()) words.push_back(rule.key);
    for (const std::string& name : policy_names()) words.push_back(name);
    for (const Format& format : formats()) words.emplace_back(format.name);
    // The keys of a policy are those that its refusal lists.
    for (const char* yaml : {"x: 1", "metrics: {au_mean_percentage: {x: 1}}"}) {
        std::string said = load_policy_text(yaml, "p").error().message;
        said = said.substr(said.find("there are: ") + 11);
        for (std::size_t at = 0; at < said.size();) {
            const std::size_t end = std::min(said.find(", ", at), said.size());
            words.push_back(said.substr(at, end - at));
            at = end + 2;
        }
    }
    CHECK(words.size() > 50);
    for (const std::string& word : words) {
        INFO(word);
        CHECK(text.str().find("`" + word + "`") != std::string::npos);
    }
}
