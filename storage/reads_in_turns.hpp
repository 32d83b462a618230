// Reads that cost the CPU (copies), done in the reactor's turns, a bounded number of bytes in each.
//
// Not inside submit: a file that is read to its end without a turn of the loop would keep timers and all other
// accelerators waiting.
//
// Thread: reactor thread. Owner: the backend. Units: bytes. Errors: those of the operations.
#pragma once

#include "harness/engine/reactor.hpp"

namespace feedbench::storage {

// Performer: void perform_blocking(engine::IoOp&), which sets op.result.
template <class Performer>
class ReadsInTurns final : public engine::EventSource {
  public:
    ReadsInTurns(Performer& performer, engine::Reactor& reactor) : performer_(performer), reactor_(reactor) {
        reactor_.add_source(*this);
    }
    ~ReadsInTurns() override { reactor_.remove_source(*this); }
    ReadsInTurns(const ReadsInTurns&) = delete;
    ReadsInTurns& operator=(const ReadsInTurns&) = delete;

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
            performer_.perform_blocking(op);
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
    Performer& performer_;
    engine::Reactor& reactor_;
    engine::IoOp* first_ = nullptr;
    engine::IoOp* last_ = nullptr;
};

} // namespace feedbench::storage
