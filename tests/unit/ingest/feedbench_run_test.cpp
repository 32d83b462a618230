#include <catch2/catch.hpp>

#include "reporters/ingest/feedbench_run.hpp"
#include "reporters/result_json.hpp"
#include "tests/unit/ingest/result_tree.hpp"

using namespace feedbench;
using namespace feedbench::ingest;
using feedbench::ingest::test::problem_at;
using feedbench::ingest::test::ResultTree;
namespace fs = std::filesystem;

namespace {

RunResult measured() {
    RunResult r;
    r.status = "complete";
    r.valid = true;
    r.workload = "unet3d_h100";
    r.model = "unet3d";
    r.accelerator_model = "h100";
    r.accelerator_count = 4;
    r.batch_size = 7;
    r.think_time_mean_s = 0.323;
    r.record_length_bytes = 146600628;
    r.num_files_train = 14000;
    r.num_samples_per_file = 1;
    r.au_required = 0.9;
    r.start_time = "2026-11-30T10:00:00";
    r.hosts.resize(2);
    for (HostFacts& host : r.hosts) host.memory_bytes = std::uint64_t{128} << 30;
    r.metrics = {{"au_mean_percentage", "%", 95, "", "rules"},
                 {"samples_per_second_mean", "samples/s", 80, "", "rules"},
                 {"nominal_MB_per_second", "MB/s", 80 * 146.600628, "", ""},
                 {"nominal_MiB_per_second", "MiB/s", 80 * 146600628.0 / 1048576, "", ""},
                 {"effective_utilization_percentage", "%", 90, "", ""}};
    for (const double rate : {78.0, 82.0}) {
        EpochResult epoch;
        epoch.end_s = 200;
        epoch.metrics = {{"au_percentage", "%", 95, "", ""}, {"samples_per_second", "samples/s", rate, "", ""}};
        epoch.blocks.resize(1);
        epoch.blocks[0].end_s = 190;
        r.epochs.push_back(epoch);
    }
    EpochResult evaluation;
    evaluation.evaluation = true;
    r.epochs.push_back(evaluation);
    return r;
}

} // namespace

TEST_CASE("a feedbench result becomes the same facts as a published one") {
    const auto run = from_run_result(measured(), "x");
    REQUIRE(run);
    CHECK(run->workload == "unet3d");
    CHECK(run->variant.empty());
    CHECK(run->edition == "2.0");
    CHECK(run->division.empty());
    CHECK(run->epochs.size() == 2);
    CHECK(run->host_memory_GiB == 256);
    CHECK(run->au_bar_percentage == 90);
    CHECK(run->whole_epoch_utilization_percentage == 90);
    CHECK(*run->effective_utilization_percentage == Approx(100 * 80 * 0.323 / 28));
    CHECK(*run->dataset_GiB == Approx(14000 * 146600628.0 / 1073741824));
}

TEST_CASE("another think time, batch or record is another workload") {
    RunResult r = measured();
    r.workload = "unet3d_mini";
    r.think_time_mean_s = 0.00323;
    r.record_length_bytes = 1466006;
    const auto run = from_run_result(r, "x");
    REQUIRE(run);
    CHECK(run->workload == "unet3d_mini");
    CHECK(run->variant == "batch 7, think 0.00323 s, record 1466006 bytes");
}

TEST_CASE("a run that did not end, or is no training, is refused with the reason") {
    RunResult r = measured();
    r.status = "interrupted";
    CHECK(from_run_result(r, "x").error().message == "the run is interrupted");
    r.status = "complete";
    r.kind = "max";
    CHECK(from_run_result(r, "x").error().message.find("'max'") != std::string::npos);
}

TEST_CASE("folders of one and of many, an old schema with its summary, a broken result") {
    const ResultTree tree;
    for (const char* run : {"20261130_100000", "20261130_110000"}) {
        const fs::path folder = fs::path("results/training/unet3d/run") / run;
        tree.write(folder / "result.json", reporters::to_json(measured()));
        tree.write(folder / "summary.json", test::summary()); // result.json says more and wins
    }
    const Ingested many = tree.read("results");
    CHECK(many.problems.empty());
    REQUIRE(many.runs.size() == 2);
    CHECK(many.runs[0].tool == Tool::feedbench);
    CHECK(many.runs[0].set_path == many.runs[1].set_path);
    CHECK(many.runs[0].system.ends_with("results/training/unet3d/run"));
    CHECK(tree.read("results/training/unet3d/run/20261130_100000").runs.size() == 1);
    CHECK(tree.read("results/training/unet3d/run/20261130_100000/result.json").runs.size() == 1);

    tree.write("old/result.json", nlohmann::json{{"schema_version", 1}});
    tree.write("old/summary.json", test::summary());
    tree.write("bad/result.json", std::string("{"));
    const std::vector<fs::path> inputs{tree.root() / "old", tree.root() / "bad"};
    const Ingested odd = ingest::ingest(inputs);
    REQUIRE(odd.runs.size() == 1);
    CHECK(odd.runs[0].tool == Tool::reference);
    REQUIRE(problem_at(odd, "old/result.json") != nullptr);
    CHECK(problem_at(odd, "old/result.json")->found.find("schema_version is 1") != std::string::npos);
    REQUIRE(problem_at(odd, "bad/result.json") != nullptr);
    CHECK_FALSE(problem_at(odd, "bad/result.json")->used);
}
