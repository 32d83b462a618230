#include "storage/fault_plan.hpp"
#include "tests/support/backend_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;
using engine::BufferLease;
using engine::File;

storage::BackendRequest request(const std::string& uri) {
    storage::BackendRequest r;
    r.uri = uri;
    return r;
}

TEST_CASE("fault: schedules") {
    Random random(1);
    const auto met = [&](const char* text, std::uint64_t count) {
        const auto schedule = storage::Schedule::parse(text);
        REQUIRE(schedule);
        return schedule->meets(count, random);
    };
    CHECK_FALSE(met("", 1));
    CHECK_FALSE(met("3", 2));
    CHECK(met("3", 3));
    CHECK_FALSE(met("3", 4));
    CHECK(met("3+", 4));
    CHECK(met("100%", 7));
    CHECK_FALSE(met("0%", 7));
    for (const char* bad : {"x", "0", "-1", "3x", "101%", "%", "+", "3++"}) {
        INFO(bad);
        CHECK_FALSE(storage::Schedule::parse(bad));
    }
    const auto tenth = storage::Schedule::parse("10%");
    REQUIRE(tenth);
    int hits = 0;
    for (std::uint64_t i = 1; i <= 10'000; ++i) hits += tenth->meets(i, random) ? 1 : 0;
    CHECK(hits > 800);
    CHECK(hits < 1200);
}

// The results of `count` reads of 1000 bytes one after another.
Task<void> reads(Rig& rig, int count, std::vector<std::int64_t>& results) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("x", file, 1000), == 0);
    if (!file) co_return;
    for (int i = 0; i < count; ++i) {
        BufferLease lease = rig.pool->try_lease();
        const std::int64_t got = co_await rig.move(IoKind::read, *file, 0, 1000, lease);
        results.push_back(got);
    }
}

std::vector<std::int64_t> results_of(const std::string& uri, int count, std::uint64_t seed = 0) {
    storage::BackendRequest r = request(uri);
    r.seed = seed;
    Rig rig(r, 64, true); // virtual time
    std::vector<std::int64_t> results;
    rig.run(reads(rig, count, results));
    return results;
}

TEST_CASE("fault: the nth read fails, later ones too with a plus") {
    using R = std::vector<std::int64_t>;
    CHECK(results_of("fault:error=EIO@2;inner=null:", 4) == R{1000, -EIO, 1000, 1000});
    CHECK(results_of("fault:error=EACCES@3+;inner=null:", 4) == R{1000, 1000, -EACCES, -EACCES});
    CHECK(results_of("fault:short=2;inner=null:", 3) == R{1000, 500, 1000});
    CHECK(results_of("fault:short=2,delay=1ms;inner=model:latency=1ms", 3) == R{1000, 500, 1000});
    CHECK(results_of("fault:error=EIO@1,on=write;inner=null:", 2) == R{1000, 1000});
    CHECK(results_of("fault:error=EIO@2,on=any;inner=null:", 2) == R{-EIO, 1000}); // the open was the first
    CHECK(results_of("fault:error=EIO@2;inner=fault:error=ENOSPC@1;inner=null:", 3) == R{-ENOSPC, -EIO, 1000});
}

TEST_CASE("fault: the same seed gives the same errors, another one others") {
    const std::string uri = "fault:error=EIO@30%;inner=null:";
    CHECK(results_of(uri, 200, 5) == results_of(uri, 200, 5));
    CHECK(results_of(uri, 200, 5) != results_of(uri, 200, 6));
}

Task<void> one_read(Rig& rig, File& file, std::int64_t& result) {
    BufferLease lease = rig.pool->try_lease();
    result = co_await rig.move(IoKind::read, file, 0, 10, lease);
}

TEST_CASE("fault: a rate is a share of the operations, from a seed of its own or the run's") {
    const auto failed_of = [](const std::string& uri, std::uint64_t seed) {
        const auto results = results_of(uri, 2000, seed);
        return std::count(results.begin(), results.end(), -EIO);
    };
    CHECK(failed_of("fault:rate=0.1;inner=null:", 1) > 140);
    CHECK(failed_of("fault:rate=0.1;inner=null:", 1) < 260);
    CHECK(failed_of("fault:rate=1,error=EIO;inner=null:", 1) == 2000);
    CHECK(failed_of("fault:rate=0.1,error=ESTALE;inner=null:", 1) == 0);
    const std::string own = "fault:rate=0.1,seed=7;inner=null:";
    CHECK(results_of(own, 300, 1) == results_of(own, 300, 2)); // whatever the run's seed
    CHECK(results_of(own, 300, 1) != results_of("fault:rate=0.1,seed=8;inner=null:", 300, 1));
    // Another kind of fault beside it does not move it: where it is not short, it fails as before.
    const auto alone = results_of(own, 300), beside = results_of("fault:rate=0.1,seed=7,short=20%;inner=null:", 300);
    for (std::size_t i = 0; i < alone.size(); ++i) CHECK((alone[i] == -EIO) == (beside[i] == -EIO));
    CHECK(alone != beside);
}

