// An emulated accelerator: asks for a batch, waits, thinks, meets the others at the step barrier, and writes down when.
//
// Thread: reactor thread. Owner: the workload. Units: ns. Errors: a failed batch stops the run: the error is kept in
// the shared FirstError, and every accelerator of every rank leaves the block with the agreed stop. Source: DESIGN
// sections 1, 4 and 8 (times of a step).
#pragma once

#include <memory>

#include "harness/accelerator/step_log.hpp"
#include "harness/cluster/step_barrier.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/loader/loader.hpp"
#include "harness/types/random.hpp"

namespace feedbench::accelerator {

// Reasons that a stop is agreed for; the largest wins.
enum StopReason : std::uint64_t { kGoOn = 0, kTimeIsUp = 1, kInterrupted = 2, kFailed = 3 };

// What the accelerators of a rank share.
struct Shared {
    engine::Reactor* reactor = nullptr;
    cluster::StepBarrier* barrier = nullptr;
    StepLog* log = nullptr;
    loader::LoaderCounters* counters = nullptr;
    std::uint64_t seed = 0;
    bool stopping = false;            // set with the first wish to stop: thinking ends early
    std::optional<Error> first_error; // of this rank
};

struct Block {
    std::uint16_t epoch_index = 0, block_index = 0; // block_index as in StepRecord
    std::uint64_t first_step = 0, step_count = 0;   // first_step: of this block within the epoch
    const TimeDistribution* think = nullptr;
};

// What an accelerator took in over an epoch, to be compared with the plan.
struct Consumed {
    std::uint64_t sample_count = 0, id_checksum = 0;
};

class Accelerator {
  public:
    Accelerator(Shared& shared, std::uint32_t global_index, std::uint32_t local_index,
                std::unique_ptr<loader::Loader> loader);

    loader::Loader& loader() { return *loader_; }
    std::uint32_t global_index() const { return global_index_; }
    // Runs the steps of one block; ends early with the agreed stop in shared.barrier->agreed_stop().
    engine::Task<void> run(Block block);
    Consumed take_consumed() { return std::exchange(consumed_, {}); }

  private:
    engine::Task<bool> fetch(StepRecord& record); // false: no batch, the run stops
    engine::Task<void> think(StepRecord& record, std::uint64_t think_ns);

    Shared& shared_;
    std::uint32_t global_index_, local_index_;
    std::unique_ptr<loader::Loader> loader_;
    Random random_;
    Consumed consumed_;
};

} // namespace feedbench::accelerator
