// Checkpoint runs as a whole in virtual time: written, read back by the same run or another, refused, kept.
#include <fmt/format.h>

#include "harness/config/load_yaml.hpp"
#include "tests/support/checkpoint_rig.hpp"
#include "tests/support/fake_ranks.hpp"

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("write and read on a model take the time that its bandwidth gives") {
    Checkpoints run;
    run.workload.checkpoint.checkpoint_folder = "model:bandwidth=1e6";
    run.workload.checkpoint.time_between_checkpoints_s = 30;
    const RunResult r = run.must_run();
    REQUIRE(r.checkpoints.size() == 4);
    const double seconds_each = static_cast<double>(r.checkpoints[0].bytes) / 1e6;
    CHECK(seconds_each > 1);
    for (std::size_t i = 0; i < 4; ++i) {
        const CheckpointResult& c = r.checkpoints[i];
        CHECK(c.kind == (i < 2 ? "write" : "read"));
        CHECK(c.folder == fmt::format("global_epoch{}_step0", i % 2 + 1));
        CHECK(c.duration_s == Approx(seconds_each).epsilon(1e-6));
        CHECK(c.committed);
        CHECK(c.fsync_done_count == (i < 2 ? 8 : 0));
        CHECK(c.ranks.size() == 4);
        CHECK(c.file_count == 8);
    }
    CHECK(r.checkpoints[1].start_s == Approx(seconds_each + 30).epsilon(1e-6)); // the pause lies between two
    CHECK(r.checkpoints[2].start_s == Approx(2 * seconds_each + 30).epsilon(1e-6));
    CHECK(r.checkpoint_gap_s == 0.0);
    CHECK(value_of(r.metrics, "checkpoint_write_MB_per_second") == Approx(1.0).epsilon(1e-6));
    CHECK(value_of(r.metrics, "checkpoint_size_GiB") == Approx(to_GiB(1e6 * seconds_each)));
    CHECK(r.verdict == "storage-bound");
    CHECK(r.valid);
    std::uint64_t in_slices = 0;
    for (const Slice& slice : r.slices) in_slices += slice.bytes;
    CHECK(in_slices == 4 * r.checkpoints[0].bytes);
    // The same run again is the same.
    CHECK(run.must_run().checkpoints[3].start_s == r.checkpoints[3].start_s);
}

TEST_CASE("the whole of llama3 1t, 1,024 ranks and all files, on a model") {
    auto workload = config::load_workload({.workload = "llama3_1t"});
    REQUIRE(workload);
    Checkpoints run;
    run.workload = *workload;
    run.ranks = 1024;
    run.workload.checkpoint.checkpoint_folder = "model:bandwidth=100GB";
    run.workload.checkpoint.transfer_size = 64 << 20;
    run.workload.checkpoint.num_checkpoints_write = run.workload.checkpoint.num_checkpoints_read = 1;
    const RunResult r = run.must_run();
    REQUIRE(r.checkpoints.size() == 2);
    CHECK(r.checkpoints[0].ranks.size() == 1024);
    CHECK(r.checkpoints[0].file_count == 2072);
    CHECK(r.checkpoints[0].duration_s == Approx(static_cast<double>(r.checkpoints[0].bytes) / 100e9).epsilon(0.01));
    CHECK(r.checkpoints[0].fsync_done_count == 2072);
}

