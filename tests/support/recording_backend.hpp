// Wraps any backend that answers at once, and writes down every operation: kind, path, offset, bytes, when, and how
// many were under way. Each operation may be given a virtual delay or an error.
//
// Thread: reactor thread. Owner: the test; it outlives every file opened through it. Units: bytes, ns of the reactor's
// clock. Errors: those of the backend behind it, and those that `error` asks for. Source: issue 2, "Shown by".
#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "storage/backend.hpp"

namespace feedbench::test {

struct Operation {
    engine::IoKind kind = engine::IoKind::read;
    std::string path;
    std::uint64_t offset = 0, bytes = 0;
    std::uint64_t submit_ns = 0;
    std::uint32_t in_flight = 0; // with this one
};

class RecordingBackend final : public storage::Backend {
  public:
    RecordingBackend(engine::Reactor& reactor, storage::Backend& inner) : reactor_(reactor), inner_(inner) {}

    std::vector<Operation> operations; // in the order in which they were submitted
    bool keeps_operations = true;      // false: only the counts below, for long runs
    std::uint64_t read_count = 0, open_count = 0, close_count = 0, bytes_read = 0;
    std::uint32_t in_flight = 0, most_in_flight = 0; // of any kind
    std::uint32_t reads_in_flight = 0, most_reads_in_flight = 0;
    // How long an operation takes; 0 = it is done at once.
    std::function<std::uint64_t(const Operation&)> delay_ns = [](const Operation&) { return std::uint64_t{0}; };
    // errno with which an operation fails; 0 = it does not.
    std::function<int(const Operation&)> error = [](const Operation&) { return 0; };

    std::vector<Operation> of_kind(engine::IoKind kind) const {
        std::vector<Operation> found;
        std::copy_if(operations.begin(), operations.end(), std::back_inserter(found),
                     [kind](const Operation& one) { return one.kind == kind; });
        return found;
    }
    std::vector<Operation> reads() const { return of_kind(engine::IoKind::read); }
    std::vector<Operation> reads_of(const std::string& path) const {
        std::vector<Operation> found = reads();
        std::erase_if(found, [&](const Operation& one) { return one.path != path; });
        return found;
    }

    const storage::Capabilities& capabilities() const override { return inner_.capabilities(); }
    std::string display_path(const std::string& path) const override { return inner_.display_path(path); }

    engine::Submit submit(engine::IoOp& op) override {
        Operation record{op.kind, std::string(op.path), op.offset, op.bytes, reactor_.now_ns(), ++in_flight};
        if (op.kind == engine::IoKind::close) record.path = path_of_[op.file];
        most_in_flight = std::max(most_in_flight, in_flight);
        reads_in_flight += op.kind == engine::IoKind::read;
        most_reads_in_flight = std::max(most_reads_in_flight, reads_in_flight);
        read_count += op.kind == engine::IoKind::read;
        open_count += op.kind == engine::IoKind::open;
        close_count += op.kind == engine::IoKind::close;
        if (keeps_operations) operations.push_back(record);
        if (const int failure = error(record); failure != 0) {
            op.result = -failure;
        } else {
            [[maybe_unused]] const engine::Submit answer = inner_.submit(op);
            assert(answer == engine::Submit::done);
            if (op.opened) path_of_[op.opened.get()] = record.path;
            if (op.kind == engine::IoKind::read && op.result > 0) bytes_read += static_cast<std::uint64_t>(op.result);
        }
        if (op.kind == engine::IoKind::close) path_of_.erase(op.file);
        const std::uint64_t delay = delay_ns(record);
        if (delay == 0) {
            ended(op);
            return engine::Submit::done;
        }
        return wait(op, delay);
    }

  private:
    struct Pending : engine::Timer {
        RecordingBackend* backend = nullptr;
        engine::IoOp* op = nullptr;
    };

    void ended(const engine::IoOp& op) {
        --in_flight;
        reads_in_flight -= op.kind == engine::IoKind::read;
    }
    engine::Submit wait(engine::IoOp& op, std::uint64_t delay) {
        if (unused_.empty()) {
            all_.push_back(std::make_unique<Pending>());
            all_.back()->backend = this;
            all_.back()->fire = [](engine::Timer& timer) {
                auto& self = static_cast<Pending&>(timer);
                engine::IoOp* done = self.op;
                self.backend->unused_.push_back(&self);
                self.backend->ended(*done);
                done->sink->completed(*done);
            };
            unused_.push_back(all_.back().get());
        }
        Pending* pending = unused_.back();
        unused_.pop_back();
        pending->op = &op;
        pending->deadline_ns = reactor_.now_ns() + delay;
        reactor_.set_timer(*pending);
        return engine::Submit::pending;
    }

    engine::Reactor& reactor_;
    storage::Backend& inner_;
    std::map<const engine::File*, std::string> path_of_; // of open files
    std::vector<std::unique_ptr<Pending>> all_;
    std::vector<Pending*> unused_;
};

// "offset+bytes", for sequences that a test pins.
inline std::vector<std::string> extents_of(const std::vector<Operation>& operations) {
    std::vector<std::string> text;
    for (const Operation& one : operations)
        text.push_back(std::to_string(one.offset) + "+" + std::to_string(one.bytes));
    return text;
}

} // namespace feedbench::test
