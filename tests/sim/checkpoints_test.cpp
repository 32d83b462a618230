// Checkpoints inside training in virtual time, where their cost is known to the nanosecond: what training waits for,
// what it does not, which steps are told apart, and what is left when something fails.
#include <csignal>
#include <filesystem>
#include <map>

#include "harness/config/checkpoint_sizes.hpp"
#include "harness/dataset/checkpoint_index.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"
#include "tests/support/fake_ranks.hpp"
#include "tests/support/random_run.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

// 20 steps of 0.1 s and no reads; a checkpoint every 5 steps takes write_s.
VirtualRun checkpointing(double write_s, bool asynchronous) {
    VirtualRun run;
    run.workload.dataset.num_files_train = 20;
    run.workload.workflow.checkpoint = true;
    run.workload.checkpoint.checkpoint_folder = "model:bandwidth=1e8";
    run.workload.checkpoint.steps_between_checkpoints = 5;
    run.workload.checkpoint.asynchronous = asynchronous;
    run.workload.model.model_size_bytes = static_cast<std::uint64_t>(write_s * 1e8);
    return run;
}

double start_to_start_s(const RunResult& result, std::size_t index) {
    return result.checkpoints.at(index + 1).start_s - result.checkpoints.at(index).start_s;
}

const Finding& cost_of(const RunResult& result) {
    for (const Finding& finding : result.findings)
        if (finding.rule == "checkpoint_cost") return finding;
    FAIL("nothing is said about what checkpoints cost");
    return result.findings.front();
}

} // namespace

TEST_CASE("a checkpoint that all wait for: its time is outside of AU, and is what it costs") {
    const RunResult result = checkpointing(1.0, false).must_run();
    check_invariants(result);
    REQUIRE(result.checkpoints.size() == 4);
    REQUIRE(result.epochs[0].blocks.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        const CheckpointResult& one = result.checkpoints[i];
        CHECK(one.mode == "sync");
        CHECK(one.committed);
        CHECK(one.duration_s == Approx(1.0));
        CHECK(one.visible_s == Approx(1.0));
        CHECK(one.training_wait_s == Approx(1.0));
        CHECK(one.bytes == 100'000'000);
        CHECK(one.folder == "global_epoch1_step" + std::to_string(5 * (i + 1)));
    }
    CHECK(start_to_start_s(result, 0) == Approx(1.5));
    // The first step of each of the four blocks is left out: 16 steps of 0.1 s, and 4 s of standing still.
    CHECK(value_of(result.metrics, "au_mean_percentage") == Approx(100));
    CHECK(value_of(result.metrics, "checkpoint_steps_alone") == 16);
    CHECK(value_of(result.metrics, "checkpoint_steps_beside") == 0);
    CHECK(value_of(result.metrics, "checkpoint_standstill_s") == Approx(4));
    CHECK(value_of(result.metrics, "checkpoint_cost_au_points") == Approx(100 - 160 / 5.6));
    CHECK(value_of(result.metrics, "checkpoint_cost_au_points_slower_steps") == Approx(0).margin(1e-9));
    CHECK(cost_of(result).evidence.find("4 s in which training stood still") != std::string::npos);
}

TEST_CASE("a checkpoint beside the training costs nothing where the storage has room, and ends no block") {
    const RunResult result = checkpointing(0.25, true).must_run();
    check_invariants(result);
    REQUIRE(result.checkpoints.size() == 4);
    CHECK(result.epochs[0].blocks.size() == 1);
    for (const CheckpointResult& one : result.checkpoints) {
        CHECK(one.mode == "async");
        CHECK(one.duration_s == Approx(0.25));
        CHECK(one.training_wait_s == 0);
        CHECK(one.visible_s <= 0.3000001); // the step that was under way when the last rank had written
    }
    CHECK(start_to_start_s(result, 0) == Approx(0.5));
    CHECK(result.epochs[0].end_s == Approx(2.0));
    // Three steps begin while one is written; the last checkpoint comes after the last step, and the run waits for it.
    CHECK(value_of(result.metrics, "checkpoint_steps_beside") == 9);
    CHECK(value_of(result.metrics, "checkpoint_steps_alone") == 10); // without the very first one
    CHECK(value_of(result.metrics, "checkpoint_au_beside_percentage") == Approx(100));
    CHECK(value_of(result.metrics, "checkpoint_cost_au_points") == Approx(0).margin(1e-9));
}

