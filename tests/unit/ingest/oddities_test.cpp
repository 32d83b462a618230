// What people really publish: each oddity alone, so that the rest around it must still be read.
#include <catch2/catch.hpp>

#include "tests/unit/ingest/result_tree.hpp"

using namespace feedbench::ingest;
using namespace feedbench::ingest::test;

namespace {

const fs::path kSet = "Closed/Acme/results/Sys/unet3d-h100";

// Five good runs with their report.
void build(const ResultTree& tree) {
    std::vector<json> summaries;
    for (int run = 1; run <= 5; ++run) {
        summaries.push_back(summary(run));
        tree.write(kSet / ("run" + std::to_string(run)) / "summary.json", summaries.back());
    }
    tree.write(kSet / "mlperf_storage_report.json", report(summaries));
    tree.write("Closed/Acme/systems/Sys.json", description("Acme Inc."));
}

IngestedRun only(const json& s) {
    const ResultTree tree;
    tree.write("a/summary.json", s);
    Ingested all = tree.read("a");
    REQUIRE(all.runs.size() == 1);
    return all.runs[0];
}

std::string refused(const json& s) {
    const ResultTree tree;
    tree.write("a/summary.json", s);
    const Ingested all = tree.read("a");
    CHECK(all.runs.empty());
    REQUIRE(all.problems.size() == 1);
    CHECK_FALSE(all.problems[0].used);
    CHECK(all.problems[0].path.ends_with("a/summary.json"));
    return all.problems[0].found;
}

} // namespace

TEST_CASE("AppleDouble files are named and passed over") {
    const ResultTree tree;
    build(tree);
    tree.write(kSet / "run1/._summary.json", std::string("\0\5\x16\7\0\2\0\0", 8));
    const Ingested all = tree.read();
    CHECK(all.runs.size() == 5);
    REQUIRE(all.problems.size() == 1);
    CHECK(all.problems[0].path.ends_with("._summary.json"));
    CHECK(all.problems[0].used);
}

TEST_CASE("broken JSON in systems/: repaired where only commas are wrong, named either way") {
    const ResultTree tree;
    build(tree);
    tree.write(
        "Closed/Acme/systems/Sys.json",
        std::string(
            "{\"storage_system\": {\r\n \"vendor_name\": \"Acme\",\r\n \"usable_capacity_GiB\": 77,\r\n},\r\n}"));
    tree.write("Closed/Acme/systems/Other.json", std::string("{\"a\": }"));
    tree.write("Closed/Acme/systems/Schema.json", json{{"$schema", "x"}, {"properties", json::object()}});
    const Ingested all = tree.read();
    REQUIRE(all.runs.size() == 5);
    CHECK(all.runs[0].description.usable_capacity_GiB == 77);
    REQUIRE(problem_at(all, "Sys.json") != nullptr);
    CHECK(problem_at(all, "Sys.json")->found == "not valid JSON: a comma before ] or } in line 3 and 1 more");
    CHECK(problem_at(all, "Sys.json")->used);
    REQUIRE(problem_at(all, "Other.json") != nullptr);
    CHECK_FALSE(problem_at(all, "Other.json")->used);
    REQUIRE(problem_at(all, "Schema.json") != nullptr);
    CHECK(problem_at(all, "Schema.json")->found.find("schema") != std::string::npos);
}

TEST_CASE("a broken summary is listed with the line, the other four runs are read") {
    const ResultTree tree;
    build(tree);
    tree.write(kSet / "run3/summary.json", std::string("{\"start\": \"x\",\n\"metric\": {"));
    const Ingested all = tree.read();
    CHECK(all.runs.size() == 4);
    REQUIRE(all.problems.size() == 1);
    CHECK(all.problems[0].path.ends_with("run3/summary.json"));
    CHECK(all.problems[0].found.find("not valid JSON in line 2") != std::string::npos);
}

TEST_CASE("a broken report: figures still name workload and accelerator") {
    const ResultTree tree;
    build(tree);
    tree.write(kSet / "mlperf_storage_report.json", std::string("not json"));
    const Ingested all = tree.read();
    REQUIRE(all.runs.size() == 5);
    CHECK(all.problems.size() == 1);
    CHECK(all.runs[0].workload == "unet3d");
    CHECK(all.runs[0].accelerator_model == "h100");
    CHECK(says(all.runs[0].notes, "no file names the workload"));
    CHECK(says(all.runs[0].notes, "AU and samples/s"));
}

TEST_CASE("folders that lie: the files win, and what the folder says is kept to be told") {
    const ResultTree tree;
    const fs::path set = "Closed/Acme/results/Sys_9clients/resnet50-a100/8acc";
    const json s = summary();
    tree.write(set / "run1/summary.json", s);
    tree.write(set / "mlperf_storage_report.json", report({s}));
    const Ingested all = tree.read();
    REQUIRE(all.runs.size() == 1);
    const IngestedRun& run = all.runs[0];
    CHECK(run.workload == "unet3d");
    CHECK(run.accelerator_model == "h100");
    CHECK(run.accelerator_count == 4);
    const auto declared = [&](const std::string& what, const std::string& value) {
        for (const Declared& one : run.declared)
            if (one.what == what && one.value == value && one.where.find("folder") != std::string::npos) return true;
        return false;
    };
    CHECK(declared("workload", "resnet50"));
    CHECK(declared("accelerator", "a100"));
    CHECK(declared("accelerators", "8"));
    CHECK(declared("hosts", "9"));
}

