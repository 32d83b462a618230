// An emulated accelerator: asks for a batch, waits, thinks, meets the others at the step barrier, and writes down when.
//
// Thread: reactor thread. Owner: the workload. Units: ns. Errors: a failed batch stops the run: the error is kept in
// the shared FirstError, and every accelerator of every rank leaves the block with the agreed stop. Source: DESIGN
// sections 1, 4 and 8 (times of a step).
#pragma once

#include <memory>

#include "harness/accelerator/overlap.hpp"
#include "harness/accelerator/step_log.hpp"
#include "harness/cluster/step_barrier.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/loader/loader.hpp"
#include "harness/types/random.hpp"

namespace feedbench::accelerator {

// What a step's meeting may agree on; the largest wins.
enum StopReason : std::uint64_t {
    kGoOn = 0,
    kBusy = 1,     // no stop: some rank is at work beside the steps (overlap.hpp)
    kSettled = 2,  // no stop: what comes after this step is measured
    kEnded = 3,    // all has been done
    kTimeIsUp = 4, // after a step that was finished
    kCutShort = 5, // the time was up long ago, and a step was still under way
    kInterrupted = 6,
    kFailed = 7
};
constexpr std::uint64_t kFirstStop = kEnded; // for StepBarrier

// Moments of this rank's clock at which steps change their meaning.
struct TimeLimit {
    std::uint64_t settled_ns = 0;         // the first step that ends after it is the last that is not measured
    std::uint64_t up_ns = engine::kNever; // the first step that ends after it is the last
    std::uint64_t least_step_count = 0;   // but so many are measured before
};

// What the accelerators of a rank share.
struct Shared {
    engine::Reactor* reactor = nullptr;
    cluster::StepBarrier* barrier = nullptr;
    StepLog* log = nullptr;
    loader::LoaderCounters* counters = nullptr;
    std::uint64_t seed = 0;
    bool stopping = false;            // set with the first wish to stop: thinking ends early
    std::optional<Error> first_error; // of this rank
    TimeLimit limit;
    Overlap* overlap = nullptr; // nothing is ever done beside the steps of this run
};

struct Block {
    std::uint16_t epoch_index = 0, block_index = 0; // block_index as in StepRecord
    std::uint64_t first_step = 0, step_count = 0;   // first_step: of this block within the epoch
    const TimeDistribution* think = nullptr;
    bool measured = true;                  // its steps are logged; else it ends with kSettled
    std::uint64_t measured_step_count = 0; // of the run, before this block
    std::uint64_t steps_before = 0;        // of this block: it goes on where another part of it ended
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
    // Steps of the last block that were finished, logged or not; the same for every accelerator of every rank.
    std::uint64_t steps_finished() const { return steps_finished_; }
    Consumed take_consumed() { return std::exchange(consumed_, {}); }

  private:
    void count(const StepRecord& record, bool beside); // a step that was measured; beside: as in Overlap
    engine::Task<bool> fetch(StepRecord& record);      // false: no batch, the run stops
    std::uint64_t word_after(const StepRecord& record, const Block& block) const; // for the step's meeting

    Shared& shared_;
    std::uint32_t global_index_, local_index_;
    std::unique_ptr<loader::Loader> loader_;
    Random random_;
    Consumed consumed_;
    std::uint64_t steps_finished_ = 0;
};

} // namespace feedbench::accelerator
