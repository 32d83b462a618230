// An I/O target whose answers the test decides: at once, after a virtual delay, busy, or never.
#pragma once

#include <functional>
#include <vector>

#include "harness/engine/reactor.hpp"

namespace feedbench::test {

class ScriptedTarget final : public engine::IoTarget {
  public:
    explicit ScriptedTarget(engine::Reactor& reactor) : reactor_(reactor) {}
    // 0 = done at once; kNever = never completes; else completes after that many ns.
    std::function<std::uint64_t(const engine::IoOp&)> delay_ns = [](const engine::IoOp&) { return std::uint64_t{0}; };
    std::uint32_t limit = ~0u; // more than this many in flight: busy
    std::uint32_t in_flight = 0, most_in_flight = 0, busy_answers = 0;
    std::uint64_t submitted = 0;

    engine::Submit submit(engine::IoOp& op) override {
        if (in_flight >= limit) {
            ++busy_answers;
            return engine::Submit::busy;
        }
        ++submitted;
        op.result = static_cast<std::int64_t>(op.bytes);
        const std::uint64_t delay = delay_ns(op);
        if (delay == 0) return engine::Submit::done;
        ++in_flight;
        most_in_flight = std::max(most_in_flight, in_flight);
        if (delay == engine::kNever) {
            never_.push_back(&op);
            return engine::Submit::pending;
        }
        auto* pending = new Pending;
        pending->target = this;
        pending->op = &op;
        pending->deadline_ns = reactor_.now_ns() + delay;
        pending->fire = [](engine::Timer& timer) {
            auto* self = static_cast<Pending*>(&timer);
            --self->target->in_flight;
            self->op->sink->completed(*self->op);
            delete self;
        };
        reactor_.set_timer(*pending);
        return engine::Submit::pending;
    }

  private:
    struct Pending : engine::Timer {
        ScriptedTarget* target;
        engine::IoOp* op;
    };
    engine::Reactor& reactor_;
    std::vector<engine::IoOp*> never_;
};

} // namespace feedbench::test
