#include <catch2/catch.hpp>

#include "reporters/ingest/checkpoint_run.hpp"
#include "reporters/ingest/feedbench_run.hpp"
#include "reporters/result_json.hpp"
#include "tests/unit/ingest/result_tree.hpp"

using namespace feedbench;
using namespace feedbench::ingest;
using feedbench::ingest::test::ResultTree;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json side(const std::string& name, double mean_of_rates, double duration_s) {
    return {{name + "_checkpoint_io_mean_GB_per_second", mean_of_rates},
            {name + "_checkpoint_duration_mean_seconds", duration_s}};
}
json summary_of(json metric) {
    return {{"start", "2025-08-01T10:15:00"},
            {"num_accelerators", 8},
            {"num_hosts", 2},
            {"host_memory_GB", {64, 64}},
            {"metric", std::move(metric)}};
}
json with_size(json metric, double GiB) {
    metric["checkpoint_size_GB"] = GiB;
    return metric;
}

CheckpointResult one(std::string kind, double GiB, double duration_s) {
    CheckpointResult c;
    c.kind = std::move(kind);
    c.bytes = static_cast<std::uint64_t>(GiB * 1073741824.0);
    c.duration_s = duration_s;
    c.committed = c.kind == "write";
    c.ranks.resize(8);
    return c;
}

} // namespace

TEST_CASE("names of checkpoint models in many spellings") {
    CHECK(checkpoint_model("llama3-8b") == "llama3-8b");
    CHECK(checkpoint_model("llama_8b_zero3") == "llama3-8b");
    CHECK(checkpoint_model("Llama3.1-405B") == "llama3-405b");
    CHECK(checkpoint_model("llama3_70b") == "llama3-70b");
    CHECK(checkpoint_model("llama3_1t") == "llama3-1t");
    CHECK(checkpoint_model("llama3").empty());
    CHECK(checkpoint_model("unet3d-8b").empty());
}

TEST_CASE(
    "a published checkpoint summary: GiB/s, headline beside the mean of rates, model from files, size or folder") {
    const ResultTree tree;
    const fs::path leaf = "closed/Acme/results/Sys/checkpointing/llama3-8b/20250801_101500";
    json metric = with_size(side("save", 12.5, 8), 104.7045);
    metric.update(side("load", 30, 4));
    tree.write(leaf / "summary.json", summary_of(metric));
    SECTION("no file names the model") {
        const Ingested all = tree.read();
        REQUIRE(all.problems.empty());
        REQUIRE(all.runs.size() == 1);
        const IngestedRun& run = all.runs[0];
        CHECK(run.kind == Kind::checkpoint);
        CHECK(run.workload == "llama3-8b");
        CHECK(run.variant.empty());
        CHECK(run.notes.at(0).find("104.7 GiB") != std::string::npos);
        CHECK(run.submitter == "Acme");
        CHECK(run.system == "Sys");
        CHECK(run.accelerator_count == 8);
        CHECK(run.host_memory_GiB == 128);
        REQUIRE(run.checkpoint);
        CHECK(*run.checkpoint->save.GiB_per_second == Approx(104.7045 / 8));
        CHECK(run.checkpoint->save.GiB_per_second_mean_of_rates == 12.5);
        CHECK(*run.checkpoint->load.GiB_per_second == Approx(104.7045 / 4));
        CHECK_FALSE(run.checkpoint->load.checkpoint_count);
        CHECK_FALSE(run.samples_per_second);
    }
    SECTION("metadata says model, counts and mode") {
        tree.write(
            leaf / "checkpointing_20250801_101500_metadata.json",
            json{{"model", "llama3-70b"},
                 {"parameters",
                  {{"checkpoint", {{"num_checkpoints_write", 10}, {"num_checkpoints_read", 8}, {"mode", "subset"}}}}}});
        const Ingested all = tree.read();
        REQUIRE(all.runs.size() == 1);
        CHECK(all.runs[0].workload == "llama3-70b"); // the folder says another: that is told, not used
        CHECK(all.runs[0].variant == "subset");
        CHECK(all.runs[0].edition == "2.0");
        CHECK(all.runs[0].checkpoint->save.checkpoint_count == 10);
        CHECK(all.runs[0].checkpoint->load.checkpoint_count == 8);
        CHECK(std::any_of(all.runs[0].declared.begin(), all.runs[0].declared.end(), [](const Declared& d) {
            return d.value == "llama3-8b" && d.where.find("folder") != std::string::npos;
        }));
    }
    SECTION("another size is another workload; without size the model's counts") {
        tree.write(leaf / "checkpointing_x_metadata.json", json{{"model", "llama3-8b"}});
        tree.write(leaf / "summary.json", summary_of(with_size(side("save", 12.5, 8), 50)));
        CHECK(tree.read().runs.at(0).variant == "checkpoint of 50 GiB");
        tree.write(leaf / "summary.json", summary_of(side("save", 12.5, 8)));
        const IngestedRun run = tree.read().runs.at(0);
        CHECK(run.variant.empty());
        CHECK(*run.checkpoint->save.GiB_per_second == Approx(104.7045 / 8));
        CHECK_FALSE(run.checkpoint->load.duration_s);
        CHECK(run.notes.at(0).find("no file says how large") == 0);
    }
}

