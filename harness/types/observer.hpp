// What passes from measuring to reporting while a run is under way: one-second slices and phase changes.
//
// Thread: rank 0's reactor thread; must return at once and never block. Owner: the cli. Units: in the names. Errors:
// none. Each method may be left out.
#pragma once

#include <string_view>

#include "harness/types/run_result.hpp"

namespace feedbench {

struct Progress {
    std::string_view phase; // "datagen", "epoch", "evaluation", "checkpoint", "verify", ...
    std::uint32_t epoch_index = 0, epoch_count = 0;
    std::uint64_t done = 0, total = 0; // steps, or bytes where `unit` says so
    std::string_view unit = "steps";
    double elapsed_s = 0, eta_s = -1; // eta < 0: unknown
    double au_so_far_percentage = -1; // < 0: none yet
    double MB_per_second_now = 0;
    std::uint32_t stalled_accelerators = 0;
};

class RunObserver {
  public:
    virtual ~RunObserver() = default;
    virtual void on_progress(const Progress&) {}
    virtual void on_slice(const Slice&) {}
    virtual void on_epoch(const EpochResult&) {}
    virtual void on_message(std::string_view) {} // one line for people
};

} // namespace feedbench
