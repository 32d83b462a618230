// What make_training_plan refuses although every part of it could be made (training_setup.cpp).
#include "generators/content.hpp"
#include "tests/support/virtual_run.hpp"
#include "workloads/training_setup.hpp"

using namespace feedbench;
using feedbench::test::VirtualRun;

namespace {

// The refusal's key and sentence, or nothing.
std::string refusal(const Workload& workload, const dataset::Manifest* made = nullptr) {
    auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    REQUIRE(reactor);
    auto communicator = cluster::make_single();
    workloads::RunRequest request;
    request.workload = &workload;
    request.communicator = communicator.get();
    request.reactor = reactor->get();
    request.accelerator_count = 1;
    const auto plan = workloads::make_training_plan(request, made);
    if (plan) return {};
    CHECK(plan.error().kind == ErrorKind::config);
    return plan.error().path + ": " + plan.error().message;
}

} // namespace

TEST_CASE("more epochs than a step record can number are refused, not counted from 0 again", "[training]") {
    VirtualRun run;
    run.workload.train.epochs = 65536;
    CHECK(refusal(run.workload).empty());
    run.workload.train.epochs = 65537;
    CHECK(refusal(run.workload).find("train.epochs: 65537") == 0);
}

TEST_CASE("more blocks an epoch than a step record can number are refused", "[training]") {
    VirtualRun run;
    run.workload.dataset.num_files_train = 65536;
    run.workload.checkpoint.steps_between_checkpoints = 2;
    run.workload.workflow.checkpoint = true;
    CHECK(refusal(run.workload).empty()); // 32768 blocks
    run.workload.dataset.num_files_train = 65537;
    CHECK(refusal(run.workload).find("checkpoint.steps_between_checkpoints: ") == 0);
    CHECK(refusal(run.workload).find("32769 blocks") != std::string::npos);
    run.workload.workflow.checkpoint = false; // one block
    CHECK(refusal(run.workload).empty());
}

TEST_CASE("verify: content is refused where the content cannot be known", "[training]") {
    VirtualRun run;
    run.workload.reader.verify = Verify::content;
    dataset::Manifest made;
    made.state = dataset::Manifest::State::complete;
    made.dataset = run.workload.dataset;
    made.content_version = generators::kContentVersion;
    CHECK(refusal(run.workload, &made).empty());
    made.content_version = generators::kContentVersion + 1;
    CHECK(refusal(run.workload, &made).find("reader.verify: ") == 0);
    made.generator = dataset::kAdopted;
    made.content_version = 0;
    CHECK(refusal(run.workload, &made).find("adopted") != std::string::npos);
    run.workload.reader.verify = Verify::checksum;
    CHECK(refusal(run.workload, &made).empty());
}
