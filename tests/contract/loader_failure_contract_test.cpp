// What every loader model keeps when something fails or stops, over the whole table: errors with their place, nothing
// left in flight, the next epoch as if nothing had been. In virtual time.
#include "tests/support/loader_shapes.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;
using engine::Task;

namespace {

const Error kStop{.kind = ErrorKind::interrupted, .message = "the test stops", .operation = {}, .path = {}, .host = {}};

} // namespace

TEST_CASE("contract of loaders: the error of any read comes out as the batch's, with path and offset, and ends it") {
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (const char* format : {"npz", "tfrecord", "raw", "indexed_binary"})
            for (const std::uint64_t k : {1, 2, 3, 5, 8, 13}) {
                INFO(entry.name << " on " << format << ", read " << k);
                LoaderSetup setup = setup_of({"", 12, 1, 1, 2, 3, 4}, entry.name, format);
                setup.sample_bytes = 500000;
                LoaderRig rig(setup);
                Operation failed;
                rig.backend().delay_ns = read_delay;
                rig.backend().error = [&](const Operation& one) {
                    if (one.kind != IoKind::read || rig.backend().read_count != k) return 0;
                    failed = one;
                    return EIO;
                };
                const auto plan = rig.epoch();
                const auto got = rig.run_epoch(*plan, kNsPerMs);
                REQUIRE_FALSE(got[0].empty());
                REQUIRE(got[0].back().error);
                const Error& error = *got[0].back().error;
                CHECK(error.kind == ErrorKind::storage);
                CHECK(error.operation == "read");
                CHECK(error.errno_value == EIO);
                CHECK(error.path == rig.backend().display_path(failed.path));
                CHECK(error.offset == static_cast<std::int64_t>(failed.offset));
                for (std::size_t i = 0; i + 1 < got[0].size(); ++i) // those before it are whole
                    CHECK(got[0][i].id_checksum == planned_checksum(*plan, 0, i));
            }
}

TEST_CASE("contract of loaders: a file that cannot be opened, and one that is shorter than it said") {
    for (const loader::LoaderEntry& entry : loader::loaders()) {
        INFO(entry.name);
        LoaderRig rig(setup_of({"", 6, 1, 1, 1, 2, 2}, entry.name, "raw"));
        rig.backend().delay_ns = read_delay;
        const auto plan = rig.epoch();
        rig.backend().error = [&](const Operation& one) {
            if (one.kind != IoKind::open || one.path != rig.files().name(3)) return 0;
            ++rig.open_errors;
            return EACCES;
        };
        const auto denied = rig.run_epoch(*plan);
        REQUIRE(denied[0].back().error);
        CHECK(denied[0].back().error->operation == "open");
        CHECK(denied[0].back().error->errno_value == EACCES);
        CHECK(denied[0].back().error->path == rig.backend().display_path(rig.files().name(3)));

        // Cut off after it was opened.
        rig.backend().error = [&](const Operation& one) {
            if (one.kind == IoKind::read && one.path == rig.files().name(2)) rig.memory().files[one.path].resize(1000);
            return 0;
        };
        const auto cut = rig.run_epoch(*plan);
        REQUIRE(cut[0].back().error);
        CHECK(cut[0].back().error->kind == ErrorKind::storage);
        CHECK(cut[0].back().error->message.find("ends after 1000 bytes") != std::string::npos);
    }
}

TEST_CASE("contract of loaders: asking again after an error answers the error again") {
    for (const loader::LoaderEntry& entry : loader::loaders()) {
        INFO(entry.name);
        LoaderRig rig(setup_of({"", 6, 1, 1, 1, 1, 1}, entry.name, "raw"));
        rig.backend().delay_ns = read_delay;
        rig.backend().error = [](const Operation& one) { return one.kind == IoKind::read ? EIO : 0; };
        const auto plan = rig.epoch();
        rig.run([](LoaderRig& r, const EpochPlan& p) -> Task<void> {
            r.loaders[0]->start(p, 0);
            for (int i = 0; i < 3; ++i) {
                const loader::Batch batch = co_await r.loaders[0]->next();
                CHECK(batch.error);
                if (batch.error) CHECK(batch.error->errno_value == EIO);
            }
            co_await r.loaders[0]->close();
        }(rig, *plan));
    }
}

