// Checkpoint runs as a whole in virtual time: written and read back, faults at any operation, stops; a checkpoint is
// there whole or not at all.
#include <fmt/format.h>

#include "harness/config/load_yaml.hpp"
#include "tests/support/fake_ranks.hpp"
#include "tests/support/memory_backend.hpp"
#include "tests/support/virtual_run.hpp"
#include "workloads/checkpoint.hpp"
#include "workloads/checkpoint_run.hpp"
#include "workloads/checkpoint_setup.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;

namespace {

// A memory that outlives the run, and fails at one operation (of any kind, lists and removals included).
class Faulty final : public storage::Backend {
  public:
    struct Plan {
        std::uint64_t fail_at = 0; // counted from 1; 0: never
        int error = 0;
        std::uint64_t count = 0, flush_count = 0;
    };
    Faulty(MemoryBackend& memory, Plan& plan) : memory_(memory), plan_(plan) {}
    const storage::Capabilities& capabilities() const override { return memory_.capabilities(); }
    std::string display_path(const std::string& path) const override { return memory_.display_path(path); }
    engine::Submit submit(engine::IoOp& op) override {
        if (fails()) {
            op.result = -plan_.error;
            return engine::Submit::done;
        }
        plan_.flush_count += op.kind == IoKind::flush;
        return memory_.submit(op);
    }
    Expected<storage::FileStat> stat(const std::string& path) override { return memory_.stat(path); }
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override {
        return memory_.list(path, each);
    }
    Status make_directories(const std::string& path) override {
        return fails() ? failed("mkdir", path) : memory_.make_directories(path);
    }
    Status remove(const std::string& path) override { return fails() ? failed("remove", path) : memory_.remove(path); }
    Status write_file(const std::string& path, std::span<const std::byte> content) override {
        return fails() ? failed("write", path) : memory_.write_file(path, content);
    }
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit) override {
        if (fails()) return failed("read", path).error();
        return memory_.read_file(path, limit);
    }

  private:
    bool fails() { return ++plan_.count == plan_.fail_at; }
    Status failed(const char* operation, const std::string& path) const {
        return storage_error(operation, display_path(path), plan_.error);
    }
    MemoryBackend& memory_;
    Plan& plan_;
};

struct Checkpoints {
    Workload workload;
    std::uint32_t ranks = 4;
    std::uint64_t seed = 7;
    std::int64_t time_origin_unix_ns = 1'800'000'000'000'000'000;

    // Four ranks, about 1.5 MB.
    Checkpoints() {
        workload.name = workload.model.name = "small";
        workload.workflow.train = false;
        workload.workflow.checkpoint = true;
        ModelSection& m = workload.model;
        m.num_layers = 2;
        m.zero_stage = 3;
        m.vocab_size = 256;
        m.hidden_size = 64;
        m.ffn_hidden_size = 128;
        m.num_attention_heads = m.num_kv_heads = 4;
        workload.checkpoint.checkpoint_folder = "null:";
        workload.checkpoint.transfer_size = 65536;
        workload.checkpoint.fsync = true;
        workload.checkpoint.num_checkpoints_write = workload.checkpoint.num_checkpoints_read = 2;
        workload.reader.verify = Verify::content;
    }
    Expected<RunResult> run(MemoryBackend* memory = nullptr, Faulty::Plan* faults = nullptr,
                            const volatile std::sig_atomic_t* signal = nullptr) const {
        auto clock = engine::make_virtual_clock();
        auto reactor = engine::Reactor::make(*clock, {.use_uring = false});
        REQUIRE(reactor);
        auto communicator = cluster::make_single();
        Faulty::Plan none;
        workloads::RunRequest request;
        request.workload = &workload;
        request.communicator = communicator.get();
        request.reactor = reactor->get();
        request.accelerator_count = ranks;
        request.run_seed = seed;
        request.signal = signal;
        request.time_origin_unix_ns = time_origin_unix_ns;
        if (memory)
            request.wrap_storage =
                [&](std::unique_ptr<storage::Backend>) -> Expected<std::unique_ptr<storage::Backend>> {
                return std::unique_ptr<storage::Backend>(std::make_unique<Faulty>(*memory, faults ? *faults : none));
            };
        auto result = workloads::run_checkpoint(request);
        CHECK((*reactor)->in_flight() == 0);
        return result;
    }
    RunResult must_run(MemoryBackend* memory = nullptr) const {
        auto result = run(memory);
        if (!result) FAIL(result.error().describe());
        if (!result->errors.empty()) FAIL(result->errors[0].describe());
        CHECK(result->status == "complete");
        return std::move(*result);
    }
};

dataset::CheckpointIndex index_in(MemoryBackend& memory) {
    auto index = dataset::read_checkpoint_index(memory);
    if (!index) FAIL(index.error().describe());
    return *index;
}

} // namespace

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
