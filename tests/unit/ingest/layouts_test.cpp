// Every layout that was published in edition 1.0, and those of 2.0 and 3.0, in small: what is read must not depend on
// it.
#include <catch2/catch.hpp>

#include <set>

#include "tests/unit/ingest/result_tree.hpp"

using namespace feedbench::ingest;
using namespace feedbench::ingest::test;

namespace {

struct Layout {
    const char *name, *report, *run; // below results/; # is the number of the run
    const char *systems, *system;    // where the description lies, and the name that is expected
};

const Layout kLayouts[] = {
    {"run-N", "Sys/unet3d_h100", "Sys/unet3d_h100/run-#", "systems", "Sys"},
    {"report inside runs, a client's folder below", "Sys/unet3d-h100/runs", "Sys/unet3d-h100/runs/run#/c002", "systems",
     "Sys"},
    {"no workload folder, upper case", "Acme_unet3d_2Client_H100", "Acme_unet3d_2Client_H100/run#", "systems",
     "Acme_unet3d_2Client_H100"},
    {"report above the workload's folder", "Sys", "Sys/unet3d-h100/run#/host1", "systems", "Sys"},
    {"hosts and GPUs in the path", "Sys/unet3d-h100/2hosts@2GPUs", "Sys/unet3d-h100/2hosts@2GPUs/runs/run#", "systems",
     "Sys"},
    {"accelerators without their model", "Sys/unet3d-4acc", "Sys/unet3d-4acc/run#", "systems", "Sys"},
    {"the workload in each run's name", "Sys/unet3d_h100", "Sys/unet3d_h100/unet3d_h100_run_#", "systems", "Sys"},
    {"runs/runN", "Sys/unet3d-h100", "Sys/unet3d-h100/runs/run#", "systems", "Sys"},
    {"workload/accelerator/run_N", "Sys/unet3d/h100", "Sys/unet3d/h100/run_#", "systems", "Sys"},
    {"no system folder", "unet-h100", "unet-h100/runs/run#", "systems", "Sys"},
    {"systems below the system's results", "Sys/unet3d/h100", "Sys/unet3d/h100/run#", "results/Sys/systems", "Sys"},
};

std::string numbered(std::string text, int run) {
    if (const std::size_t at = text.find('#'); at != std::string::npos) text.replace(at, 1, std::to_string(run));
    return text;
}

void build(const ResultTree& tree, const Layout& layout, const std::string& division = "Closed") {
    const fs::path submitter = fs::path(division) / "Acme";
    std::vector<json> summaries;
    for (int run = 1; run <= 5; ++run) {
        summaries.push_back(summary(run));
        tree.write(submitter / "results" / numbered(layout.run, run) / "summary.json", summaries.back());
    }
    tree.write(submitter / "results" / layout.report / "mlperf_storage_report.json", report(summaries));
    tree.write(submitter / layout.systems / (std::string(layout.system) + ".JSON"), description("Acme Inc."));
}

} // namespace

TEST_CASE("every layout of edition 1.0 gives the same five runs of one result") {
    for (const Layout& layout : kLayouts) {
        INFO(layout.name);
        const ResultTree tree;
        build(tree, layout);
        const Ingested all = tree.read();
        CHECK(all.problems.empty());
        REQUIRE(all.runs.size() == 5);
        std::set<std::string> sets;
        for (const IngestedRun& run : all.runs) {
            sets.insert(run.set_path);
            CHECK(run.workload == "unet3d");
            CHECK(run.accelerator_model == "h100");
            CHECK(run.accelerator_count == 4);
            CHECK(run.host_count == 2);
            CHECK(run.edition == "1.0");
            CHECK(run.division == "closed");
            CHECK(run.submitter == "Acme");
            CHECK(run.system == layout.system);
            CHECK(run.description.vendor == "Acme Inc.");
            CHECK(run.description.usable_capacity_GiB == 1000);
            CHECK_FALSE(run.description.raw_capacity_GiB); // "Inf" is no number
            CHECK(run.description.watts == 2400);
            CHECK_FALSE(run.report_lacks_run);
            CHECK(*run.effective_utilization_percentage == Approx(92).epsilon(0.1));
        }
        CHECK(sets.size() == 1);
    }
}