TEST_CASE("a checkpoint that comes while the one before is still written waits for it, and that is said") {
    const RunResult result = checkpointing(0.8, true).must_run();
    check_invariants(result);
    REQUIRE(result.checkpoints.size() == 4);
    // Begun at 0.5 s, written at 1.3 s; the next is due at 1.0 s.
    CHECK(result.checkpoints[0].training_wait_s == 0);
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK(result.checkpoints[i].training_wait_s == Approx(0.3));
        CHECK(start_to_start_s(result, i - 1) == Approx(0.8));
    }
    CHECK(result.epochs[0].blocks.size() == 3); // standing still ends a block, as when all wait
    CHECK(value_of(result.metrics, "au_mean_percentage") == Approx(100));
    CHECK(value_of(result.metrics, "checkpoint_standstill_s") == Approx(0.9));
    CHECK(value_of(result.metrics, "checkpoint_steps_alone") == 4);
    CHECK(value_of(result.metrics, "checkpoint_steps_beside") == 13); // 15 but the first ones of two blocks
    CHECK(value_of(result.metrics, "checkpoint_cost_au_points") == Approx(100 - 170 / 2.6));
    CHECK(cost_of(result).evidence.find("3 of 4 checkpoints had to wait for the one before") != std::string::npos);
}

TEST_CASE("steps that read from the storage that a checkpoint is written to are slower, and are told apart") {
    VirtualRun run = checkpointing(0, true);
    run.workload.dataset.num_files_train = 200;
    run.workload.dataset.data_folder = run.workload.checkpoint.checkpoint_folder = "model:bandwidth=1e8";
    run.workload.dataset.record_length_bytes = 1'000'000; // 10 ms of the storage
    run.workload.checkpoint.steps_between_checkpoints = 50;
    run.workload.model.model_size_bytes = 50'000'000; // half a second of the storage
    run.think(0.02);
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(result.checkpoints.size() == 4);
    CHECK(value_of(result.metrics, "checkpoint_au_alone_percentage") > 99);
    CHECK(value_of(result.metrics, "checkpoint_au_beside_percentage") < 50);
    // All of it is in the AU of the rules, too: no block ended, nobody stood still.
    CHECK(result.epochs[0].blocks.size() == 1);
    CHECK(value_of(result.metrics, "checkpoint_standstill_s") == 0);
    CHECK(value_of(result.metrics, "checkpoint_cost_au_points") ==
          Approx(value_of(result.metrics, "checkpoint_au_alone_percentage") -
                 value_of(result.metrics, "au_mean_percentage"))
              .margin(0.01));
    CHECK(result.attribution.storage_wait_s > 0.2);
    // The storage is never idle while it writes one: bytes over its bandwidth, reads and all.
    for (const CheckpointResult& one : result.checkpoints) CHECK(one.duration_s >= 0.5);
}

TEST_CASE("a transformer's checkpoint inside training has the files of its ranks: the accelerators") {
    VirtualRun run = checkpointing(0, false);
    Workload& w = run.workload;
    run.accelerators = 8;
    w.dataset.num_files_train = 40;
    w.model.num_layers = 4;
    w.model.hidden_size = 64;
    w.model.ffn_hidden_size = 256;
    w.model.vocab_size = 1000;
    w.model.num_attention_heads = 8;
    w.model.parallelism_tensor = 2;
    w.model.parallelism_pipeline = 2;
    w.model.zero_stage = 1;
    const RunResult result = run.must_run();
    REQUIRE(result.checkpoints.size() == 1);
    const config::CheckpointSizes sizes = *config::CheckpointSizes::of(w, 8);
    CHECK(result.checkpoints[0].bytes == sizes.total().total());
    CHECK(result.checkpoints[0].file_count == 7 * 2 + 8);
    REQUIRE(result.checkpoints[0].ranks.size() == 8);
    for (std::uint32_t rank = 0; rank < 8; ++rank)
        CHECK(result.checkpoints[0].ranks[rank].bytes == sizes.rank(rank).total());

    run.accelerators = 6;
    const auto refused = run.run();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("6 ranks are not a multiple of model.parallelism") != std::string::npos);
}