TEST_CASE("what is written is read back by another run, with the time in between; seeds differ, so do the bytes") {
    MemoryBackend memory;
    Checkpoints run;
    run.workload.checkpoint.num_checkpoints_read = 0;
    const RunResult written = run.must_run(&memory);
    CHECK_FALSE(written.checkpoint_gap_s);
    CHECK(index_in(memory).committed.size() == 2);
    const std::string first = memory.files.at("global_epoch1_step0/zero_pp_rank_0_mp_rank_0_optim_states.pt");
    CHECK(first != memory.files.at("global_epoch2_step0/zero_pp_rank_0_mp_rank_0_optim_states.pt"));

    Checkpoints reading = run;
    reading.seed = 8;
    reading.workload.checkpoint.num_checkpoints_write = 0;
    reading.workload.checkpoint.num_checkpoints_read = 2;
    reading.time_origin_unix_ns += 31'000'000'000;
    const RunResult read = reading.must_run(&memory);
    REQUIRE(read.checkpoints.size() == 2);
    CHECK(read.checkpoints[0].content_verified);
    CHECK(read.checkpoint_gap_s.value() == Approx(31));
    CHECK(std::any_of(read.findings.begin(), read.findings.end(),
                      [](const Finding& one) { return one.rule == "checkpoint_gap"; }));
    // Altered after it was committed.
    memory.files["global_epoch2_step0/zero_pp_rank_2_mp_rank_0_model_states.pt"][1000] ^= 1;
    auto altered = reading.run(&memory);
    REQUIRE(altered);
    CHECK(altered->status == "failed");
    CHECK(altered->errors.at(0).offset == 1000);
    CHECK(altered->errors.at(0).accelerator == 2);
    CHECK(altered->checkpoints.size() == 1);

    run.seed = 9;
    run.must_run(&memory);
    CHECK(first != memory.files.at("global_epoch1_step0/zero_pp_rank_0_mp_rank_0_optim_states.pt"));
    CHECK(index_in(memory).committed.size() == 2);
}

TEST_CASE("what cannot be read is refused before anything is: ranks, model, count") {
    MemoryBackend memory;
    Checkpoints run;
    run.workload.checkpoint.num_checkpoints_read = 0;
    run.must_run(&memory);
    const auto refusal = [&](auto change) {
        Checkpoints reading = run;
        reading.workload.checkpoint.num_checkpoints_write = 0;
        reading.workload.checkpoint.num_checkpoints_read = 2;
        change(reading);
        auto result = reading.run(&memory);
        REQUIRE_FALSE(result);
        CHECK(exit_code(result.error().kind) == 2);
        return result.error().message;
    };
    CHECK(refusal([](Checkpoints& c) { c.ranks = 3; }) ==
          "the checkpoint was written by 4 ranks, 3 are to read it: start as many");
    CHECK(refusal([](Checkpoints& c) { c.workload.model.scale = 0.5; }).find("the scale that it was written with") !=
          std::string::npos);
    CHECK(refusal([](Checkpoints& c) {
              c.workload.checkpoint.num_checkpoints_read = 3;
          }).find("3 checkpoints are to be read, and 2 are committed") == 0);
    CHECK(refusal([](Checkpoints& c) { c.workload.checkpoint.num_checkpoints_read = 0; }).find("0 checkpoints") == 0);
    memory.files["feedbench-checkpoints.json"] = "{";
    CHECK_FALSE(run.run(&memory));
}

TEST_CASE("the newest are kept while others are written; and none of them where none is to stay") {
    MemoryBackend memory;
    Checkpoints run;
    run.workload.checkpoint.num_checkpoints_write = 5;
    run.workload.checkpoint.keep_last = 2;
    CHECK(run.must_run(&memory).checkpoints.size() == 7);
    const auto kept = index_in(memory);
    REQUIRE(kept.committed.size() == 2);
    CHECK(kept.committed[0].folder == "global_epoch4_step0");
    CHECK(memory.files.size() == 2 * 8 + 1);
    run.workload.checkpoint.keep_files = false;
    run.must_run(&memory);
    CHECK(index_in(memory).committed.empty());
    CHECK(memory.files.size() == 1); // the list itself
}

TEST_CASE("a rank shifted by one host reads what its counterpart on the next one wrote") {
    Checkpoints run;
    run.ranks = 6;
    run.workload.checkpoint.recovery_rank_shift = true;
    auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
    FakeRanks ranks({2, 2, 2});
    auto communicator = ranks.rank(0);
    workloads::RunRequest request;
    request.workload = &run.workload;
    request.communicator = communicator.get();
    request.reactor = reactor->get();
    request.accelerator_count = 6;
    auto plan = workloads::make_checkpoint_plan(request);
    REQUIRE(plan);
    CHECK(plan->host_of_rank == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2});
    CHECK(plan->source_of_rank == std::vector<std::uint32_t>{2, 3, 4, 5, 0, 1});
    request.accelerator_count = 7; // an uneven split is refused, as everywhere (P8)
    CHECK_FALSE(workloads::make_checkpoint_plan(request));
    run.workload.checkpoint.recovery_rank_shift = false;
    request.accelerator_count = 6;
    CHECK(workloads::make_checkpoint_plan(request)->source_of_rank == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
}
