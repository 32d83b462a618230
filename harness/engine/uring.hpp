// The io_uring of a rank: queues IoOps as SQEs, reaps CQEs, and is where the loop sleeps.
//
// Thread: reactor thread (wake(): any thread). Owner: Reactor. Units: bytes, ns. Errors: make() says why the kernel refuses
// (no silent fallback). Source: liburing; this is the only file pair that includes <liburing.h> (uring.cpp).
#pragma once

#include <memory>
#include <span>

#include "harness/engine/event_source.hpp"
#include "harness/engine/io_op.hpp"
#include "harness/types/error.hpp"

namespace feedbench::engine {

class Uring : public EventSource {
  public:
    // entries: SQ size (a power of two); CQ is 4 times that. Operations past the CQ's size are answered busy.
    static Expected<std::unique_ptr<Uring>> make(unsigned entries, const Clock& clock);

    // Each queues one SQE for `op` and answers pending, or busy when the ring is full. The result of the CQE becomes op.result
    // (a short read or write is left to the backend). SQEs are submitted in poll(), wait(), or when the SQ is full.
    virtual Submit read(IoOp& op, int fd) = 0;                     // op.data/bytes/offset; fixed buffer if op.buffer_index >= 0
    virtual Submit write(IoOp& op, int fd) = 0;
    virtual Submit open(IoOp& op, int directory_fd, const char* path, int flags, unsigned mode) = 0; // result = fd
    virtual Submit close(IoOp& op, int fd) = 0;
    virtual Submit fsync(IoOp& op, int fd) = 0;
    // A backend that wants the raw result of its own sub-operation gives a handler; called in poll() instead of op.sink->completed.
    using Handler = void (*)(void* backend, IoOp& op);
    virtual void set_handler(IoOp& op, Handler handler, void* backend) = 0; // for the next SQE queued for op; see uring.cpp

    // Registers the pool's buffers; not allowed (memlock) = an Error, and the pool then works unregistered.
    virtual Status register_buffers(std::span<const std::span<std::byte>> buffers) = 0;
    // Sleeps until a completion, a wake() or the deadline; submits first. kNever = no deadline.
    virtual void wait(std::uint64_t deadline_ns) = 0;
    // Ends a wait() in progress or the next one; any thread, async-signal-safe.
    virtual void wake() = 0;
    virtual std::uint32_t in_flight() const = 0;
};

} // namespace feedbench::engine
