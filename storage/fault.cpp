// fault: any other backend, with errors on schedule. "fault:error=EIO@7,on=read;inner=/data" fails the 7th read.
//
// A schedule says which operations are meant, counted from 1 in the order in which they are submitted:
//   7    the 7th        7+   the 7th and all later ones        5%   each with this probability, drawn from the seed
// Each kind of fault draws from a stream of its own, so that adding one does not move the others.
// Each operation of the caller is carried by one of ours to the inner backend, whose completion comes here; delays are
// timers of the reactor, so that they work under the virtual clock too.
#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "storage/fault_plan.hpp"
#include "storage/registry.hpp"

namespace feedbench::storage {

namespace {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

class FaultBackend final : public Backend, engine::EventSource {
  public:
    FaultBackend(FaultPlan plan, std::unique_ptr<Backend> inner, engine::Reactor& reactor, std::uint64_t seed)
        : plan_(plan), inner_(std::move(inner)), reactor_(reactor),
          errors_(stream_seed(plan.seed ? plan.seed : seed, "fault error")),
          delays_(stream_seed(plan.seed ? plan.seed : seed, "fault delay")),
          cuts_(stream_seed(plan.seed ? plan.seed : seed, "fault short")),
          stalls_(stream_seed(plan.seed ? plan.seed : seed, "fault stall")), capabilities_(inner_->capabilities()) {
        capabilities_.name = "fault:" + capabilities_.name;
        capabilities_.async = true;
        capabilities_.note = "faults are injected" + (capabilities_.note.empty() ? "" : "; " + capabilities_.note);
        reactor_.add_source(*this);
    }
    ~FaultBackend() override { reactor_.remove_source(*this); }
    FaultBackend(const FaultBackend&) = delete;
    FaultBackend& operator=(const FaultBackend&) = delete;

    const Capabilities& capabilities() const override { return capabilities_; }
    Submit submit(IoOp& op) override;
    void cancel_pending() override;

    Expected<FileStat> stat(const std::string& path) override {
        if (auto failed = name_fault("stat", path)) return *failed;
        return inner_->stat(path);
    }
    Status list(const std::string& path, const std::function<bool(std::string_view, bool)>& each) override {
        if (auto failed = name_fault("list", path)) return *failed;
        return inner_->list(path, each);
    }
    Status make_directories(const std::string& path) override {
        if (auto failed = name_fault("mkdir", path)) return *failed;
        return inner_->make_directories(path);
    }
    Status remove(const std::string& path) override {
        if (auto failed = name_fault("remove", path)) return *failed;
        return inner_->remove(path);
    }
    Status remove_leftovers(const std::string& path) override { return inner_->remove_leftovers(path); }
    Status settle() override { return inner_->settle(); }
    Status write_file(const std::string& path, std::span<const std::byte> content) override {
        if (auto failed = name_fault("write", path)) return *failed;
        return inner_->write_file(path, content);
    }
    Expected<std::string> read_file(const std::string& path, std::uint64_t limit) override {
        if (auto failed = name_fault("read", path)) return *failed;
        return inner_->read_file(path, limit);
    }
    Expected<FilesystemFacts> facts(const std::string& path) override { return inner_->facts(path); }
    std::vector<EndpointCounters> statistics() const override { return inner_->statistics(); }
    CacheDrop cache_drop() const override { return inner_->cache_drop(); }
    std::string local_path(const std::string& path) const override { return inner_->local_path(path); }
    std::string display_path(const std::string& path) const override { return inner_->display_path(path); }

    // While something is stalled the loop has to believe that an event may come, as it would of a real storage.
    bool poll() override { return false; }
    bool is_active() const override { return stalled_count_ > 0; }

