// Checkpoints inside training, on a real folder: what stays when one fails.
#include <filesystem>
#include <unistd.h>

#include "tests/support/virtual_run.hpp"

using namespace feedbench;
using feedbench::test::VirtualRun;
namespace fs = std::filesystem;

namespace {

RunResult run_in_real_time(const Workload& workload) {
    auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    REQUIRE(reactor);
    auto communicator = cluster::make_single();
    workloads::RunRequest request;
    request.workload = &workload;
    request.communicator = communicator.get();
    request.reactor = reactor->get();
    request.accelerator_count = 1;
    request.run_seed = 1;
    auto result = workloads::run_training(request);
    if (!result) FAIL(result.error().describe());
    return std::move(*result);
}

struct Folder {
    fs::path path = fs::temp_directory_path() / ("feedbench-checkpoint-" + std::to_string(getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

Workload checkpointing(const std::string& folder) {
    VirtualRun run;
    run.think(0);
    run.workload.dataset.num_files_train = 4;
    run.workload.reader.io_engine = IoEngine::threads;
    run.workload.workflow.checkpoint = true;
    run.workload.checkpoint.steps_between_checkpoints = 2;
    run.workload.checkpoint.checkpoint_folder = folder;
    run.workload.model.model_size_bytes = 3'000'000;
    return run.workload;
}

} // namespace

TEST_CASE("a checkpoint that fails leaves neither a half file nor an empty folder; those before it stay",
          "[training]") {
    Folder folder;
    const RunResult good = run_in_real_time(checkpointing(folder.path.string()));
    CHECK(good.checkpoints.size() == 2);
    CHECK(fs::file_size(folder.path / "global_epoch1_step2" / "model_states-0.pt") == 3'000'000);
    CHECK(fs::exists(folder.path / "global_epoch1_step4"));
    fs::remove_all(folder.path / "global_epoch1_step4");

    // The second checkpoint's commit fails: the first one's file, the list, then this.
    const RunResult bad = run_in_real_time(checkpointing("fault:error=EIO@3,on=commit;inner=" + folder.path.string()));
    CHECK(bad.status == "failed");
    REQUIRE_FALSE(bad.errors.empty());
    CHECK(bad.errors[0].errno_value == EIO);
    CHECK(fs::exists(folder.path / "global_epoch1_step2" / "model_states-0.pt"));
    CHECK_FALSE(fs::exists(folder.path / "global_epoch1_step4"));
}