TEST_CASE("contract of loaders: stop() wakes a next() that waits, close() drains what is in flight") {
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (const char* format : {"raw", "npz", "tfrecord"}) {
            INFO(entry.name << " on " << format);
            LoaderSetup setup = setup_of({"", 24, 1, 1, 4, 3, 3}, entry.name, format);
            setup.sample_bytes = 700000;
            LoaderRig rig(setup);
            rig.backend().delay_ns = [](const Operation& one) { return one.kind == IoKind::read ? kNsPerS : 0; };
            const auto plan = rig.epoch();
            rig.run([](LoaderRig& r, const EpochPlan& p) -> Task<void> {
                r.loaders[0]->start(p, 0);
                engine::TaskGroup group(r.reactor());
                group.spawn([](LoaderRig& s) -> Task<void> {
                    const loader::Batch batch = co_await s.loaders[0]->next();
                    CHECK(batch.error);
                    if (batch.error) CHECK(batch.error->kind == ErrorKind::interrupted);
                    CHECK(s.reactor().now_ns() == 500 * kNsPerMs); // at once, not when the reads end
                }(r));
                co_await r.reactor().sleep_until(500 * kNsPerMs);
                CHECK(r.reactor().in_flight() > 0);
                r.loaders[0]->stop(kStop);
                co_await group.join();
                co_await r.loaders[0]->close();
                CHECK(r.reactor().in_flight() == 0);
                // Reads that were in flight ended; the rest of their files was not begun.
                CHECK(r.reactor().now_ns() <= kNsPerS);
                CHECK(r.backend().read_count <= 8);
            }(rig, *plan));
        }
}

TEST_CASE("contract of loaders: after stop() no batch is handed over that is not whole") {
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (const std::uint32_t threads : {0U, 2U}) {
            if (threads == 0 && entry.name != "pytorch") continue;
            for (std::uint64_t stop_ms = 1; stop_ms < 40; stop_ms += 3) {
                INFO(entry.name << ", " << threads << " threads, stop after " << stop_ms << " ms");
                LoaderRig rig(setup_of({"", 24, 1, 1, 4, threads, 2}, entry.name, "raw"));
                rig.backend().delay_ns = read_delay;
                const auto plan = rig.epoch();
                rig.run([](LoaderRig& r, const EpochPlan& p, std::uint64_t stop_ns) -> Task<void> {
                    engine::TaskGroup group(r.reactor());
                    std::vector<loader::Batch> got;
                    group.spawn(r.drive(p, 0, kNsPerMs, got));
                    co_await r.reactor().sleep_until(stop_ns);
                    r.loaders[0]->stop(kStop);
                    co_await group.join();
                    for (const loader::Batch& batch : got)
                        if (!batch.error) CHECK(batch.sample_count == p.batch_size());
                    CHECK((got.size() == p.step_count() || got.back().error));
                }(rig, *plan, stop_ms * kNsPerMs));
            }
        }
}

TEST_CASE("contract of loaders: close() at any moment, then the next epoch as if nothing had been") {
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (std::uint64_t wait_ms = 0; wait_ms < 30; wait_ms += 2) {
            INFO(entry.name << ", closed after " << wait_ms << " ms");
            LoaderSetup setup = setup_of({"", 24, 1, 1, 4, 3, 3}, entry.name, "npz");
            setup.sample_bytes = 300000;
            LoaderRig rig(setup);
            rig.backend().delay_ns = read_delay;
            const auto plan = rig.epoch();
            rig.run(start_and_wait(rig, *plan, wait_ms * kNsPerMs));
            check_batches(*plan, rig.run_epoch(*plan));
        }
}