  private:
    // One operation on its way: the copy that the inner backend sees, and the timer of its delay.
    struct Carried final : engine::CompletionSink, engine::Timer {
        FaultBackend* fault = nullptr;
        IoOp inner;
        IoOp* outer = nullptr; // nullptr: unused
        std::uint64_t delay_ns = 0;
        bool waits = false;   // in the timer's hands: for its delay, or cancelled
        bool stalled = false; // in nobody's hands
        void completed(IoOp&) override { fault->arrived(*this); }
    };
    struct Verdict {
        int error = 0;
        std::uint64_t delay_ns = 0;
        bool cut = false, stalled = false;
    };

    std::optional<Error> name_fault(const char* operation, const std::string& path);
    Verdict judge(const IoOp& op);
    Carried& carry(IoOp& op);
    void put_back(Carried& carried);
    void arrived(Carried& carried);        // from the inner backend
    static void deliver(Carried& carried); // to the caller
    void finish(Carried& carried);         // its answer becomes the caller's
    void wait(Carried& carried, std::uint64_t delay_ns);

    const FaultPlan plan_;
    std::unique_ptr<Backend> inner_;
    engine::Reactor& reactor_;
    Random errors_, delays_, cuts_, stalls_;
    Capabilities capabilities_;
    std::uint64_t on_count_ = 0, read_count_ = 0, written_bytes_ = 0;
    bool cancelled_ = false; // the run stops: what would stall ends at once
    struct Refused {
        const IoOp* op;
        Verdict verdict;
    };
    std::vector<Refused> refused_; // by a busy inner backend: when they come again they are not counted again
    std::uint32_t stalled_count_ = 0;
    std::vector<std::unique_ptr<Carried>> carried_; // as many as were ever in flight at once
    std::vector<Carried*> unused_;
};

// Calls that block where they are made: so does their stall.
std::optional<Error> FaultBackend::name_fault(const char* operation, const std::string& path) {
    if (!plan_.on.name_space) return {};
    ++on_count_;
    if (plan_.error_at.meets(on_count_, errors_))
        return storage_error(operation, display_path(path), plan_.error, "injected by fault:");
    if (plan_.stall_at.meets(on_count_, stalls_)) {
        if (reactor_.clock().is_virtual())
            return storage_error(operation, display_path(path), ECANCELED, "stalled by fault:, in virtual time");
        for (;;) engine::nap_ns(kNsPerS);
    }
    return {};
}

FaultBackend::Verdict FaultBackend::judge(const IoOp& op) {
    Verdict v;
    const auto refused = std::find_if(refused_.begin(), refused_.end(), [&](const Refused& r) { return r.op == &op; });
    if (refused != refused_.end()) {
        v = refused->verdict;
        refused_.erase(refused);
        return v;
    }
    if (plan_.on.has(op.kind)) {
        ++on_count_;
        if (plan_.error_at.meets(on_count_, errors_)) v.error = plan_.error;
        if (plan_.delay_ns > 0 && plan_.delay_at.meets(on_count_, delays_)) v.delay_ns = plan_.delay_ns;
        v.stalled = plan_.stall_at.meets(on_count_, stalls_);
        if (v.stalled && cancelled_) {
            v.stalled = false;
            v.error = ECANCELED;
        }
    }
    if (op.kind == IoKind::read) v.cut = plan_.short_at.meets(++read_count_, cuts_);
    if (op.kind == IoKind::write && plan_.space_bytes > 0) {
        if (written_bytes_ + op.bytes > plan_.space_bytes)
            v.error = ENOSPC;
        else
            written_bytes_ += op.bytes;
    }
    return v;
}

FaultBackend::Carried& FaultBackend::carry(IoOp& op) {
    if (unused_.empty()) {
        carried_.push_back(std::make_unique<Carried>());
        carried_.back()->fault = this;
        carried_.back()->fire = [](engine::Timer& timer) { deliver(static_cast<Carried&>(timer)); };
        unused_.push_back(carried_.back().get());
    }
    Carried& c = *unused_.back();
    unused_.pop_back();
    c.outer = &op;
    c.waits = c.stalled = false;
    c.delay_ns = 0;
    c.inner = IoOp{};
    c.inner.kind = op.kind;
    c.inner.file = op.file;
    c.inner.path = op.path;
    c.inner.offset = op.offset;
    c.inner.data = op.data;
    c.inner.bytes = op.bytes;
    c.inner.size_hint = op.size_hint;
    c.inner.client = op.client;
    c.inner.buffer_index = op.buffer_index;
    c.inner.submit_ns = op.submit_ns;
    c.inner.sink = &c;
    return c;
}

Submit FaultBackend::submit(IoOp& op) {
    const Verdict v = judge(op);
    if (v.error == 0 && v.delay_ns == 0 && !v.cut && !v.stalled) { // untouched: the inner backend completes it itself
        const Submit answer = inner_->submit(op);
        if (answer == Submit::busy) refused_.push_back({&op, v});
        return answer;
    }
    Carried& c = carry(op);
    c.delay_ns = v.delay_ns;
    if (v.stalled) {
        c.stalled = true;
        ++stalled_count_;
        return Submit::pending;
    }
    Submit answer = Submit::done;
    if (v.error != 0) {
        c.inner.result = -v.error;
        c.inner.message = "injected by fault:";
    } else {
        if (v.cut) c.inner.bytes = round_down(op.bytes / 2, op.file->alignment_bytes);
        if (!v.cut || c.inner.bytes > 0) answer = inner_->submit(c.inner);
    }
    if (answer == Submit::busy) {
        refused_.push_back({&op, v});
        put_back(c);
    } else if (answer == Submit::done) {
        if (c.delay_ns > 0) {
            wait(c, c.delay_ns);
            return Submit::pending;
        }
        finish(c);
    }
    return answer;
}

void FaultBackend::arrived(Carried& c) {
    if (c.delay_ns > 0)
        wait(c, c.delay_ns);
    else
        deliver(c);
}

void FaultBackend::wait(Carried& c, std::uint64_t delay_ns) {
    c.waits = true;
    c.deadline_ns = reactor_.now_ns() + delay_ns;
    c.late_allowed_ns = delay_ns / 100;
    reactor_.set_timer(c);
}

void FaultBackend::cancel_pending() {
    cancelled_ = true;
    inner_->cancel_pending();
    // What the inner backend has comes by itself; stalled and delayed ones end now, in a turn of the loop.
    for (const auto& c : carried_) {
        if (c->stalled) {
            c->stalled = false;
            --stalled_count_;
            c->inner.result = -ECANCELED;
            c->inner.message = "stalled by fault: until it was cancelled";
            wait(*c, 0);
        } else if (c->waits)
            wait(*c, 0);
        c->delay_ns = 0;
    }
}

void FaultBackend::deliver(Carried& c) {
    IoOp& op = *c.outer;
    c.fault->finish(c);
    op.sink->completed(op);
}

void FaultBackend::put_back(Carried& c) {
    c.outer = nullptr;
    unused_.push_back(&c);
}

void FaultBackend::finish(Carried& c) {
    IoOp& op = *c.outer;
    op.result = c.inner.result;
    op.message = std::move(c.inner.message);
    op.opened = std::move(c.inner.opened);
    c.waits = false;
    put_back(c);
}

} // namespace

Expected<std::unique_ptr<Backend>> make_fault_backend(const BackendRequest& request) {
    auto plan = parse_fault_plan(request.options, request.uri);
    if (!plan) return plan.error();
    BackendRequest inner = request;
    inner.uri = request.options.at("inner");
    inner.options = std::exchange(inner.inner_options, {});
    if (inner.uri.empty()) return config_error("fault: needs a backend behind it: fault:...;inner=/path", request.uri);
    if (!request.reactor) return internal_error("the fault backend needs a reactor");
    auto made = make_backend(std::move(inner));
    if (!made) return made.error();
    return std::unique_ptr<Backend>(
        std::make_unique<FaultBackend>(*plan, std::move(*made), *request.reactor, request.seed));
}

} // namespace feedbench::storage
