// What a run needs before its first read: the memory bound, refusals.
#include <catch2/catch.hpp>

#include "harness/types/units.hpp"
#include "tests/support/training_setup.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("a rank needs at most 512 MiB for unet3d with 8 accelerators, and for every other profile") {
    for (const char* name : {"unet3d_a100", "unet3d_h100", "unet3d_b200", "resnet50_a100", "resnet50_h100",
                             "cosmoflow_a100", "cosmoflow_h100"}) {
        INFO(name);
        TrainingSetup setup(shipped_profile(name), 8);
        const auto plan = setup.plan();
        if (!plan) FAIL(plan.error().describe());
        const std::uint64_t bound = workloads::memory_bound_bytes(setup.request, *plan);
        CHECK(bound <= 512 * kMiB);
        CHECK(bound >= plan->buffers.buffer_bytes * plan->buffers.buffer_count);
        CHECK(plan->placement.count == 8);
    }
}

TEST_CASE("very many readers share the buffers: the bound holds for 512 accelerators in a rank") {
    Workload workload = shipped_profile("unet3d_h100");
    workload.dataset.num_files_train = 512 * 7;
    TrainingSetup setup(workload, 512);
    const auto plan = setup.plan();
    REQUIRE(plan);
    CHECK(workloads::memory_bound_bytes(setup.request, *plan) <= 512 * kMiB);
    CHECK(plan->buffers.buffer_count >= 1);
}

TEST_CASE("what cannot be is refused with the key and the numbers") {
    const auto refused = [](const Workload& workload, std::uint32_t accelerators, const std::string& word) {
        TrainingSetup setup(workload, accelerators);
        const auto plan = setup.plan();
        REQUIRE_FALSE(plan);
        CHECK(exit_code(plan.error().kind) == 2);
        INFO(plan.error().describe());
        CHECK(plan.error().describe().find(word) != std::string::npos);
    };
    const Workload good = shipped_profile("unet3d_h100");
    Workload bad = good;
    bad.dataset.format = "zarr";
    refused(bad, 1, "npz");
    bad = good;
    bad.reader.data_loader = "dali";
    refused(bad, 1, "tensorflow");
    bad = good;
    bad.dataset.num_files_train = 20;
    refused(bad, 3, "20"); // 21 samples for one step
    bad = good;
    bad.workflow.evaluation = true;
    bad.dataset.num_files_eval = 0;
    refused(bad, 1, "eval");
    refused(good, 0, "accelerators");
}

TEST_CASE("a run over fewer files than the manifest has is a subset; more are refused") {
    const Workload workload = shipped_profile("unet3d_h100");
    dataset::Manifest manifest;
    manifest.dataset = workload.dataset;
    manifest.state = dataset::Manifest::State::complete;
    manifest.dataset.num_files_train = 336;
    TrainingSetup setup(workload, 4);
    const auto plan = workloads::make_training_plan(setup.request, &manifest);
    REQUIRE(plan);
    CHECK(plan->steps_per_epoch == 6);
    CHECK(plan->train.files->file_count() == 336);
    CHECK(plan->train.used_file_count == 168);
    manifest.dataset.num_files_train = 100;
    const auto more = workloads::make_training_plan(setup.request, &manifest);
    REQUIRE_FALSE(more);
    CHECK(more.error().message.find("168") != std::string::npos);
    CHECK(more.error().message.find("100") != std::string::npos);
    CHECK(more.error().path == "dataset.num_files_train");
}

TEST_CASE("the plan that --dry-run prints needs no storage") {
    TrainingSetup setup(shipped_profile("unet3d_h100"), 4, {2, 2});
    const auto rows = workloads::plan_training(setup.request);
    REQUIRE(rows);
    const auto value = [&](const std::string& name) {
        for (const workloads::PlanRow& row : *rows)
            if (row.name == name) return row.value;
        return std::string("none");
    };
    CHECK(value("in all") == "4");
    CHECK(value("per rank") == "1");
    CHECK(value("hosts") == "2");
    CHECK(value("steps") == "6");
    CHECK(value("samples dropped") == "0");
    CHECK(value("a rank, at most").find("MiB") != std::string::npos);
}
