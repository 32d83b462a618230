// Whole checkpoint runs in virtual time, on a model or on memory that outlives the run and may fail.
//
// Thread: the test's. Owner: the test. Units: seconds where a workload has them. Errors: as run_checkpoint answers.
// Source: DESIGN section 4 (virtual clock), STYLE section 3.
#pragma once

#include "tests/support/memory_backend.hpp"
#include "tests/support/virtual_run.hpp"
#include "workloads/checkpoint.hpp"
#include "workloads/checkpoint_setup.hpp"

namespace feedbench::test {

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
        plan_.flush_count += op.kind == engine::IoKind::flush;
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

inline dataset::CheckpointIndex index_in(MemoryBackend& memory) {
    auto index = dataset::read_checkpoint_index(memory);
    if (!index) FAIL(index.error().describe());
    return *index;
}

} // namespace feedbench::test
