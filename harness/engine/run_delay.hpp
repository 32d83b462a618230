// How long the calling thread was ready to run and had no CPU: a wake-up that came late for want of one.
//
// Thread: any; each has its own account. Owner: none. Units: ns. Errors: 0 where the kernel does not say.
// Source: /proc/thread-self/schedstat, second number (Documentation/scheduler/sched-stats.rst).
#pragma once

#include <cstdint>

namespace feedbench::engine {

// Of a sleep that has just ended, the part that was no sleep any more: growth of the account since the last look at
// it, at most `slept_ns`. Sleeps below a millisecond are not looked at: a look costs 2 us.
std::uint64_t cpu_wait_ns(std::uint64_t slept_ns);

} // namespace feedbench::engine
