#include "workloads/cache_drop.hpp"

#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>

#include "harness/cluster/communicator.hpp"
#include "storage/registry.hpp"
#include "workloads/training.hpp"

using namespace feedbench;
using namespace feedbench::workloads;
using storage::DropOutcome;

namespace {

// A drop that comes back when the test lets it.
struct Gate {
    std::mutex lock;
    std::condition_variable changed;
    bool open = false;
    int entered = 0, left = 0;

    DropOutcome pass() {
        std::unique_lock hold(lock);
        ++entered;
        changed.wait(hold, [this] { return open; });
        ++left;
        changed.notify_all();
        return DropOutcome::dropped;
    }
    void let_go() {
        const std::lock_guard hold(lock);
        open = true;
        changed.notify_all();
    }
    int entered_count() {
        const std::lock_guard hold(lock);
        return entered;
    }
    void wait_until_left(int count) {
        std::unique_lock hold(lock);
        changed.wait(hold, [&] { return left >= count; });
    }
};

struct Rig {
    std::unique_ptr<engine::Clock> clock;
    std::unique_ptr<engine::Reactor> reactor;
    bool stopping = false;
    explicit Rig(bool is_virtual = false) {
        clock = is_virtual ? engine::make_virtual_clock() : engine::make_real_clock();
        auto made = engine::Reactor::make(*clock, {.use_uring = false});
        REQUIRE(made);
        reactor = std::move(*made);
    }
    static engine::Task<void> keep(engine::Task<DropReport> task, DropReport& report) {
        report = co_await std::move(task);
    }
    DropReport run(CacheDropper& dropper, CacheDropper::NextPath next) {
        DropReport report;
        REQUIRE(reactor->run(keep(dropper.drop(std::move(next), stopping), report)));
        return report;
    }
};

CacheDropper::NextPath files(int count, std::shared_ptr<int> asked = std::make_shared<int>(0)) {
    return [count, asked](std::string& path) {
        path = "file" + std::to_string(*asked);
        return (*asked)++ < count;
    };
}

constexpr std::uint64_t kSoon = 250'000'000, kNever = 3'600'000'000'000;

} // namespace

TEST_CASE("a drop that hangs is a timeout; it is waited for before the next, which is one of its own (C2)") {
    Rig rig;
    auto gate = std::make_shared<Gate>();
    CacheDropper dropper(
        *rig.reactor, [gate](const std::string&) { return gate->pass(); }, kSoon);
    const DropReport first = rig.run(dropper, files(1));
    CHECK(first.outcome == "timeout");
    CHECK(first.duration_s >= 0.25);
    CHECK(rig.run(dropper, files(1)).outcome == "timeout");
    CHECK(gate->entered_count() == 1); // not two at a time
    gate->let_go();
    gate->wait_until_left(1);
    CHECK(rig.run(dropper, files(1)).outcome == "dropped");
    CHECK(gate->entered_count() == 2); // the first one says nothing about what was read since
}

TEST_CASE("after a timeout no further file is asked for") {
    Rig rig;
    auto gate = std::make_shared<Gate>();
    auto asked = std::make_shared<int>(0);
    CacheDropper dropper(
        *rig.reactor, [gate](const std::string&) { return gate->pass(); }, kSoon);
    CHECK(rig.run(dropper, files(1000, asked)).outcome == "timeout");
    gate->let_go();
    CHECK(rig.run(dropper, files(3)).outcome == "dropped");
    CHECK(*asked <= 1); // none at all where the thread began too late
    CHECK(gate->entered_count() == *asked + 3);
}

TEST_CASE("a dropper goes while its drop hangs: what that needs is its own") {
    auto gate = std::make_shared<Gate>();
    {
        Rig rig;
        CacheDropper dropper(
            *rig.reactor, [gate](const std::string&) { return gate->pass(); }, kSoon);
        while (gate->entered_count() == 0) CHECK(rig.run(dropper, files(2)).outcome == "timeout");
    }
    gate->let_go();
    gate->wait_until_left(1);
    CHECK(gate->entered_count() == 1);
}

TEST_CASE("a run that stops waits for no drop") {
    Rig rig;
    rig.stopping = true;
    auto gate = std::make_shared<Gate>();
    CacheDropper dropper(
        *rig.reactor, [gate](const std::string&) { return gate->pass(); }, kNever);
    CHECK(rig.run(dropper, files(1)).outcome == "timeout");
    gate->let_go();
}

