// The communicator and the step barrier over real MPI: every rank runs the same cases side by side.
//
// Usage: mpirun -n R mpi_cluster_test [--hosts N] [Catch options]     N: how many hosts must be found (default 1)
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdlib>
#include <set>

#include "harness/cluster/step_barrier.hpp"
#include "harness/engine/sync.hpp"

using namespace feedbench;

namespace {
cluster::Communicator* ranks = nullptr;
std::size_t expected_hosts = 1;

std::uint64_t number(int rank) { return static_cast<std::uint64_t>(rank); }
} // namespace

TEST_CASE("the launcher's ranks are all here") {
    REQUIRE(std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr);
    CHECK(ranks->size() == std::atoi(std::getenv("OMPI_COMM_WORLD_SIZE")));
    CHECK(ranks->rank() == std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")));
}

TEST_CASE("hosts are in order of their lowest rank, whatever the placement, and hold every rank once") {
    const auto& hosts = ranks->hosts();
    CHECK(hosts.size() == expected_hosts);
    std::set<int> seen;
    std::set<std::string> names;
    int previous_first = -1;
    for (const auto& host : hosts) {
        REQUIRE_FALSE(host.ranks.empty());
        CHECK(host.ranks.front() > previous_first);
        previous_first = host.ranks.front();
        CHECK(std::is_sorted(host.ranks.begin(), host.ranks.end()));
        seen.insert(host.ranks.begin(), host.ranks.end());
        names.insert(host.name);
    }
    CHECK(names.size() == hosts.size());
    CHECK(seen.size() == static_cast<std::size_t>(ranks->size()));
    const auto& mine = hosts[static_cast<std::size_t>(ranks->host_index())];
    REQUIRE(static_cast<std::size_t>(ranks->local_rank()) < mine.ranks.size());
    CHECK(mine.ranks[static_cast<std::size_t>(ranks->local_rank())] == ranks->rank());
    std::string layout;
    for (const auto& host : hosts) {
        layout += host.name + ":";
        for (const int rank : host.ranks) layout += std::to_string(rank) + ",";
    }
    CHECK(ranks->broadcast(layout) == layout); // rank 0 sees the same
}

TEST_CASE("gather brings every rank's bytes to rank 0, of any length") {
    const std::string mine(number(ranks->rank()) * 100'000, static_cast<char>('a' + ranks->rank()));
    const auto all = ranks->gather(mine);
    if (ranks->rank() != 0) {
        CHECK(all.empty());
        return;
    }
    REQUIRE(all.size() == static_cast<std::size_t>(ranks->size()));
    for (std::size_t r = 0; r < all.size(); ++r)
        CHECK(all[r] == std::string(r * 100'000, static_cast<char>('a' + static_cast<char>(r))));
}

TEST_CASE("broadcast is rank 0's, also when it is empty or large") {
    CHECK(ranks->broadcast(ranks->rank() == 0 ? "" : "not mine").empty());
    const std::string large(3'000'000, 'x');
    CHECK(ranks->broadcast(ranks->rank() == 0 ? large : "") == large);
}

TEST_CASE("sum, min and max are element-wise and the same everywhere") {
    const std::uint64_t n = number(ranks->size()), r = number(ranks->rank());
    std::uint64_t sums[2] = {r, 1}, lowest[2] = {r + 5, n - r}, highest[2] = {r, ~r};
    double reals[1] = {0.25};
    ranks->sum(sums);
    ranks->min(lowest);
    ranks->max(highest);
    ranks->sum(reals);
    CHECK(sums[0] == n * (n - 1) / 2);
    CHECK(sums[1] == n);
    CHECK(lowest[0] == 5);
    CHECK(lowest[1] == 1);
    CHECK(highest[0] == n - 1);
    CHECK(highest[1] == ~std::uint64_t{0});
    CHECK(reals[0] == Approx(0.25 * static_cast<double>(n)));
}

TEST_CASE("messages between two ranks arrive in order") {
    const int from = ranks->size() - 1;
    if (from == 0) return;
    if (ranks->rank() == from)
        for (int i = 0; i < 50; ++i) ranks->send(0, std::string(static_cast<std::size_t>(i), 'm'));
    if (ranks->rank() == 0)
        for (int i = 0; i < 50; ++i) CHECK(ranks->receive(from).size() == static_cast<std::size_t>(i));
}

TEST_CASE("an agreement waits for the last rank and gives the largest value") {
    const std::uint64_t late = number(ranks->size() - 1);
    for (std::uint64_t round = 0; round < 200; ++round) {
        if (number(ranks->rank()) == round % (late + 1)) engine::nap_ns(100'000);
        ranks->start_agreement(round + number(ranks->rank()));
        std::uint64_t agreed = 0;
        while (!ranks->test_agreement(agreed)) engine::yield_processor();
        REQUIRE(agreed == round + late);
    }
}

namespace {

struct Count {
    std::uint64_t steps = 0, agreed = 0;
};

engine::Task<void> accelerator(engine::Reactor& reactor, cluster::StepBarrier& barrier, std::uint64_t stop_at_step,
                               std::uint64_t stop, Count& count) {
    for (;; ++count.steps) {
        co_await reactor.sleep_until(reactor.now_ns() + 200'000);
        count.agreed = co_await barrier.arrive(count.steps == stop_at_step ? stop : 0);
        if (count.agreed != 0) co_return;
    }
}

engine::Task<void> run_accelerators(engine::Reactor& reactor, cluster::StepBarrier& barrier, std::vector<Count>& counts,
                                    std::uint64_t stop_at_step, std::uint64_t stop) {
    engine::TaskGroup group(reactor);
    for (auto& count : counts) group.spawn(accelerator(reactor, barrier, stop_at_step, stop, count));
    co_await group.join();
}

} // namespace

TEST_CASE("accelerators of all ranks keep step, and a stop of one ends all in the same step") {
    auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();
    const std::uint64_t stop_rank = number(ranks->size() - 1);
    {
        cluster::StepBarrier barrier(*reactor, *ranks, 3);
        std::vector<Count> counts(3);
        const bool is_it = number(ranks->rank()) == stop_rank;
        REQUIRE(reactor->run(run_accelerators(*reactor, barrier, counts, 100, is_it ? 17 : 0)).has_value());
        for (const auto& count : counts) {
            CHECK(count.steps == 100);
            CHECK(count.agreed == 17);
        }
        CHECK(barrier.step_count() == 101);
    }
    ranks->barrier();
}

TEST_CASE("a stop raised by one rank at any moment ends all of them, in the same step") {
    auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {.use_uring = false}).value();
    std::uint64_t ended_at[2] = {0, 0};
    {
        cluster::StepBarrier barrier(*reactor, *ranks, 2);
        std::vector<Count> counts(2);
        int beats = 0;
        reactor->set_heartbeat(1'000'000, [&] {
            if (++beats == 20 && ranks->rank() == 0) barrier.raise_stop(5);
            barrier.check_stop();
        });
        REQUIRE(reactor->run(run_accelerators(*reactor, barrier, counts, engine::kNever, 0)).has_value());
        for (const auto& count : counts) CHECK(count.agreed == 5);
        ended_at[0] = ended_at[1] = barrier.step_count();
    }
    CHECK(ranks->announced_stop() == 5);
    ranks->max(std::span(ended_at, 1));
    ranks->min(std::span(ended_at + 1, 1));
    CHECK(ended_at[0] == ended_at[1]);
}

int main(int argc, char** argv) {
    auto communicator = cluster::make_communicator(&argc, &argv);
    ranks = communicator.get();
    Catch::Session session;
    using namespace Catch::clara;
    session.cli(session.cli() | Opt(expected_hosts, "N")["--hosts"]("how many hosts must be found"));
    const int usage = session.applyCommandLine(argc, argv);
    if (usage != 0) communicator->abort(usage);
    const int failed_count = session.run();
    if (failed_count != 0) communicator->abort(1); // the other ranks may wait for what this one has left out
    return 0;
}
