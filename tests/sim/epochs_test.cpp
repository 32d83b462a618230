// What a training run does besides steps: step limits, evaluation, checkpoints, errors and stops; in virtual time.
#include "tests/support/virtual_run.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

class Epochs final : public RunObserver {
  public:
    std::vector<EpochResult> seen;
    std::uint64_t progress_count = 0;
    void on_epoch(const EpochResult& epoch) override { seen.push_back(epoch); }
    void on_progress(const Progress&) override { ++progress_count; }
};

std::vector<std::string> order_of(const RunResult& result) {
    std::vector<std::string> order;
    for (const EpochResult& epoch : result.epochs)
        order.push_back((epoch.evaluation ? "eval " : "train ") + std::to_string(epoch.index));
    return order;
}

} // namespace

TEST_CASE("case P14: total_training_steps 3 over 2 epochs is 3 steps in all") {
    const std::string loader = GENERATE("pytorch", "tensorflow", "native");
    for (const std::uint64_t files : {2, 8}) {
        INFO(loader << ", " << files << " files");
        VirtualRun run("null:", loader);
        run.workload.dataset.num_files_train = files;
        run.workload.train.epochs = 2;
        run.workload.train.total_training_steps = 3;
        const RunResult result = run.must_run();
        check_invariants(result);
        std::uint64_t steps = 0;
        for (const EpochResult& epoch : result.epochs) {
            steps += epoch.step_count;
            CHECK(epoch.sample_count + epoch.dropped_sample_count == files);
        }
        CHECK(steps == 3);
        CHECK(result.epochs.size() == (files == 2 ? 2 : 1));
    }
}

TEST_CASE("evaluation: epochs over valid/ after epochs a, a + b, ..., with their own batch and think time") {
    VirtualRun run("model:latency=1ms");
    run.workload.dataset.num_files_train = 12;
    run.workload.dataset.num_files_eval = 8;
    run.workload.workflow.evaluation = true;
    run.workload.train.epochs = 5;
    run.workload.evaluation.eval_after_epoch = 2;
    run.workload.evaluation.epochs_between_evals = 2;
    run.workload.evaluation.eval_time.mean_s = 0.3;
    run.workload.reader.batch_size = 3;
    run.workload.reader.batch_size_eval = 2;
    run.accelerators = 2;
    Epochs observer;
    const auto result = run.run(&observer);
    REQUIRE(result);
    check_invariants(*result);
    CHECK(order_of(*result) ==
          std::vector<std::string>{"train 0", "train 1", "eval 1", "train 2", "train 3", "eval 3", "train 4"});
    CHECK(observer.seen.size() == 7);
    CHECK(observer.progress_count > 0);
    for (const EpochResult& epoch : result->epochs) {
        CHECK(epoch.step_count == 2);
        CHECK(epoch.sample_count == (epoch.evaluation ? 8 : 12));
        const double think = epoch.evaluation ? 0.3 : 0.1;
        CHECK(epoch.attribution.think_s == Approx(2 * 2 * think).epsilon(1e-6));
    }
    CHECK(value_of(result->metrics, "au_mean_percentage") > 90);
    CHECK(value_of(result->metrics, "eval_au_mean_percentage") > 90);
    CHECK(value_of(result->metrics, "step_count") == 10); // training's
}

