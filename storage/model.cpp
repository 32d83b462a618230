#include "storage/model.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>

#include "harness/engine/frame_pool.hpp"
#include "harness/engine/reactor.hpp"
#include "storage/model_queueing.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

// As many as there are readers, made and freed with every sample.
struct ModelFile final : engine::File {
    static void* operator new(std::size_t bytes) { return engine::FramePool::take(bytes); }
    static void operator delete(void* file, std::size_t bytes) noexcept { engine::FramePool::give_back(file, bytes); }
    bool cached = false;
};

class ModelBackend final : public Backend {
  public:
    ModelBackend(const ModelParameters& parameters, const BackendRequest& request)
        : queueing_(parameters, request.seed), has_client_cost_(parameters.client_cost_ns > 0),
          reactor_(*request.reactor), is_virtual_(reactor_.clock().is_virtual()), uri_(request.uri) {
        capabilities_.name = "model";
        capabilities_.has_content = false;
        capabilities_.virtual_time = true;
        for (Lane& lane : lanes_) {
            lane.backend = this;
            lane.fire = [](engine::Timer& timer) { fire_lane(static_cast<Lane&>(timer)); };
        }
    }

    const Capabilities& capabilities() const override { return capabilities_; }
    std::string display_path(const std::string& path) const override { return uri_ + "/" + path; }
    Expected<FilesystemFacts> facts(const std::string&) override {
        FilesystemFacts facts;
        facts.type = "model";
        facts.free_bytes = facts.total_bytes = ~std::uint64_t{0} >> 1;
        return facts;
    }
    Status make_directories(const std::string&) override { return {}; }

    Submit submit(IoOp& op) override {
        ModelQueueing::Demand demand;
        demand.client = op.client;
        switch (op.kind) {
        case IoKind::open:
        case IoKind::create: {
            auto file = std::make_unique<ModelFile>();
            file->size_bytes = op.kind == IoKind::open ? op.size_hint : 0;
            file->cached = demand.cached = op.kind == IoKind::open && queueing_.is_cached(op.path);
            op.opened = std::move(file);
            op.result = 0;
            demand.opens = true;
            break;
        }
        case IoKind::read:
            demand.bytes = op.offset >= op.file->size_bytes ? 0 : std::min(op.bytes, op.file->size_bytes - op.offset);
            demand.cached = static_cast<const ModelFile*>(op.file)->cached;
            op.result = static_cast<std::int64_t>(demand.bytes);
            break;
        case IoKind::write:
            demand.bytes = op.bytes;
            op.file->size_bytes = std::max(op.file->size_bytes, op.offset + op.bytes);
            op.result = static_cast<std::int64_t>(demand.bytes);
            break;
        case IoKind::commit: // more than was written cannot become visible
            op.result = op.size_hint > op.file->size_bytes ? -EINVAL : 0;
            return Submit::done;
        case IoKind::flush:
        case IoKind::close:
            op.result = 0;
            return Submit::done;
        }
        return begin(op, demand);
    }

  private:
    // An operation under way. It waits in a lane behind others that end earlier, or with a timer of its own.
    struct Pending : engine::Timer {
        ModelBackend* backend = nullptr;
        IoOp* op = nullptr;
        Pending* next = nullptr;
        ModelQueueing::Demand demand; // of one that still has to reach the storage
        bool at_client = false;
    };
    // Operations that end one after another need one timer for all of them, and no heap: most do.
    struct Lane : engine::Timer {
        ModelBackend* backend = nullptr;
        Pending *first = nullptr, *last = nullptr;
        bool firing = false;
    };

    Submit begin(IoOp& op, const ModelQueueing::Demand& demand) {
        const std::uint64_t now = reactor_.now_ns(), asked = asked_ns(now);
        const std::uint64_t leaves = queueing_.leaves_client_ns(asked, demand.client);
        const bool at_client = has_client_cost_ && leaves > now;
        const std::uint64_t due = at_client ? leaves : queueing_.answered_ns(asked, demand);
        if (due <= now) return Submit::done;
        Pending* pending = take();
        pending->op = &op;
        pending->demand = demand;
        pending->at_client = at_client;
        op.backend_state = pending;
        wait(*pending, now, due);
        return Submit::pending;
    }

