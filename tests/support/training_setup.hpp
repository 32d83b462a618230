// What a training run is planned from: a shipped profile, ranks that are not there, virtual time.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "harness/config/load_yaml.hpp"
#include "tests/support/fake_ranks.hpp"
#include "workloads/training.hpp"
#include "workloads/training_setup.hpp"

namespace feedbench::test {

inline Workload shipped_profile(const std::string& name) {
    auto workload =
        config::load_workload({.workload = std::string(FEEDBENCH_SOURCE_DIR) + "/configs/workloads/" + name + ".yaml"});
    if (!workload) FAIL(workload.error().describe());
    return std::move(*workload);
}

struct TrainingSetup {
    std::unique_ptr<engine::Clock> clock = engine::make_virtual_clock();
    std::unique_ptr<engine::Reactor> reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
    FakeRanks ranks;
    std::unique_ptr<cluster::Communicator> communicator;
    Workload workload;
    workloads::RunRequest request;
    TrainingSetup(Workload made, std::uint32_t accelerators, const std::vector<int>& hosts = {1})
        : ranks(hosts), communicator(ranks.rank(0)), workload(std::move(made)) {
        request.workload = &workload;
        request.communicator = communicator.get();
        request.reactor = reactor.get();
        request.accelerator_count = accelerators;
        request.run_seed = 1;
    }
    Expected<workloads::TrainingPlan> plan() { return workloads::make_training_plan(request, nullptr); }
};

} // namespace feedbench::test
