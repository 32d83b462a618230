// Checkpoint runs that fail or are stopped, in virtual time: a checkpoint is there whole or not at all.
#include <fmt/format.h>

#include "tests/support/checkpoint_rig.hpp"
#include "workloads/checkpoint_run.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("whichever operation fails: what is listed is whole, what is not listed is gone") {
    Checkpoints run;
    std::uint64_t operations = 0;
    {
        MemoryBackend memory;
        Faulty::Plan count;
        REQUIRE(run.run(&memory, &count));
        operations = count.count;
        CHECK(count.flush_count == 2 * 8);
    }
    REQUIRE(operations > 100);
    std::uint64_t failures = 0;
    for (std::uint64_t at = 1; at <= operations; at += 1 + at / 12) {
        INFO("operation " << at << " of " << operations);
        MemoryBackend memory;
        Faulty::Plan faults{.fail_at = at, .error = at % 2 ? EIO : ENOSPC};
        auto result = run.run(&memory, &faults);
        const bool failed = !result || result->status != "complete";
        failures += failed;
        if (failed) {
            const Error& error = result ? result->errors.at(0) : result.error();
            CHECK(error.errno_value == faults.error);
            CHECK(exit_code(error.kind) == 3);
        }
        memory.folders.insert("");
        const auto index = index_in(memory);
        std::size_t listed_files = 0;
        for (const dataset::CheckpointEntry& entry : index.committed) {
            for (const auto& [path, content] : memory.files) listed_files += path.starts_with(entry.folder + "/");
            CHECK(entry.file_count == 8);
        }
        CHECK(listed_files == 8 * index.committed.size());
        const std::size_t list = memory.files.count("feedbench-checkpoints.json");
        CHECK(memory.files.size() == listed_files + list);
        if (index.committed.empty()) continue;
        Checkpoints reading = run;
        reading.workload.checkpoint.num_checkpoints_write = 0;
        reading.workload.checkpoint.num_checkpoints_read = static_cast<std::int64_t>(index.committed.size());
        CHECK(reading.must_run(&memory).checkpoints.back().content_verified);
    }
    CHECK(failures > 20);
}

TEST_CASE("faults on a model by seeds: one error, nothing hangs, whole checkpoints only are told of") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Random random(seed);
        Checkpoints run;
        run.seed = seed;
        const char* kinds[] = {"write", "fsync", "commit", "create", "open", "read"};
        const char* faults[] = {"error=EIO@", "stall=", "error=ENOSPC@"};
        const std::string fault =
            fmt::format("{}{},on={}", faults[seed % 3], 1 + random.next() % 30, kinds[random.next() % 6]);
        run.workload.checkpoint.checkpoint_folder = "fault:" + fault + ";inner=model:bandwidth=1e8,latency=1ms";
        INFO("seed " << seed << ": " << fault);
        auto result = run.run();
        REQUIRE(result);
        CHECK((result->status == "complete" || result->errors.size() == 1));
        CHECK((result->status == "complete") == (result->checkpoints.size() == 4));
        for (const CheckpointResult& c : result->checkpoints) {
            CHECK(c.committed);
            CHECK(c.file_count == 8);
        }
    }
}

TEST_CASE("a signal between or in checkpoints: the rest is left out, the result is marked") {
    volatile std::sig_atomic_t signal = 2;
    Checkpoints run;
    run.workload.checkpoint.checkpoint_folder = "model:bandwidth=1e6";
    auto result = run.run(nullptr, nullptr, &signal);
    REQUIRE(result);
    CHECK(result->status == "interrupted");
    CHECK_FALSE(result->valid);
    CHECK(result->checkpoints.size() < 4);
    CHECK(result->errors.empty());
}

TEST_CASE("fsync that was asked for and not issued is a failed run") {
    Checkpoints run;
    MemoryBackend memory;
    auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    auto communicator = cluster::make_single();
    workloads::RunRequest request;
    request.workload = &run.workload;
    request.communicator = communicator.get();
    request.reactor = reactor->get();
    request.accelerator_count = 4;
    auto plan = workloads::make_checkpoint_plan(request);
    REQUIRE(plan);
    plan->settings.makes_content = true;
    plan->settings.fsync = false; // what the streams are told is not what the workload says
    auto pool = engine::BufferPool::make(workloads::CheckpointStream::buffers_for(plan->settings, 4, false));
    REQUIRE(pool);
    workloads::CheckpointStore store(memory, true);
    REQUIRE(store.open(true));
    workloads::CheckpointRun checkpoints(request, *plan, memory, **pool, store);
    REQUIRE((*reactor)->run(checkpoints.run()));
    CHECK(checkpoints.stop_reason() == accelerator::kFailed);
    REQUIRE(checkpoints.first_error());
    CHECK(checkpoints.first_error()->message ==
          "checkpoint global_epoch1_step0, rank 0: fsync was asked for 2 files and issued for 0");
    CHECK(checkpoints.unfinished() == "global_epoch1_step0");
    CHECK(index_in(memory).committed.empty());
}