TEST_CASE("several configurations under one folder do not mix") {
    const ResultTree tree;
    build(tree);
    json larger = summary(6);
    larger["num_accelerators"] = 8;
    tree.write(kSet / "run6/summary.json", larger);
    const Ingested all = tree.read();
    REQUIRE(all.runs.size() == 6);
    int eights = 0;
    for (const IngestedRun& run : all.runs) eights += run.accelerator_count == 8 ? 1 : 0;
    CHECK(eights == 1);
}

TEST_CASE("strings for numbers are numbers") {
    json s = summary();
    s["num_accelerators"] = "4";
    s["num_hosts"] = "2";
    s["num_files_train"] = "14000";
    s["metric"]["train_throughput_mean_samples_per_second"] = "80.5";
    const IngestedRun run = only(s);
    CHECK(run.accelerator_count == 4);
    CHECK(run.host_count == 2);
    CHECK(run.sample_count == 14000);
    CHECK(run.samples_per_second == 80.5);
}

TEST_CASE("host arrays in the wrong slots: only the sum counts") {
    json s = summary();
    s["host_memory_GB"] = {376.0, 250.0, 0.0, 0.0, 0.0};
    CHECK(only(s).host_memory_GiB == 626);
    s["host_memory_GB"] = 125.5; // as single ranks write it
    CHECK(only(s).host_memory_GiB == 125.5);
    s["host_memory_GB"] = {0, 0};
    CHECK_FALSE(only(s).host_memory_GiB);
}

TEST_CASE("an epoch without AU leaves AU unknown, and the rate is still reported") {
    json s = summary();
    s["metric"]["train_au_percentage"][2] = nullptr;
    s["metric"].erase("train_au_mean_percentage");
    const IngestedRun run = only(s);
    CHECK_FALSE(run.au_percentage);
    CHECK(run.samples_per_second);
    CHECK(says(run.notes, "AU of epoch 3 is not a number"));
}

TEST_CASE("NaN as Python writes it is not a number, and the file is read all the same") {
    const ResultTree tree;
    std::string text = summary().dump();
    const std::string good = "\"train_au_mean_percentage\":95.0";
    REQUIRE(text.find(good) != std::string::npos);
    text.replace(text.find(good), good.size(), "\"train_au_mean_percentage\":NaN");
    tree.write("a/summary.json", text);
    const Ingested all = tree.read("a");
    REQUIRE(all.runs.size() == 1);
    CHECK(all.runs[0].au_percentage == 95); // of the epochs
    CHECK(says(all.runs[0].notes, "NaN"));
}

TEST_CASE("what holds no training figures is refused with the reason") {
    json s = summary();
    s["metric"] = json::object();
    CHECK(refused(s).find("nothing was measured") != std::string::npos);
    s["metric"] = {{"eval_au_mean_percentage", 12.5}};
    CHECK(refused(s).find("checkpoint") != std::string::npos);
    s = summary();
    s.erase("num_accelerators");
    CHECK(refused(s).find("num_accelerators") != std::string::npos);
    s["num_accelerators"] = -3;
    CHECK(refused(s).find("-3") != std::string::npos);
    s = summary();
    s["metric"]["train_throughput_mean_samples_per_second"] = nullptr;
    s["metric"]["train_throughput_samples_per_second"] = {nullptr};
    CHECK(refused(s).find("not numbers") != std::string::npos);
    CHECK(refused(json::array({1, 2})).find("nothing was measured") != std::string::npos);
}

TEST_CASE("paths that are not there, hold nothing, are given twice or lead in a circle") {
    const ResultTree tree;
    build(tree);
    fs::create_directories(tree.root() / "empty");
    fs::create_directory_symlink(tree.root() / "Closed", tree.root() / "Closed/Acme/again");
    const std::vector<fs::path> inputs{tree.root() / "nowhere", tree.root() / "empty", tree.root() / kSet / "run1",
                                       tree.root()};
    const Ingested all = ingest(inputs);
    CHECK(all.runs.size() == 5);
    REQUIRE(problem_at(all, "nowhere") != nullptr);
    CHECK(problem_at(all, "nowhere")->found == "there is no such file or folder");
    REQUIRE(problem_at(all, "empty") != nullptr);
    CHECK(problem_at(all, "empty")->found == "no result below it");
    REQUIRE(problem_at(all, "run1") != nullptr);
    CHECK(problem_at(all, "run1")->found == "was given twice");
}

TEST_CASE("a summary of the first tools, without hosts and counts of files") {
    json s = summary();
    for (const char* key :
         {"num_hosts", "num_files_train", "num_samples_per_file", "host_memory_GB", "data_size_per_host_GB"})
        s.erase(key);
    const IngestedRun run = only(s);
    CHECK(run.host_count == 0);
    CHECK_FALSE(run.dataset_GiB);
    CHECK_FALSE(run.host_memory_GiB);
    CHECK(run.workload == "unet3d");
}