TEST_CASE("the checkpoints of a training do not make it a checkpoint result") {
    json metric = side("save", 1, 2);
    CHECK(is_checkpoint_metric(metric));
    metric["train_au_percentage"] = {90};
    CHECK_FALSE(is_checkpoint_metric(metric));
    CHECK_FALSE(is_checkpoint_metric(json::array()));
}

TEST_CASE("case T8: 100 GiB in 5 s and in 20 s are 8.0 GiB/s, and 12.5 as the mean of rates") {
    RunResult r;
    r.status = "complete";
    r.kind = "checkpoint";
    r.workload = r.model = "llama3_8b";
    r.accelerator_count = 4;
    r.hosts.resize(2);
    r.checkpoints = {one("write", 100, 5), one("write", 100, 20), one("read", 100, 4)};
    r.checkpoints.push_back(one("write", 100, 1));
    r.checkpoints.back().committed = false; // never visible: not counted
    const auto run = from_run_result(r, "x");
    REQUIRE(run);
    CHECK(run->kind == Kind::checkpoint);
    CHECK(run->workload == "llama3-8b");
    CHECK(run->variant == "checkpoint of 100 GiB");
    CHECK(run->accelerator_count == 8);
    CHECK(run->checkpoint->save.checkpoint_count == 2);
    CHECK(*run->checkpoint->save.GiB_per_second == Approx(8));
    CHECK(*run->checkpoint->save.GiB_per_second_mean_of_rates == Approx(12.5));
    CHECK(*run->checkpoint->load.GiB_per_second == Approx(25));
    // As a file, among others.
    const ResultTree tree;
    tree.write("checkpoint/llama3_8b/run/20261130_100000/result.json", reporters::to_json(r));
    CHECK(tree.read().runs.at(0).checkpoint->save.checkpoint_count == 2);
    CHECK(tree.read().runs.at(0).accelerator_count == 4); // the ranks' own figures are passed over
    r.checkpoints.clear();
    CHECK(from_run_result(r, "x").error().message.find("no checkpoint") == 0);
}

TEST_CASE("results.json of the 3.0 tool: beside its runs it is held against them, alone it stands for them") {
    const ResultTree tree;
    const fs::path model = "closed/Acme/results/Sys/training/unet3d/run";
    const json row = {{"category", "closed"},
                      {"orgname", "Acme"},
                      {"systemname", "Sys"},
                      {"benchmark_type", "training"},
                      {"model", "unet3d"},
                      {"accelerator", "b200"},
                      {"train_num_simulated_accelerators", 4},
                      {"train_num_client_nodes", 2},
                      {"train_mean_of_au_percentage", 93.5},
                      {"train_mean_of_throughput_samples_per_second", 160.0},
                      {"train_read_bw_gibps", 21.845},
                      {"issues", "run 3 is late"}};
    const json other = {{"benchmark_type", "vector_database"}, {"vdb_throughput_qps", 1}};
    tree.write(model / "results.json", json::array({row, other}));
    const Ingested alone = tree.read();
    CHECK(alone.problems.empty());
    REQUIRE(alone.runs.size() == 1);
    CHECK(alone.runs[0].is_mean);
    CHECK(alone.runs[0].edition == "3.0");
    CHECK(alone.runs[0].submitter == "Acme");
    CHECK(alone.runs[0].accelerator_count == 4);
    CHECK(alone.runs[0].au_bar_percentage == 90);
    CHECK(*alone.runs[0].nominal_MiB_per_second == Approx(21.845 * 1024));
    CHECK(*alone.runs[0].effective_utilization_percentage == Approx(100 * 160 * 0.162 / 28));
    CHECK(alone.runs[0].notes.at(0).find("run 3 is late") != std::string::npos);

    tree.write(model / "20260701_100000/summary.json", test::summary());
    const Ingested beside = tree.read();
    REQUIRE(beside.runs.size() == 1);
    CHECK_FALSE(beside.runs[0].is_mean);
    CHECK(beside.runs[0].report_mean_samples_per_second == 160);

    tree.write("a/results.json", json::array({{{"benchmark_type", "training"}, {"model", "unet3d"}}}));
    tree.write("b/results.json", "{\"overall\": 1}");
    tree.write("c/results.json", "[1]");
    const Ingested broken = tree.read();
    CHECK(broken.runs.size() == 1);
    REQUIRE(broken.problems.size() == 3);
    CHECK(broken.problems[0].found.find("a row of unet3d without figures") == 0);
    CHECK(broken.problems[1].found.find("not a list of rows") != std::string::npos);
    CHECK(broken.problems[2].found.find("row 1 is not an object") != std::string::npos);
}

TEST_CASE("a system of edition 3.0: supplies that must run, drives of the product, clients left out") {
    const std::vector<fs::path> data{fs::path(FEEDBENCH_SOURCE_DIR) / "tests/data/ingest/v3_0"};
    const Ingested all = ingest::ingest(data);
    CHECK(all.problems.empty());
    REQUIRE(all.runs.size() == 7);
    const auto box =
        std::find_if(all.runs.begin(), all.runs.end(), [](const IngestedRun& r) { return r.kind == Kind::training; });
    REQUIRE(box != all.runs.end());
    CHECK(box->description.watts == 2 * 800 + 400);
    CHECK(box->description.rack_units == 6);
    CHECK(*box->description.raw_capacity_GiB == Approx(2 * 12 * 7680e9 / 1073741824));
    CHECK_FALSE(box->description.usable_capacity_GiB);
    CHECK(box->description.solution == "Gamma Box");
}