TEST_CASE("fault: several kinds of operation are meant at once; the namespace by its name only") {
    Rig rig(request("fault:error=EIO@1+,on=open+commit;inner=null:"), 64, true);
    std::vector<std::int64_t> results;
    const auto body = [](Rig& r, std::vector<std::int64_t>& out) -> Task<void> {
        std::unique_ptr<File> file;
        const std::int64_t opened = co_await r.open("x", file, 1000);
        out.push_back(opened);
        const std::int64_t created = co_await r.open("x", file, 1000, IoKind::create);
        out.push_back(created);
        if (!file) co_return;
        const std::int64_t committed = co_await r.finish(IoKind::commit, *file, 0);
        out.push_back(committed);
    };
    rig.run(body(rig, results));
    CHECK(results == std::vector<std::int64_t>{-EIO, 0, -EIO});
    CHECK(rig.backend->make_directories("x"));

    Rig names(request("fault:error=EROFS@2,on=namespace;inner=null:"), 64, true);
    CHECK(names.backend->make_directories("a"));
    const Status second = names.backend->make_directories("b");
    REQUIRE_FALSE(second);
    CHECK(second.error().errno_value == EROFS);
    CHECK(second.error().operation == "mkdir");
    CHECK(names.backend->make_directories("c"));
    CHECK(results_of("fault:error=EIO@1+,on=namespace;inner=null:", 2) == std::vector<std::int64_t>{1000, 1000});
}

Task<void> two_stalls(Rig& rig, std::vector<std::int64_t>& results) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("x", file, 1000), == 0);
    if (!file) co_return;
    std::int64_t first = 1, second = 1;
    engine::TaskGroup group(*rig.reactor);
    group.spawn(one_read(rig, *file, first));
    rig.backend->cancel_pending();
    co_await group.join();
    group.clear();
    co_await one_read(rig, *file, second); // a stop is not stalled again
    results = {first, second};
}

TEST_CASE("fault: after a stop nothing stalls any more") {
    Rig rig(request("fault:stall=1+;inner=null:"), 64, true);
    std::vector<std::int64_t> results;
    rig.run(two_stalls(rig, results));
    CHECK(results == std::vector<std::int64_t>{-ECANCELED, -ECANCELED});
}

TEST_CASE("fault: a delay passes in virtual time, after the inner backend's own") {
    Rig rig(request("fault:delay=10ms,delay_at=2;inner=model:latency=1ms"), 64, true);
    std::vector<std::int64_t> results;
    rig.run(reads(rig, 3, results));
    CHECK(results == std::vector<std::int64_t>{1000, 1000, 1000});
    CHECK(rig.clock->now_ns() == 13'000'000);
}

Task<void> fill_the_disk(Rig& rig) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("x", file, 3000, IoKind::create), == 0);
    if (!file) co_return;
    BufferLease lease = rig.pool->try_lease();
    CHECK_RESULT(rig.move(IoKind::write, *file, 0, 1000, lease), == 1000);
    CHECK_RESULT(rig.move(IoKind::write, *file, 1000, 1000, lease), == 1000);
    CHECK_RESULT(rig.move(IoKind::write, *file, 2000, 1, lease), == -ENOSPC);
    CHECK_RESULT(rig.finish(IoKind::commit, *file, 2000), == 0);
}

TEST_CASE("fault: the disk is full after so many bytes") {
    Rig rig(request("fault:space=2kB;inner=null:"), 64, true);
    rig.run(fill_the_disk(rig));
}

Task<void> stall(Rig& rig) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("x", file, 1000), == 0);
    if (!file) co_return;
    std::int64_t stalled = 1, later = 1;
    engine::TaskGroup group(*rig.reactor);
    group.spawn(one_read(rig, *file, stalled));
    group.spawn(one_read(rig, *file, later));
    co_await rig.reactor->sleep_until(rig.clock->now_ns() + 1'000'000);
    CHECK(stalled == 1); // still out, others are not held up
    CHECK(later == 10);
    CHECK(rig.reactor->in_flight() == 1);
    int pending = 0;
    rig.reactor->for_each_pending([&](const IoOp& op) { pending += op.kind == IoKind::read ? 1 : 0; });
    CHECK(pending == 1);
    rig.backend->cancel_pending();
    co_await group.join();
    CHECK(stalled == -ECANCELED);
    group.clear();
}

TEST_CASE("fault: a stalled read never completes until it is cancelled, in virtual and in real time") {
    for (const bool virtual_time : {true, false}) {
        Rig rig(request("fault:stall=1;inner=null:"), 64, virtual_time);
        rig.run(stall(rig));
    }
}

Task<void> wait_for_ever(Rig& rig) {
    std::unique_ptr<File> file;
    CHECK_RESULT(rig.open("x", file, 1000), == 0);
    std::int64_t result = 0;
    if (file) co_await one_read(rig, *file, result);
}

TEST_CASE("fault: under the virtual clock a stall is a deadlock that is reported at once") {
    // What a stalled operation points to must stay (STYLE section 3), so the rig lives until the end of the process.
    static Rig* const rig = new Rig(request("fault:stall=1;inner=null:"), 64, true);
    const Status status = rig->reactor->run(wait_for_ever(*rig));
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("deadlock") != std::string::npos);
}

TEST_CASE("fault: options that make no sense") {
    const auto clock = engine::make_virtual_clock();
    auto reactor = engine::Reactor::make(*clock, {});
    REQUIRE(reactor);
    for (const char* uri :
         {"fault:error=EIO;inner=null:", "fault:error=EWHAT@1;inner=null:", "fault:error=EIO@0;inner=null:",
          "fault:on=reed;inner=null:", "fault:stall=x;inner=null:", "fault:delay=long;inner=null:",
          "fault:rate=2;inner=null:", "fault:rate=0.1,error=EIO@3;inner=null:", "fault:on=read+reed;inner=null:",
          "fault:seed=-1;inner=null:", "fault:error=EIO@1;inner=gopher:x"}) {
        INFO(uri);
        storage::BackendRequest r = request(uri);
        r.reactor = reactor->get();
        const auto made = storage::make_backend(r);
        REQUIRE_FALSE(made);
        CHECK(made.error().kind == ErrorKind::config);
    }
}

} // namespace
