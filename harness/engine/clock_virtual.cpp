#include "harness/engine/clock.hpp"

#include <algorithm>

namespace feedbench::engine {

namespace {

// Time stands still while code runs and jumps to the next event: computing costs nothing, so a run is a discrete-event
// simulation.
class VirtualClock final : public Clock {
  public:
    std::uint64_t now_ns() const override { return now_; }
    bool is_virtual() const override { return true; }
    std::uint64_t spin_window_ns() const override { return 0; }
    void wait_until(std::uint64_t time_ns) override { now_ = std::max(now_, time_ns); }

  private:
    std::uint64_t now_ = 0;
};

} // namespace

std::unique_ptr<Clock> make_virtual_clock() { return std::make_unique<VirtualClock>(); }

} // namespace feedbench::engine