TEST_CASE("the worst of all files is the outcome") {
    for (const bool is_virtual : {false, true}) {
        Rig rig(is_virtual);
        const auto outcome = [&](std::vector<DropOutcome> all) {
            CacheDropper dropper(
                *rig.reactor, [all, i = std::size_t{0}](const std::string&) mutable { return all[i++]; }, kNever);
            return rig.run(dropper, files(static_cast<int>(all.size()))).outcome;
        };
        CHECK(outcome({}) == "dropped");
        CHECK(outcome({DropOutcome::dropped, DropOutcome::dropped}) == "dropped");
        CHECK(outcome({DropOutcome::dropped, DropOutcome::not_offered, DropOutcome::dropped}) == "not offered");
        CHECK(outcome({DropOutcome::not_permitted, DropOutcome::not_offered}) == "not permitted");
        CacheDropper none(*rig.reactor, {}, kNever);
        CHECK(rig.run(none, files(1)).outcome == "not offered");
    }
    CHECK(worse({"timeout", 1}, {"not permitted", 2}).outcome == "timeout");
    CHECK(worse({"not asked", 1}, {"dropped", 2}).outcome == "dropped");
    CHECK(worse({"not asked", 1}, {"dropped", 2}).duration_s == 2);
}

namespace {

// null:, whose first drop hangs until the test lets it go.
class SlowDrop final : public storage::Backend {
  public:
    SlowDrop(std::unique_ptr<storage::Backend> inner, storage::CacheDrop drop)
        : inner_(std::move(inner)), drop_(std::move(drop)) {}
    const storage::Capabilities& capabilities() const override { return inner_->capabilities(); }
    engine::Submit submit(engine::IoOp& op) override { return inner_->submit(op); }
    storage::CacheDrop cache_drop() const override { return drop_; }
    std::string display_path(const std::string& path) const override { return inner_->display_path(path); }

  private:
    std::unique_ptr<storage::Backend> inner_;
    storage::CacheDrop drop_;
};

} // namespace

TEST_CASE("a run goes on after a drop that timed out, says so, and tries again in the next epoch (C2)") {
    Workload workload;
    workload.dataset.data_folder = "null:";
    workload.dataset.format = "raw";
    workload.dataset.num_files_train = 8;
    workload.dataset.record_length_bytes = 4096;
    workload.train.epochs = 2;
    workload.workflow.checkpoint = false;
    workload.reader.drop_cache = "system";
    workload.reader.drop_cache_timeout_s = 0.4;

    Rig rig;
    auto communicator = cluster::make_single();
    auto gate = std::make_shared<Gate>();
    RunRequest request;
    request.workload = &workload;
    request.communicator = communicator.get();
    request.reactor = rig.reactor.get();
    request.accelerator_count = 1;
    request.run_seed = 1;
    request.wrap_storage = [gate](std::unique_ptr<storage::Backend> inner) -> std::unique_ptr<storage::Backend> {
        return std::make_unique<SlowDrop>(std::move(inner), [gate](const std::string&) { return gate->pass(); });
    };
    // Let go once the first epoch has ended; so long it cannot have been dropped.
    struct Observer final : RunObserver {
        Gate& gate;
        explicit Observer(Gate& g) : gate(g) {}
        void on_epoch(const EpochResult&) override { gate.let_go(); }
    } observer(*gate);
    request.observer = &observer;
    const auto result = run_training(request);
    if (!result) FAIL(result.error().describe());
    REQUIRE(result->epochs.size() == 2);
    const auto cache = [&](std::size_t epoch) { return result->epochs[epoch].hosts.at(0).cache; };
    CHECK(cache(0).drop_outcome == "timeout");
    CHECK(cache(0).drop_s >= 0.4);
    CHECK(cache(1).drop_outcome == "dropped");
    CHECK(gate->entered_count() == 2);
    std::size_t warnings = 0;
    for (const Finding& finding : result->findings)
        if (finding.rule == "drop_cache") {
            ++warnings;
            CHECK(finding.evidence.find("epoch 1") != std::string::npos);
            CHECK(finding.evidence.find("timeout") != std::string::npos);
        }
    CHECK(warnings == 1);
}
