// Where events come from besides timers: the ring, the thread pool, MPI.
//
// Thread: reactor thread. Owner: its maker; registered with and removed from the reactor. Units: ns. Errors: none.
#pragma once

#include <cstdint>

#include "harness/engine/clock.hpp"

namespace feedbench::engine {

class EventSource {
  public:
    virtual ~EventSource() = default;
    // Hands on what has happened (completed ops, finished jobs); true if anything was. Must not block. Also submits
    // what is queued.
    virtual bool poll() = 0;
    // Something is outstanding, so the loop may wait for it (else "no event can ever come" is a deadlock).
    virtual bool is_active() const = 0;
    // The longest the loop may sleep without calling poll() again, while active; kNever = this source wakes the loop by
    // itself.
    virtual std::uint64_t max_sleep_ns() const { return kNever; }
    // A virtual-time source says when its next event is due; others kNever.
    virtual std::uint64_t next_event_ns() const { return kNever; }
};

} // namespace feedbench::engine
