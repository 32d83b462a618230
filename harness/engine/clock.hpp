// The clock is passed in, so that the same loop runs in real and in virtual time.
//
// Thread: reactor thread (now_ns of the real clock: any). Owner: the cli or a test. Units: ns since the clock's own
// start. Errors: none. Source: DESIGN section 4. Only engine/clock_*.cpp may name an operating-system clock or sleep.
#pragma once

#include <cstdint>
#include <memory>

namespace feedbench::engine {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

class Clock {
  public:
    virtual ~Clock() = default;
    virtual std::uint64_t now_ns() const = 0;
    virtual bool is_virtual() const = 0;
    // How long before a deadline a coarse sleep should end so that a spin can meet it; measured once at start. Virtual:
    // 0.
    virtual std::uint64_t spin_window_ns() const = 0;
    // Sleeps (real) or jumps (virtual) until the time given; a real clock may return early or late by the wake-up
    // error.
    virtual void wait_until(std::uint64_t time_ns) = 0;
};

std::unique_ptr<Clock> make_real_clock();
std::unique_ptr<Clock> make_virtual_clock();

// A short real sleep outside the loop (start-up, waiting for other ranks); and giving the processor away once.
void nap_ns(std::uint64_t duration_ns);
void yield_processor();
// A monotonic real time for bounding such waits; not the run's clock.
std::uint64_t monotonic_ns();
// Calendar time, for what servers are told (signatures); seconds since 1970.
std::int64_t unix_time_s();
std::int64_t unix_time_ns(); // the same in ns, for files' times

// CPU time of the calling thread and of this process (user + system), ns. Real machines only.
std::uint64_t thread_cpu_ns();
std::uint64_t process_cpu_ns();

} // namespace feedbench::engine