    // In real time an answer comes a little late, and what the client does next is late by as much: it counts as asked
    // when it would have been, or a storage of known capacity would not have it.
    std::uint64_t asked_ns(std::uint64_t now) const {
        constexpr std::uint64_t kPromptNs = 200'000, kLateNsMost = 300'000;
        if (is_virtual_ || now - fired_ns_ > kPromptNs) return now;
        return now - std::min({late_ns_, kLateNsMost, now});
    }
    void note_lateness(std::uint64_t due_ns) {
        if (is_virtual_) return;
        fired_ns_ = reactor_.now_ns();
        late_ns_ = fired_ns_ - std::min(due_ns, fired_ns_);
    }

    void wait(Pending& pending, std::uint64_t now, std::uint64_t due) {
        pending.deadline_ns = due;
        pending.late_allowed_ns = (due - std::min(now, due)) / 100;
        pending.next = nullptr;
        for (Lane& lane : lanes_) {
            if (lane.last != nullptr && lane.last->deadline_ns > due) continue;
            if (lane.last != nullptr)
                lane.last->next = &pending;
            else
                lane.first = &pending;
            lane.last = &pending;
            if (lane.first == &pending && !lane.firing) arm(lane);
            return;
        }
        reactor_.set_timer(pending);
    }

    void arm(Lane& lane) {
        lane.deadline_ns = lane.first->deadline_ns;
        lane.late_allowed_ns = lane.first->late_allowed_ns;
        reactor_.set_timer(lane);
    }

    static void fire_lane(Lane& lane) {
        const std::uint64_t now = lane.backend->reactor_.now_ns();
        lane.firing = true;
        while (lane.first != nullptr && lane.first->deadline_ns <= now) {
            Pending& pending = *lane.first;
            lane.first = pending.next;
            if (lane.first == nullptr) lane.last = nullptr;
            lane.backend->fire_pending(pending);
        }
        lane.firing = false;
        if (lane.first != nullptr) lane.backend->arm(lane);
    }

    void fire_pending(Pending& pending) {
        IoOp* op = pending.op;
        const std::uint64_t due = pending.deadline_ns;
        if (pending.at_client) { // now it reaches the storage
            pending.at_client = false;
            op->submit_ns = due;
            wait(pending, reactor_.now_ns(), queueing_.answered_ns(due, pending.demand));
            return;
        }
        note_lateness(due);
        pending.next = unused_;
        unused_ = &pending;
        op->sink->completed(*op);
        op->complete_ns = std::max(op->submit_ns, due); // when the answer was there, however late the loop is
    }

    Pending* take() {
        if (unused_) {
            Pending* taken = unused_;
            unused_ = taken->next;
            return taken;
        }
        all_.push_back(std::make_unique<Pending>());
        Pending& made = *all_.back();
        made.backend = this;
        made.fire = [](engine::Timer& timer) {
            auto& self = static_cast<Pending&>(timer);
            self.backend->fire_pending(self);
        };
        return &made;
    }

    ModelQueueing queueing_;
    bool has_client_cost_;
    engine::Reactor& reactor_;
    bool is_virtual_;
    std::string uri_;
    Capabilities capabilities_;
    std::array<Lane, 4> lanes_;
    std::uint64_t fired_ns_ = 0, late_ns_ = 0;
    std::vector<std::unique_ptr<Pending>> all_; // as many as were ever in flight at once
    Pending* unused_ = nullptr;
};

} // namespace

Expected<std::unique_ptr<Backend>> make_model_backend(const BackendRequest& request) {
    auto parameters = parse_model_parameters(request.options, request.uri);
    if (!parameters) return parameters.error();
    return std::unique_ptr<Backend>(std::make_unique<ModelBackend>(*parameters, request));
}

} // namespace feedbench::storage