TEST_CASE("one level too high or too low, what lies around a run is still found") {
    const ResultTree tree;
    build(tree, kLayouts[1], "Open");
    for (const char* below : {"Open", "Open/Acme", "Open/Acme/results", "Open/Acme/results/Sys/unet3d-h100/runs"}) {
        INFO(below);
        const Ingested all = tree.read(below);
        REQUIRE(all.runs.size() == 5);
        CHECK(all.runs[0].submitter == "Acme");
        CHECK(all.runs[0].division == "open");
    }
    for (const char* below : {"run2", "run2/c002", "run2/c002/summary.json"}) {
        INFO(below);
        const Ingested one = tree.read(fs::path("Open/Acme/results/Sys/unet3d-h100/runs") / below);
        REQUIRE(one.runs.size() == 1);
        CHECK(one.runs[0].workload == "unet3d");
        CHECK(one.runs[0].edition == "1.0");
        CHECK(one.runs[0].system == "Sys");
        CHECK(one.runs[0].description.vendor == "Acme Inc.");
    }
    CHECK(tree.read("Open/Acme/results/Sys/unet3d-h100/runs/mlperf_storage_report.json").runs.size() == 5);
}

TEST_CASE("edition 2.0: time stamps and metadata of the tool") {
    const ResultTree tree;
    const fs::path model = "closed/Acme/results/Sys/training/unet3d/run";
    for (int run = 1; run <= 5; ++run) {
        const fs::path folder = model / ("2025070" + std::to_string(run) + "_101500");
        tree.write(folder / "summary.json", summary(run));
        tree.write(folder / "training_unet3d_metadata.json",
                   json{{"model", "unet3d"}, {"accelerator", "h100"}, {"num_processes", 4}});
    }
    const Ingested all = tree.read();
    CHECK(all.problems.empty());
    REQUIRE(all.runs.size() == 5);
    CHECK(all.runs[0].edition == "2.0");
    CHECK(all.runs[0].workload == "unet3d");
    CHECK(all.runs[0].accelerator_model == "h100");
    CHECK(all.runs[0].system == "Sys");
    CHECK(all.runs[0].set_path == all.runs[4].set_path);
}

TEST_CASE("edition 3.0: submission.yaml, a system in YAML, settings beside the run") {
    const ResultTree tree;
    const fs::path org = "closed/Acme", leaf = org / "results/Sys/training/retinanet/run/20260701_100000";
    json s = summary();
    s["metric"].erase("train_io_mean_MB_per_second");
    tree.write(leaf / "summary.json", s);
    tree.write(leaf / "training_run_metadata.json", json{{"model", "retinanet"}, {"accelerator", "b200"}});
    tree.write(
        leaf / "dlio_config/config.yaml",
        "workload:\n  model:\n    name: retinanet\n  reader:\n    batch_size: 24\n  train:\n    computation_time: "
        "0.04755\n  dataset:\n    record_length_bytes: 322957\n  metric:\n    au: 0.85\n");
    tree.write(org / "submission.yaml", "org: Acme\n");
    tree.write(org / "systems/Sys.yaml", "storage_system:\n  vendor_name: Acme\n  usable_capacity_GiB: '2000'\n");
    const Ingested all = tree.read();
    CHECK(all.problems.empty());
    REQUIRE(all.runs.size() == 1);
    const IngestedRun& run = all.runs[0];
    CHECK(run.edition == "3.0");
    CHECK(run.workload == "retinanet");
    CHECK(run.accelerator_model == "b200");
    CHECK(run.variant.empty());
    CHECK(run.au_bar_percentage == 85);
    CHECK(run.description.usable_capacity_GiB == 2000);
    CHECK(*run.nominal_MB_per_second == Approx(*run.samples_per_second * 322957 / 1e6));
}

TEST_CASE("a single DLIO folder: its own settings name the workload, and no edition is claimed") {
    const ResultTree tree;
    tree.write("out/summary.json", summary());
    tree.write("out/.hydra/config.yaml",
               "workload:\n  model: unet3d\n  reader: {batch_size: 4}\n  train: {computation_time: {mean: 0.323}}\n");
    const Ingested all = tree.read("out");
    REQUIRE(all.runs.size() == 1);
    const IngestedRun& run = all.runs[0];
    CHECK(run.workload == "unet3d");
    CHECK(run.accelerator_model == "h100");
    CHECK(run.variant == "batch 4, think 0.323 s, record 146600628 bytes");
    CHECK(run.edition.empty());
    CHECK(run.division.empty());
    CHECK(run.submitter.empty());
    CHECK(run.system == (tree.root() / "out").string());
}