TEST_CASE("checkpoints by epoch lie between the epochs' blocks and are not in their windows") {
    VirtualRun run("null:");
    run.workload.workflow.checkpoint = true;
    run.workload.checkpoint.checkpoint_folder = "model:bandwidth=1e6";
    run.workload.checkpoint.checkpoint_after_epoch = 2;
    run.workload.checkpoint.epochs_between_checkpoints = 2;
    run.workload.model.model_size_bytes = 5000000; // 5 s
    run.workload.dataset.num_files_train = 20;
    run.workload.train.epochs = 5;
    const RunResult result = run.must_run();
    check_invariants(result);
    REQUIRE(result.checkpoints.size() == 2);
    CHECK(result.checkpoints[0].epoch_index == 1);
    CHECK(result.checkpoints[1].epoch_index == 3);
    for (const CheckpointResult& one : result.checkpoints) {
        CHECK(one.step_index == 20);
        CHECK(one.bytes == 5000000);
        CHECK(one.duration_s == Approx(5).margin(0.01));
    }
    for (const EpochResult& epoch : result.epochs) {
        CHECK(epoch.blocks.size() == 1);
        CHECK(epoch.blocks[0].end_s - epoch.blocks[0].start_s == Approx(2.0).epsilon(1e-6));
        CHECK(value_of(epoch.metrics, "au_percentage") == Approx(100));
    }
    CHECK(result.epochs[1].attribution.outside_s == Approx(5).margin(0.01));
    CHECK(result.epochs[0].attribution.outside_s == Approx(0).margin(1e-6));
}

TEST_CASE("checkpoints by step: each starts a new block, T has none of their time") {
    VirtualRun run("model:latency=10ms");
    run.workload.workflow.checkpoint = true;
    run.workload.checkpoint.checkpoint_folder = "model:bandwidth=1e6";
    run.workload.checkpoint.steps_between_checkpoints = 8;
    run.workload.model.model_size_bytes = 3000000; // 3 s
    run.workload.dataset.num_files_train = 40;
    run.workload.train.epochs = 2;
    run.accelerators = 2;
    const RunResult result = run.must_run();
    check_invariants(result);
    REQUIRE(result.checkpoints.size() == 4); // after steps 8 and 16 of 20, in each epoch
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(result.checkpoints[i].epoch_index == i / 2);
        CHECK(result.checkpoints[i].step_index == (i % 2 + 1) * 8);
        CHECK(result.checkpoints[i].duration_s == Approx(3).margin(0.01));
    }
    for (const EpochResult& epoch : result.epochs) {
        REQUIRE(epoch.blocks.size() == 3);
        CHECK(epoch.step_count == 20);
        const std::uint64_t steps[] = {8, 8, 4};
        for (std::size_t b = 0; b < 3; ++b) {
            CHECK(epoch.blocks[b].index == b);
            CHECK(epoch.blocks[b].step_count == steps[b]);
            CHECK(epoch.blocks[b].end_s - epoch.blocks[b].start_s ==
                  Approx(static_cast<double>(steps[b]) * 0.1).margin(0.011));
        }
        CHECK(epoch.end_s - epoch.start_s == Approx(2 + 6).margin(0.05));
        CHECK(epoch.attribution.outside_s == Approx(2 * 6).margin(0.05)); // of two accelerators
        CHECK(value_of(epoch.metrics, "au_percentage") > 99);
    }
}

TEST_CASE("a checkpoint whose steps divide the epoch comes at its end too") {
    VirtualRun run;
    run.workload.workflow.checkpoint = true;
    run.workload.checkpoint.steps_between_checkpoints = 5;
    run.workload.dataset.num_files_train = 10;
    const RunResult result = run.must_run();
    check_invariants(result);
    CHECK(result.checkpoints.size() == 2);
    CHECK(result.epochs[0].blocks.size() == 2);
}

TEST_CASE("an error in the storage stops the run with one error that names the place, status failed") {
    const std::string loader = GENERATE("pytorch", "tensorflow", "native");
    const std::uint64_t accelerators = GENERATE(1U, 4U);
    INFO(loader << ", " << accelerators << " accelerators");
    VirtualRun run("fault:error=EIO@37,on=read;inner=model:latency=3ms", loader);
    run.accelerators = static_cast<std::uint32_t>(accelerators);
    run.workload.reader.read_threads = 2;
    run.workload.reader.prefetch_size = 2;
    const auto result = run.run();
    REQUIRE(result);
    CHECK(result->status == "failed");
    CHECK_FALSE(result->valid);
    REQUIRE(result->errors.size() == 1);
    const Error& error = result->errors[0];
    CHECK(error.kind == ErrorKind::storage);
    CHECK(error.errno_value == EIO);
    CHECK(error.operation == "read");
    CHECK(error.offset == 0);
    CHECK(error.path.find("train/img_") != std::string::npos);
    CHECK(error.accelerator >= 0);
    CHECK(error.accelerator < static_cast<std::int64_t>(accelerators));
    for (const EpochResult& epoch : result->epochs) CHECK_FALSE(epoch.samples_proved);
}

