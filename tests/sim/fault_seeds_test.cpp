// Runs of random small configurations whose storage fails, stalls, is slow or runs full at random moments, and which
// are interrupted at random virtual times. However they end: no hang (under the virtual clock a wait for nothing is
// reported at once), every sample once or an error, at most one message, balanced books, nothing left in flight.
#include "tests/support/random_run.hpp"

#include <csignal>
#include <map>
#include <set>

#include "harness/types/units.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

// What goes wrong at a storage, as options of fault:.
std::string random_fault(Random& random, bool writes) {
    const std::string on = writes ? one_of<std::string>(random, {"write", "create", "commit", "close", "fsync", "any",
                                                                 "write+commit", "namespace"})
                                  : one_of<std::string>(random, {"read", "open", "close", "read+open", "any"});
    const std::string error = one_of<std::string>(random, {"EIO", "ENOSPC", "EACCES", "ESTALE", "ETIMEDOUT"});
    switch (between(random, 0, 7)) {
    case 0:
        return "error=" + error + ",rate=0.02,on=" + on;
    case 1:
        return "error=" + error + "@" + std::to_string(between(random, 1, 120)) + ",on=" + on;
    case 2:
        return "error=" + error + "@" + std::to_string(between(random, 1, 120)) + "+,on=" + on;
    case 3:
        return "short=" + std::to_string(between(random, 1, 90)) + (writes ? ",space=100kB" : "");
    case 4:
        return "stall=" + std::to_string(between(random, 1, 90)) + ",on=" + on;
    case 5:
        return "stall=3%,on=" + on;
    case 6:
        return "delay=700ms,delay_at=4%,on=" + on + ",rate=0.002";
    default:
        return writes ? "space=" + std::to_string(between(random, 1, 3000)) + "kB" : "delay=5ms,delay_at=30%,on=any";
    }
}

struct Outcome {
    std::string status;
    std::vector<Error> errors;
    std::uint64_t ended_ns = 0;
};

class Silent final : public RunObserver {};

Outcome play(std::uint64_t seed) {
    VirtualRun run = random_run(seed);
    Random random(stream_seed(seed, "random fault"));
    Workload& w = run.workload;
    if (w.dataset.data_folder.starts_with("fault:")) w.dataset.data_folder = "model:latency=2ms,jitter=1ms";
    if (random.uniform() < 0.8)
        w.dataset.data_folder = "fault:" + random_fault(random, false) + ";inner=" + w.dataset.data_folder;
    if (w.workflow.checkpoint && random.uniform() < 0.6)
        w.checkpoint.checkpoint_folder =
            "fault:" + random_fault(random, true) + ";inner=" + w.checkpoint.checkpoint_folder;
    // A signal at any moment of the run, where it takes that long.
    struct Interrupt : engine::Timer {
        volatile std::sig_atomic_t signal = 0;
        std::uint64_t at_ns = 0;
    } interrupt;
    const bool interrupts = random.uniform() < 0.4;
    interrupt.at_ns = static_cast<std::uint64_t>(random.uniform() * 1.5e9);
    interrupt.fire = [](engine::Timer& timer) { static_cast<Interrupt&>(timer).signal = SIGINT; };
    engine::Reactor* reactor = nullptr;
    run.prepare = [&](engine::Reactor& r) {
        reactor = &r;
        interrupt.deadline_ns = interrupt.at_ns;
        if (interrupts) r.set_timer(interrupt);
    };
    INFO("seed " << seed << ": " << w.reader.data_loader << " on " << w.dataset.data_folder << ", checkpoints "
                 << (w.workflow.checkpoint ? w.checkpoint.checkpoint_folder : "none") << ", " << w.dataset.format
                 << ", " << run.accelerators << " accelerators, "
                 << (interrupts ? "interrupted at " + std::to_string(interrupt.at_ns) + " ns" : "not interrupted"));
    Silent observer;
    Outcome outcome;
    const auto result = run.run(&observer, &interrupt.signal);
    if (!result) { // refused: the very opening of the storage was what failed
        outcome.status = "refused";
        outcome.errors = {result.error()};
        CHECK(exit_code(result.error().kind) == 3);
        return outcome;
    }
    outcome.status = result->status;
    outcome.errors = result->errors;
    check_books(*result);
    CHECK(result->errors.size() <= 1); // at most one message
    if (result->status == "complete") {
        CHECK(result->errors.empty());
        for (const EpochResult& epoch : result->epochs) CHECK(epoch.samples_proved); // every sample once ...
        CHECK(result->epochs.size() >= 1);
    } else {
        CHECK_FALSE(result->valid); // ... or a result that says that it is none
        CHECK_FALSE(result->invalid_reasons.empty());
    }
    if (result->status == "failed") {
        REQUIRE(result->errors.size() == 1);
        const Error& error = result->errors[0];
        INFO(error.describe());
        CHECK(exit_code(error.kind) == 3);
        if (error.kind == ErrorKind::storage) {
            CHECK_FALSE(error.operation.empty());
            CHECK((error.path.find("null:") != std::string::npos || error.path.find("model:") != std::string::npos));
        } else
            CHECK(error.kind == ErrorKind::stalled);
        if (error.operation == "read" || error.operation == "write") CHECK(error.offset >= 0);
    }
    if (result->status == "interrupted") CHECK(interrupts);
    // Whoever is asked to stop has stopped 10 s later.
    if (interrupts && !result->epochs.empty() && result->status == "interrupted")
        CHECK(result->epochs.back().end_s < static_cast<double>(interrupt.at_ns) / 1e9 + 10);
    return outcome;
}

} // namespace

TEST_CASE("400 random runs on storage that fails: no hang, every sample once or an error, books balance") {
    std::map<std::string, int> ends;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const Outcome outcome = play(seed);
        ++ends[outcome.status];
        for (const Error& error : outcome.errors) {
            if (error.kind == ErrorKind::stalled) ++ends["stalled"];
            ++ends["errno " + errno_name(error.errno_value)];
        }
    }
    // The seeds reach all of it: ends of every kind, and every kind of error.
    for (const char* kind :
         {"complete", "failed", "interrupted", "stalled", "errno EIO", "errno ENOSPC", "errno ESTALE"}) {
        INFO(kind << ": " << ends[kind]);
        CHECK(ends[kind] >= 5);
    }
}

TEST_CASE("the same seed fails in the same way, to the last word; another one elsewhere") {
    std::set<std::string> messages;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const Outcome once = play(seed), again = play(seed);
        CHECK(once.status == again.status);
        REQUIRE(once.errors.size() == again.errors.size());
        for (std::size_t i = 0; i < once.errors.size(); ++i) {
            CHECK(once.errors[i].describe() == again.errors[i].describe());
            messages.insert(once.errors[i].describe());
        }
    }
    CHECK(messages.size() > 10);
}

TEST_CASE("a read that never comes back is told at once in virtual time, with the operation, and drained") {
    const std::string loader = GENERATE("pytorch", "tensorflow", "native");
    INFO(loader);
    VirtualRun run("fault:stall=37+;inner=model:latency=3ms", loader);
    run.accelerators = 3;
    run.workload.reader.read_threads = 2;
    const auto result = run.run();
    REQUIRE(result);
    CHECK(result->status == "failed");
    REQUIRE(result->errors.size() == 1);
    CHECK(result->errors[0].kind == ErrorKind::stalled);
    CHECK(exit_code(result->errors[0].kind) == 3);
    CHECK(result->errors[0].message.find("\n  read train/img_") != std::string::npos);
}
