// Reads from memory filesystems (tmpfs), done with pread in the reactor's turns. Internal to storage/posix*.cpp.
//
// tmpfs refuses to read without waiting (no FMODE_NOWAIT, seen up to Linux 6.18), so that the ring hands every read to
// a worker thread: 20 to 40 % more CPU for what is only a memory copy. They are not done inside submit either: a file
// that is read to its end without a turn of the loop would keep timers and all other accelerators waiting.
//
// Thread: reactor thread. Owner: the backend. Units: bytes. Errors: those of the operations.
#pragma once

#include "harness/engine/reactor.hpp"
#include "storage/posix_base.hpp"

namespace feedbench::storage {

class PosixMemoryReads final : public engine::EventSource {
  public:
    PosixMemoryReads(PosixBackend& backend, engine::Reactor& reactor) : backend_(backend), reactor_(reactor) {
        reactor_.add_source(*this);
    }
    ~PosixMemoryReads() override { reactor_.remove_source(*this); }
    PosixMemoryReads(const PosixMemoryReads&) = delete;
    PosixMemoryReads& operator=(const PosixMemoryReads&) = delete;

    engine::Submit submit(engine::IoOp& op) {
        op.next = nullptr;
        if (last_)
            last_->next = &op;
        else
            first_ = &op;
        last_ = &op;
        return engine::Submit::pending;
    }
    bool poll() override {
        if (!first_) return false;
        std::uint64_t copied = 0;
        // Those that stand in the queue now: what a completion adds has its turn next time.
        for (engine::IoOp* end = last_; first_ && copied < kBytesPerTurn;) {
            engine::IoOp& op = *first_;
            first_ = op.next;
            if (!first_) last_ = nullptr;
            backend_.perform_blocking(op);
            copied += op.bytes;
            op.sink->completed(op);
            if (&op == end) break;
        }
        return true;
    }
    bool is_active() const override { return first_ != nullptr; }
    std::uint64_t max_sleep_ns() const override { return 0; }

  private:
    static constexpr std::uint64_t kBytesPerTurn = 128 * 1024; // about 20 us: less than a sleep's own error
    PosixBackend& backend_;
    engine::Reactor& reactor_;
    engine::IoOp* first_ = nullptr;
    engine::IoOp* last_ = nullptr;
};

} // namespace feedbench::storage
