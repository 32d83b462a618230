// What every loader model keeps, over the whole table: each sample once, batches in order, errors with their place,
// nothing left in flight. In virtual time.
#include "tests/support/loader_rig.hpp"

#include <sys/resource.h>

#include "harness/types/units.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;
using engine::Task;

namespace {

std::uint64_t read_delay(const Operation& one) {
    // Uneven, so that reads overtake each other.
    return one.kind == IoKind::read ? kNsPerMs * (1 + mix64(std::hash<std::string>{}(one.path) + one.offset) % 5) : 0;
}

struct Shape {
    const char* name;
    std::uint64_t files;
    std::uint32_t samples_per_file, accelerators, batch, threads, prefetch;
};

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all{
        {"P1", 168, 1, 4, 7, 4, 2},  {"P2", 168, 1, 5, 7, 4, 2},    {"P3", 145, 1, 3, 16, 2, 0},
        {"P5", 8, 4, 2, 4, 2, 2},    {"P7", 200, 1, 25, 1, 2, 1},   {"P13", 8, 4, 1, 4, 8, 2},
        {"one", 1, 1, 1, 1, 1, 0},   {"threads", 6, 2, 2, 3, 9, 5}, {"wide", 16, 1, 16, 1, 1, 1},
        {"long", 30, 7, 3, 5, 3, 4}, {"still", 24, 1, 2, 3, 1, 0},
    };
    return all;
}

LoaderSetup setup_of(const Shape& shape, std::string_view loader, std::string_view format) {
    LoaderSetup setup;
    setup.format = format;
    setup.loader = loader;
    setup.files = shape.files;
    setup.samples_per_file = shape.samples_per_file;
    setup.accelerators = shape.accelerators;
    setup.batch = shape.batch;
    setup.read_threads = shape.threads;
    setup.prefetch = shape.prefetch;
    setup.queue_depth = 8;
    setup.sample_bytes = 3000;
    return setup;
}

using SampleId = std::pair<std::uint64_t, std::uint32_t>;

// What the plan says is each sample at most once, and with the dropped ones it is all of them.
void check_plan(const EpochPlan& plan, const LoaderSetup& setup) {
    std::set<SampleId> ids;
    for (std::uint32_t a = 0; a < plan.accelerator_count(); ++a)
        for (std::uint64_t step = 0; step < plan.step_count(); ++step)
            for (std::uint32_t position = 0; position < plan.batch_size(); ++position) {
                const SampleRef sample = plan.sample(a, step, position);
                CHECK(ids.emplace(sample.file_index, sample.sample_index).second);
            }
    CHECK(ids.size() + plan.dropped_sample_count() == setup.files * setup.samples_per_file);
}

void check_batches(const EpochPlan& plan, const std::vector<std::vector<loader::Batch>>& got) {
    REQUIRE(got.size() == plan.accelerator_count());
    for (std::uint32_t a = 0; a < got.size(); ++a) {
        REQUIRE(got[a].size() == plan.step_count());
        for (std::uint64_t step = 0; step < plan.step_count(); ++step) {
            const loader::Batch& batch = got[a][step];
            INFO("accelerator " << a << ", step " << step);
            if (batch.error) FAIL(batch.error->describe());
            CHECK(batch.sample_count == plan.batch_size());
            CHECK(batch.id_checksum == planned_checksum(plan, a, step)); // in order
            CHECK(batch.ready_ns >= batch.complete_ns);
        }
    }
}

const Error kStop{.kind = ErrorKind::interrupted, .message = "the test stops", .operation = {}, .path = {}, .host = {}};

} // namespace

TEST_CASE("contract of loaders: every sample once an epoch, batches in order, whatever the shape and format") {
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (const formats::Format* format : formats::all_formats())
            for (const Shape& shape : shapes()) {
                INFO(entry.name << " on " << format->name() << ", " << shape.name);
                LoaderSetup setup = setup_of(shape, entry.name, format->name());
                setup.file_shuffle = setup.sample_shuffle = Shuffle::seed;
                LoaderRig rig(setup);
                rig.backend().delay_ns = read_delay;
                std::uint64_t bytes = 0, samples = 0;
                for (std::uint32_t index = 0; index < 3; ++index) {
                    const auto plan = rig.epoch(index);
                    check_plan(*plan, setup);
                    const auto got = rig.run_epoch(*plan, index * kNsPerMs);
                    check_batches(*plan, got);
                    for (const auto& batches : got)
                        for (const loader::Batch& batch : batches) bytes += batch.bytes_delivered;
                    samples += plan->step_count() * plan->batch_size() * setup.accelerators;
                }
                CHECK(rig.counters().samples == samples);
                // A batch counts what was delivered for it; what was read beyond the last batch counts for nobody.
                CHECK(bytes <= rig.counters().bytes);
                CHECK(bytes >= samples * 2900);
                CHECK(rig.counters().bytes == rig.backend().bytes_read);
            }
}

TEST_CASE("contract of loaders: with both shuffles three epochs have three orders, the same again with the same seed "
          "(case P12)") {
    for (const loader::LoaderEntry& entry : loader::loaders()) {
        INFO(entry.name);
        const auto orders = [&entry](std::uint64_t seed) {
            LoaderSetup setup = setup_of({"", 16, 4, 2, 4, 2, 2}, entry.name, "raw");
            setup.file_shuffle = setup.sample_shuffle = Shuffle::seed;
            setup.seed = seed;
            LoaderRig rig(setup);
            std::vector<std::vector<std::uint64_t>> all;
            for (std::uint32_t index = 0; index < 3; ++index) {
                all.emplace_back();
                for (const auto& batches : rig.run_epoch(*rig.epoch(index)))
                    for (const loader::Batch& batch : batches) all.back().push_back(batch.id_checksum);
            }
            return all;
        };
        const auto once = orders(5), again = orders(5), other = orders(6);
        CHECK(once == again);
        CHECK(once != other);
        CHECK(once[0] != once[1]);
        CHECK(once[1] != once[2]);
        CHECK(once[0] != once[2]);
    }
}

TEST_CASE("contract of loaders: the error of any read comes out as the batch's, with path and offset, and ends it") {
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (const char* format : {"npz", "tfrecord", "raw"})
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

TEST_CASE("contract of loaders: a million steps do not grow the memory") {
    for (const loader::LoaderEntry& entry : loader::loaders()) {
        INFO(entry.name);
        LoaderSetup setup = setup_of({"", 1000000, 1, 1, 1, 2, 2}, entry.name, "raw");
        setup.has_content = false;
        LoaderRig rig(setup);
        rig.backend().keeps_operations = false;
        const auto plan = rig.epoch();
        REQUIRE(plan->step_count() == 1000000);
        rusage before{}, after{};
        getrusage(RUSAGE_SELF, &before);
        rig.run([](LoaderRig& r, const EpochPlan& p) -> Task<void> {
            r.loaders[0]->start(p, 0);
            std::uint64_t sum = 0, expected = 0;
            for (std::uint64_t step = 0; step < p.step_count(); ++step) {
                const loader::Batch batch = co_await r.loaders[0]->next();
                sum += batch.id_checksum;
                expected += sample_id_fingerprint(p.sample(0, step, 0));
            }
            co_await r.loaders[0]->close();
            CHECK(sum == expected);
        }(rig, *plan));
        getrusage(RUSAGE_SELF, &after);
        CHECK(rig.counters().samples == 1000000);
#if !defined(__SANITIZE_ADDRESS__)                             // which keeps what was freed
        CHECK(after.ru_maxrss - before.ru_maxrss < 16 * 1024); // KiB
#endif
    }
}
