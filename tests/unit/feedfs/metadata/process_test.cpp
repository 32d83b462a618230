// Several processes on one place, and processes and servers that are killed in the middle.
#include <atomic>
#include <random>
#include <thread>

#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

// A process that does `work` and ends with what it answers; it opens engines for itself and makes no Catch assertions.
template <class Work>
pid_t start_process(Work work) {
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) _exit(work());
    return pid;
}
int result_of(pid_t pid) {
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Entries pair/A<n> and pair/B<n> come in one batch, with 1 more on a counter: what is half applied shows.
Batch pair_of(std::uint64_t n) {
    const std::string number = std::to_string(1'000'000 + n);
    Batch batch;
    batch.require_absent(entry_key(2, "A" + number));
    batch.put(entry_key(2, "A" + number), number);
    batch.put(entry_key(3, "B" + number), std::string(200 + n % 1000, 'b'));
    const std::int64_t one[] = {1};
    batch.add("Lpairs", one);
    return batch;
}
// How many pairs are there; each is whole, and the counter says the same.
std::size_t check_pairs(MetadataEngine& engine) {
    const auto a = contents(engine, entries_of(2));
    const auto b = contents(engine, entries_of(3));
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i].first.substr(10) == b[i].first.substr(10));
    const auto counter = value_of(engine, "Lpairs");
    CHECK((counter ? decode_counters(*counter)[0] : 0) == static_cast<std::int64_t>(a.size()));
    return a.size();
}

TEST_CASE("metadata engines: processes that create the same names at once: each name has one creator") {
    for (const std::string& name : metadata_engines(false)) {
        INFO(name);
        MetadataRig rig(name, {"--appendonly", "no"});
        rig.create().reset();
        constexpr int kProcesses = 4, kNames = 200;
        std::vector<pid_t> processes;
        for (int p = 0; p < kProcesses; ++p)
            processes.push_back(start_process([&rig, p] {
                auto engine = open_metadata(rig.place, OpenMode::read_write);
                if (!engine) return 2;
                for (int n = 0; n < kNames; ++n) {
                    auto outcome = (*engine)->apply(pair_of(static_cast<std::uint64_t>(n)), Durability::relaxed);
                    if (!outcome) return 3;
                    Batch mine;
                    const std::int64_t one[] = {1};
                    mine.add("Lwon" + std::to_string(p), one);
                    if (outcome->applied() && !(*engine)->apply(mine, Durability::relaxed)) return 4;
                    std::string value; // what another process has committed is seen at once
                    auto seen = (*engine)->get(entry_key(3, "B" + std::to_string(1'000'000 + n)), value);
                    if (!seen || !*seen) return 5;
                }
                return 0;
            }));
        for (const pid_t pid : processes) CHECK(result_of(pid) == 0);
        auto engine = rig.open(OpenMode::read_only);
        CHECK(check_pairs(*engine) == kNames);
        std::int64_t won = 0;
        for (const auto& [key, value] : contents(*engine, keys_with_prefix("Lwon"))) won += decode_counters(value)[0];
        CHECK(won == kNames);
    }
}

TEST_CASE("lmdb: the map grows under readers and other processes, and ENOSPC names its limit") {
    MetadataRig rig("lmdb");
    rig.place.options = {{"map_bytes", "262144"}};
    auto engine = rig.create();
    int go[2], ready[2];
    REQUIRE(pipe(go) == 0);
    REQUIRE(pipe(ready) == 0);
    const pid_t other = start_process([&] { // has the small map open when the other one grows it
        auto mine = open_metadata(rig.place, OpenMode::read_write);
        if (!mine) return 2;
        char byte = 'r';
        if (write(ready[1], &byte, 1) != 1) return 3;
        if (::read(go[0], &byte, 1) != 1) return 3;
        std::string value;
        auto found = (*mine)->get("E19999", value);
        if (!found) return 4;
        if (!*found || value.size() != 1000) return 5;
        Batch batch;
        batch.put("Eother", std::string(3 << 20, 'o'));
        return (*mine)->apply(batch, Durability::relaxed) ? 0 : 6;
    });
    char opened = 0;
    REQUIRE(read(ready[0], &opened, 1) == 1);
    std::atomic<bool> stop = false;
    std::thread reader([&] {
        while (!stop) {
            auto view = engine->read();
            if (!view || !(*view)->get(volume_key())->has_value()) std::abort();
        }
    });
    for (int i = 0; i < 200; ++i) {
        Batch batch;
        for (int k = 0; k < 100; ++k) batch.put("E" + std::to_string(i * 100 + k), std::string(1000, 'x'));
        REQUIRE(applied(*engine, batch));
    }
    stop = true;
    reader.join();
    CHECK(engine->figures()->file_bytes > 20'000'000);
    REQUIRE(write(go[1], "g", 1) == 1);
    CHECK(result_of(other) == 0);
    CHECK(value_of(*engine, "Eother")->size() == 3 << 20);
    engine.reset();

    rig.place.options = {{"map_limit_bytes", std::to_string(40 << 20)}};
    engine = rig.open(OpenMode::read_write);
    Batch large;
    large.put("Elarge", std::string(30 << 20, 'x'));
    const auto refused = engine->apply(large, Durability::durable);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().errno_value == ENOSPC);
    CHECK(refused.error().describe().find("map_limit_bytes") != std::string::npos);
    CHECK(value_of(*engine, "Elarge") == std::nullopt);
    Batch small; // and it goes on
    small.put("Esmall", "x");
    CHECK(applied(*engine, small, Durability::durable));
}

