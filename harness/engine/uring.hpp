// The io_uring of a rank: queues IoOps as SQEs, reaps CQEs, and is where the loop sleeps.
//
// Thread: the thread that made it, which must be the reactor thread (the ring has a single issuer); wake(): any thread.
// Owner: Reactor. Units: bytes, ns. Errors: make() says why the kernel refuses (no silent fallback).
// Source: liburing; this is the only file pair that includes <liburing.h> (uring.cpp). Works from kernel 5.15 on.
#pragma once

#include <memory>
#include <span>

#include "harness/engine/event_source.hpp"
#include "harness/engine/io_op.hpp"
#include "harness/types/error.hpp"

namespace feedbench::engine {

// What happens with a CQE. Without a handler its result becomes op.result and op.sink->completed(op) is called. A
// backend that needs the raw result of a sub-operation (a short read to continue, an open to be followed by fstat)
// gives a handler, called in poll() instead; it may queue the next sub-operation for the same op: the slot of the
// finished one is free by then.
struct UringThen {
    void (*handler)(void* backend, IoOp& op, std::int64_t result) = nullptr;
    void* backend = nullptr;
};

class Uring : public EventSource {
  public:
    // entries: SQ size (a power of two); CQ is 4 times that. Operations past the CQ's size are answered busy.
    static Expected<std::unique_ptr<Uring>> make(unsigned entries, const Clock& clock);

    // Each queues one SQE for `op` and answers pending, or busy when the ring is full. A short read or write is left to
    // the caller. SQEs are submitted in poll(), wait(), or when the SQ is full. Nothing is allocated. read, write:
    // op.data, op.bytes and op.offset without their first `skip_bytes`; a fixed buffer if op.buffer_index >= 0.
    virtual Submit read(IoOp& op, int fd, std::uint64_t skip_bytes = 0, UringThen then = {}) = 0;
    virtual Submit write(IoOp& op, int fd, std::uint64_t skip_bytes = 0, UringThen then = {}) = 0;
    // result = fd; `path` lives until completion.
    virtual Submit open(IoOp& op, int directory_fd, const char* path, int flags, unsigned mode,
                        UringThen then = {}) = 0;
    virtual Submit close(IoOp& op, int fd, UringThen then = {}) = 0;
    virtual Submit fsync(IoOp& op, int fd, UringThen then = {}) = 0;

    // Registers the pool's buffers, in place of those registered before (none = only forget those). Not while an
    // operation on registered buffers is in flight. Not allowed (memlock) = an Error, and the pool then works
    // unregistered: the caller leaves op.buffer_index at -1.
    virtual Status register_buffers(std::span<const std::span<std::byte>> buffers) = 0;
    virtual bool has_registered_buffers() const = 0;
    // Sleeps until a completion, a wake(), a signal or the deadline; submits first. kNever = no deadline.
    virtual void wait(std::uint64_t deadline_ns) = 0;
    // Ends a wait() in progress or the next one; any thread, async-signal-safe.
    virtual void wake() = 0;
    // From now on wait() also ends when `fd` (an epoll or event descriptor, open as long as the ring is used) is
    // readable.
    virtual void wake_when_readable(int fd) = 0;
    virtual std::uint32_t in_flight() const = 0;
    // The set-up flags that this kernel accepted, for the log: "defer_taskrun", "coop_taskrun", "plain".
    virtual const char* mode() const = 0;
};

} // namespace feedbench::engine