TEST_CASE("ranks whose checkpoint storage fails, beside the training or not: listed means whole, the rest is gone") {
    int complete = 0, failed = 0, interrupted = 0;
    for (std::uint64_t seed = 1; seed <= 16; ++seed) {
        Random random(stream_seed(seed, "faulty checkpoints"));
        std::string folder = (std::filesystem::temp_directory_path() / "feedbench-checkpoints-XXXXXX").string();
        folder = mkdtemp(folder.data());
        FakeRanks ranks(one_of<std::vector<int>>(random, {{2, 2}, {3}, {1, 1}}));
        VirtualRun run("null:");
        Workload& w = run.workload;
        w.dataset.num_files_train = static_cast<std::uint64_t>(ranks.size()) * 24;
        w.workflow.checkpoint = true;
        w.reader.io_engine = IoEngine::threads;
        w.checkpoint.steps_between_checkpoints = between(random, 2, 6);
        w.checkpoint.asynchronous = seed % 3 != 0;
        w.checkpoint.type = CheckpointWriters::all_ranks;
        w.checkpoint.fsync = random.uniform() < 0.5;
        w.checkpoint.transfer_size = 16384;
        w.checkpoint.keep_last = random.uniform() < 0.3 ? 2 : 0;
        w.model.model_size_bytes = between(random, 1, 300'000);
        const bool interrupts = random.uniform() < 0.25;
        run.think(interrupts ? 0.02 : 0.0005); // a signal is looked at ten times a second
        const auto unlucky = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks.size())));
        const std::string what = one_of<std::string>(
            random, {"error=EIO@" + std::to_string(between(random, 1, 30)) + ",on=write", "error=ENOSPC@3,on=commit",
                     "rate=0.02,on=create+write", "delay=2ms,delay_at=20%", "error=EIO@2,on=fsync"});
        INFO("seed " << seed << ": " << ranks.size() << " ranks, rank " << unlucky << ": " << what
                     << (w.checkpoint.asynchronous ? ", async" : ", sync") << (interrupts ? ", interrupted" : ""));
        volatile std::sig_atomic_t signal = 0;
        std::vector<std::string> statuses(static_cast<std::size_t>(ranks.size()));
        std::vector<CheckpointResult> checkpoints;
        std::vector<Error> errors;
        ranks.run([&](cluster::Communicator& communicator) {
            auto clock = engine::make_real_clock();
            auto reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
            const int rank = communicator.rank();
            Workload mine = w;
            mine.checkpoint.checkpoint_folder =
                rank == unlucky ? "fault:" + what + ";inner=" + folder : std::string(folder);
            struct Interrupt : engine::Timer {
                volatile std::sig_atomic_t* signal = nullptr;
            } interrupt;
            interrupt.signal = &signal;
            interrupt.deadline_ns = 8 * kNsPerMs;
            interrupt.fire = [](engine::Timer& timer) { *static_cast<Interrupt&>(timer).signal = SIGINT; };
            if (interrupts && rank == 0) reactor->set_timer(interrupt);
            workloads::RunRequest request;
            request.workload = &mine;
            request.communicator = &communicator;
            request.reactor = reactor.get();
            request.accelerator_count = static_cast<std::uint32_t>(communicator.size()) * 2;
            request.run_seed = seed;
            request.signal = &signal;
            auto result = workloads::run_training(request);
            statuses[static_cast<std::size_t>(rank)] = result ? result->status : result.error().describe();
            CHECK(reactor->outstanding_count() == 0);
            if (interrupts && rank == 0) reactor->cancel_timer(interrupt);
            if (!result || rank != 0) return;
            checkpoints = result->checkpoints;
            errors = result->errors;
        });
        for (const std::string& status : statuses) CHECK(status == statuses[0]);
        (statuses[0] == "complete" ? complete : statuses[0] == "failed" ? failed : interrupted)++;
        if (statuses[0] == "failed") {
            REQUIRE(errors.size() == 1);
            CHECK(errors[0].rank == unlucky);
        }
        // What is listed is there, whole; nothing else is.
        auto clock = engine::make_real_clock();
        auto reactor = std::move(*engine::Reactor::make(*clock, {.use_uring = false}));
        storage::BackendRequest request;
        request.uri = folder;
        request.reactor = reactor.get();
        request.io_engine = IoEngine::threads;
        auto backend = std::move(*storage::make_backend(request));
        const auto index = dataset::read_checkpoint_index(*backend);
        REQUIRE(index);
        std::size_t folders = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (!entry.is_directory()) {
                CHECK(entry.path().filename() == dataset::kCheckpointIndexName);
                continue;
            }
            ++folders;
            const auto* listed = index->find(entry.path().filename().string());
            REQUIRE(listed != nullptr);
            std::uint64_t bytes = 0, files = 0;
            for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
                bytes += file.file_size();
                ++files;
            }
            CHECK(bytes == listed->bytes);
            CHECK(files == listed->file_count);
            CHECK(bytes == w.model.model_size_bytes * static_cast<std::uint64_t>(ranks.size()) * 2);
        }
        CHECK(folders == index->committed.size());
        if (w.checkpoint.keep_last == 0)
            CHECK(folders == checkpoints.size());
        else
            CHECK(folders <= 2);
        std::filesystem::remove_all(folder);
    }
    INFO(complete << " complete, " << failed << " failed, " << interrupted << " interrupted");
    CHECK(complete >= 2);
    CHECK(failed >= 4);
    CHECK(interrupted >= 1);
}