TEST_CASE("lmdb: a reader that was killed is cleared away, so that pages are used again") {
    MetadataRig rig("lmdb");
    auto engine = rig.create();
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    const pid_t other = start_process([&] {
        auto mine = open_metadata(rig.place, OpenMode::read_write);
        auto view = (*mine)->read();
        if (write(ready[1], "r", 1) != 1) return 2;
        pause();
        return 3;
    });
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK(engine->figures()->readers == 2); // that view, and what this process holds since it wrote
    kill(other, SIGKILL);
    CHECK(result_of(other) == 128 + SIGKILL);
    const auto figures = engine->figures();
    CHECK(figures->stale_readers == 1);
    CHECK(figures->readers == 1);
    for (int i = 0; i < 800; ++i) { // overwriting 80 MB does not grow the file
        Batch batch;
        batch.put("Ea", std::string(100'000, 'x'));
        REQUIRE(applied(*engine, batch));
    }
    CHECK(engine->figures()->file_bytes < 50'000'000);
}

TEST_CASE("lmdb: writers killed in the middle of commits leave whole batches, and all that they were told") {
    MetadataRig rig("lmdb");
    rig.create().reset();
    std::mt19937_64 random(1);
    std::uint64_t told = 0;
    for (int round = 0; round < 25; ++round) {
        int acknowledged[2];
        REQUIRE(pipe(acknowledged) == 0);
        const pid_t writer = start_process([&, first = std::uint64_t(round) * 100'000] {
            auto engine = open_metadata(rig.place, OpenMode::read_write);
            if (!engine) return 2;
            for (std::uint64_t n = first;; ++n) {
                const std::vector<Batch> batches{pair_of(2 * n), pair_of(2 * n + 1)};
                if (!(*engine)->apply(batches, n % 3 == 0 ? Durability::durable : Durability::relaxed)) return 3;
                if (write(acknowledged[1], "aa", 2) != 2) return 4;
            }
        });
        close(acknowledged[1]);
        std::size_t least = 1 + random() % 40;
        char bytes[4096];
        ssize_t got = 0;
        for (std::size_t heard = 0; heard < least && (got = read(acknowledged[0], bytes, sizeof bytes)) > 0;) {
            heard += static_cast<std::size_t>(got);
            told += static_cast<std::uint64_t>(got);
        }
        kill(writer, SIGKILL);
        CHECK(result_of(writer) == 128 + SIGKILL);
        while ((got = read(acknowledged[0], bytes, sizeof bytes)) > 0) told += static_cast<std::uint64_t>(got);
        close(acknowledged[0]);
        auto engine = rig.open(OpenMode::read_write);
        const std::size_t there = check_pairs(*engine);
        REQUIRE(there >= told);
        REQUIRE(there <= told + 2); // the call that was under way
        told = there;
    }
}

TEST_CASE("redis: killed in the middle of load and started again, every batch happened once and whole") {
    if (!RedisServer::available()) {
        WARN("redis-server is not installed: not tested here");
        return;
    }
    MetadataRig rig("redis");
    auto engine = rig.create();
    CHECK(rig.warnings.empty());
    CHECK(engine->properties().durable);
    std::atomic<std::uint64_t> next = 0, told = 0;
    std::atomic<bool> stop = false;
    std::vector<std::string> errors(3);
    std::vector<std::thread> writers;
    for (std::string& error : errors)
        writers.emplace_back([&] {
            while (!stop) {
                auto outcome = engine->apply(pair_of(next++), Durability::durable);
                if (!outcome)
                    error = outcome.error().describe();
                else if (!outcome->applied())
                    error = "a name that only one thread creates was there: its batch was carried out twice";
                else
                    ++told;
                if (!error.empty()) return;
            }
        });
    for (int round = 0; round < 4; ++round) {
        for (const std::uint64_t before = told; told < before + 100 && errors[0].empty();) poll(nullptr, 0, 5);
        rig.server.stop(SIGKILL);
        rig.server.start();
    }
    for (const std::uint64_t before = told; told < before + 100 && errors[0].empty();) poll(nullptr, 0, 5);
    stop = true;
    for (std::thread& writer : writers) writer.join();
    for (const std::string& error : errors) CHECK(error.empty());
    CHECK(check_pairs(*engine) == told);
}

} // namespace
