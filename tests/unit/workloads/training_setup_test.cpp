// What a run needs before its first read: the memory bound, plans of very many files (case P10), refusals.
#include <catch2/catch.hpp>

#include <malloc.h>

#include "harness/config/load_yaml.hpp"
#include "harness/types/units.hpp"
#include "tests/support/fake_ranks.hpp"
#include "workloads/training.hpp"
#include "workloads/training_setup.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

Workload profile(const std::string& name) {
    auto workload =
        config::load_workload({.workload = std::string(FEEDBENCH_SOURCE_DIR) + "/configs/workloads/" + name + ".yaml"});
    if (!workload) FAIL(workload.error().describe());
    return std::move(*workload);
}

struct Setup {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    FakeRanks ranks;
    std::unique_ptr<cluster::Communicator> communicator;
    Workload workload;
    workloads::RunRequest request;
    Setup(Workload made, std::uint32_t accelerators, const std::vector<int>& hosts = {1})
        : ranks(hosts), communicator(ranks.rank(0)), workload(std::move(made)) {
        request.workload = &workload;
        request.communicator = communicator.get();
        request.reactor = reactor.get();
        request.accelerator_count = accelerators;
        request.run_seed = 1;
    }
    Expected<workloads::TrainingPlan> plan() { return workloads::make_training_plan(request, nullptr); }
};

#if defined(__SANITIZE_ADDRESS__)
std::size_t heap_bytes() { return 0; } // the sanitizer's heap does not tell
#else
std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

} // namespace

TEST_CASE("a rank needs at most 512 MiB for unet3d with 8 accelerators, and for every other profile") {
    for (const char* name : {"unet3d_a100", "unet3d_h100", "unet3d_b200", "resnet50_a100", "resnet50_h100",
                             "cosmoflow_a100", "cosmoflow_h100"}) {
        INFO(name);
        Setup setup(profile(name), 8);
        const auto plan = setup.plan();
        if (!plan) FAIL(plan.error().describe());
        const std::uint64_t bound = workloads::memory_bound_bytes(setup.request, *plan);
        CHECK(bound <= 512 * kMiB);
        CHECK(bound >= plan->buffers.buffer_bytes * plan->buffers.buffer_count);
        CHECK(plan->placement.count == 8);
    }
}

TEST_CASE("very many readers share the buffers: the bound holds for 512 accelerators in a rank") {
    Workload workload = profile("unet3d_h100");
    workload.dataset.num_files_train = 512 * 7;
    Setup setup(workload, 512);
    const auto plan = setup.plan();
    REQUIRE(plan);
    CHECK(workloads::memory_bound_bytes(setup.request, *plan) <= 512 * kMiB);
    CHECK(plan->buffers.buffer_count >= 1);
}

TEST_CASE("case P10: the plan of 64 million files takes no memory to speak of") {
    const double stdev = GENERATE(0.0, 20000.0);
    INFO("stdev " << stdev);
    Workload workload = profile("cosmoflow_h100");
    workload.dataset.num_files_train = 64000000;
    workload.dataset.num_subfolders_train = 10;
    workload.dataset.record_length_bytes = 114660;
    workload.dataset.record_length_bytes_stdev = stdev;
    workload.reader.file_shuffle = Shuffle::seed;
    Setup setup(workload, 8, {8});
    const std::size_t before = heap_bytes();
    const auto plan = setup.plan();
    REQUIRE(plan);
    const auto epoch = workloads::make_epoch_plan(setup.request, *plan, plan->train, 3);
    REQUIRE(epoch);
    std::string name;
    std::uint64_t length = 0;
    for (std::uint64_t step = 0; step < 100000; ++step) {
        plan->train.files->name((*epoch)->sample(0, step, 0).file_index, name);
        length += name.size();
    }
    CHECK(length == 100000 * name.size());   // zero padded: all of one length
    CHECK(heap_bytes() - before < 8 * kMiB); // a rank; of a node's 64 MiB
    CHECK((*epoch)->step_count() == 8000000);
}

TEST_CASE("what cannot be is refused with the key and the numbers") {
    const auto refused = [](const Workload& workload, std::uint32_t accelerators, const std::string& word) {
        Setup setup(workload, accelerators);
        const auto plan = setup.plan();
        REQUIRE_FALSE(plan);
        CHECK(exit_code(plan.error().kind) == 2);
        INFO(plan.error().describe());
        CHECK(plan.error().describe().find(word) != std::string::npos);
    };
    const Workload good = profile("unet3d_h100");
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
    const Workload workload = profile("unet3d_h100");
    dataset::Manifest manifest;
    manifest.dataset = workload.dataset;
    manifest.state = dataset::Manifest::State::complete;
    manifest.dataset.num_files_train = 336;
    Setup setup(workload, 4);
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
    Setup setup(profile("unet3d_h100"), 4, {2, 2});
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