TEST_CASE("no space for a checkpoint stops the run with one error") {
    VirtualRun run;
    run.workload.workflow.checkpoint = true;
    run.workload.checkpoint.checkpoint_folder = "fault:space=2MiB;inner=null:";
    run.workload.model.model_size_bytes = 8 << 20;
    const auto result = run.run();
    REQUIRE(result);
    CHECK(result->status == "failed");
    REQUIRE(result->errors.size() == 1);
    CHECK(result->errors[0].errno_value == ENOSPC);
    CHECK(result->errors[0].path.find("model_states-0.pt") != std::string::npos);
    CHECK(result->checkpoints.empty());
}

TEST_CASE("a signal ends the run within a second, the part that was measured is kept, marked interrupted") {
    class SignalAtProgress final : public RunObserver {
      public:
        volatile std::sig_atomic_t signal = 0;
        void on_progress(const Progress& progress) override {
            if (progress.elapsed_s > 5) signal = SIGINT;
        }
    } observer;
    VirtualRun run("model:latency=1ms");
    run.workload.dataset.num_files_train = 2000;
    run.workload.train.computation_time.mean_s = GENERATE(0.1, 3.0);
    const auto result = run.run(&observer, &observer.signal);
    REQUIRE(result);
    CHECK(result->status == "interrupted");
    CHECK_FALSE(result->valid);
    REQUIRE(result->epochs.size() == 1);
    CHECK(result->epochs[0].end_s < 7.5);
    CHECK(result->epochs[0].step_count >= 1);
}

TEST_CASE("what cannot be is refused before anything is read") {
    VirtualRun few;
    few.workload.dataset.num_files_train = 3;
    few.accelerators = 4;
    const auto p4 = few.run();
    REQUIRE_FALSE(p4);
    CHECK(exit_code(p4.error().kind) == 2);
    CHECK(p4.error().message.find('3') != std::string::npos);
    CHECK(p4.error().message.find('4') != std::string::npos);

    VirtualRun real("/tmp");
    const auto no_virtual = real.run();
    REQUIRE_FALSE(no_virtual);
    CHECK(no_virtual.error().message.find("virtual clock") != std::string::npos);
}

TEST_CASE("case P10: a step costs the same reads and the same time over 10^4 files as over 10^6") {
    const std::string loader = GENERATE("pytorch", "tensorflow", "native");
    INFO(loader);
    const auto run_over = [&loader](std::uint64_t files) {
        VirtualRun run("model:latency=1ms,open_latency=1ms", loader);
        run.workload.dataset.num_files_train = files;
        run.workload.reader.file_shuffle = Shuffle::seed;
        run.workload.reader.prefetch_size = 2;
        run.workload.train.total_training_steps = 300;
        run.accelerators = 2;
        return run.must_run();
    };
    const RunResult few = run_over(10000), many = run_over(1000000);
    const auto reads = [](const RunResult& result) {
        std::uint64_t count = 0;
        for (const Slice& slice : result.slices) count += slice.reads;
        return count;
    };
    CHECK(reads(few) >= 550); // the last, unfinished second is not a slice
    CHECK(static_cast<double>(reads(many)) <= 1.2 * static_cast<double>(reads(few)));
    CHECK(step_s(many) == Approx(step_s(few)).epsilon(1e-6));
}
