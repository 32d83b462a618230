// The tensorflow model asks the storage for what tf.data asks: sequences pinned.
#include "tests/support/loader_rig.hpp"

#include "harness/types/units.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;

namespace {

std::uint64_t read_delay(const Operation& one) { return one.kind == IoKind::read ? kNsPerMs : 0; }

LoaderSetup tfrecord(std::uint64_t files, std::uint32_t samples_per_file) {
    LoaderSetup setup;
    setup.format = "tfrecord";
    setup.loader = "tensorflow";
    setup.files = files;
    setup.samples_per_file = samples_per_file;
    return setup;
}

} // namespace

TEST_CASE("tensorflow: files are sharded i mod A; every accelerator opens its own only, all bytes once (case P7)") {
    LoaderSetup setup = tfrecord(200, 1);
    setup.accelerators = 25;
    setup.read_threads = 2;
    LoaderRig rig(setup);
    const auto plan = rig.epoch();
    std::uint64_t dataset_bytes = 0;
    for (std::uint64_t file = 0; file < 200; ++file) dataset_bytes += rig.file_bytes(file);
    for (std::uint32_t a = 0; a < 25; ++a) {
        rig.backend().operations.clear();
        std::vector<loader::Batch> got;
        rig.run(rig.drive(*plan, a, 0, got));
        std::set<std::string> opened, own;
        for (const Operation& one : rig.backend().of_kind(IoKind::open)) opened.insert(one.path);
        for (std::uint64_t file = a; file < 200; file += 25) own.insert(rig.files().name(file));
        CHECK(opened == own);
        CHECK(rig.backend().of_kind(IoKind::open).size() == 8);
    }
    CHECK(rig.backend().bytes_read == dataset_bytes);
}

TEST_CASE("tensorflow: a file is read front to back in pieces of the transfer size, whatever the record borders") {
    LoaderSetup setup = tfrecord(1, 5);
    setup.sample_bytes = 100000;
    setup.prefetch = 5;
    LoaderRig rig(setup);
    rig.backend().delay_ns = read_delay;
    rig.run_epoch(*rig.epoch());
    const std::uint64_t size = rig.file_bytes(0);
    REQUIRE(size > 262144);
    REQUIRE(size < 2 * 262144);
    CHECK(extents_of(rig.backend().reads()) ==
          std::vector<std::string>{"0+262144", "262144+" + std::to_string(size - 262144)});
    CHECK(rig.backend().most_in_flight == 1);
}

TEST_CASE("tensorflow: read_threads files are read side by side, the next one when one of them has ended") {
    LoaderSetup setup = tfrecord(6, 4);
    setup.sample_bytes = 100000; // two pieces a file
    setup.read_threads = 3;
    setup.prefetch = 24;
    LoaderRig rig(setup);
    rig.backend().delay_ns = read_delay;
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan);
    std::vector<std::pair<std::uint64_t, std::string>> reads, expected;
    for (const Operation& one : rig.backend().reads()) reads.emplace_back(one.submit_ns / kNsPerMs, one.path);
    for (std::uint64_t first : {0, 3})
        for (std::uint64_t piece = 0; piece < 2; ++piece)
            for (std::uint64_t file = first; file < first + 3; ++file)
                expected.emplace_back(first / 3 * 2 + piece, rig.files().name(file));
    CHECK(reads == expected);
    CHECK(rig.backend().most_in_flight == 3);
    REQUIRE(got[0].size() == 24);
    for (std::uint64_t step = 0; step < 24; ++step) CHECK(got[0][step].id_checksum == planned_checksum(*plan, 0, step));
}

TEST_CASE("tensorflow: prefetch n keeps n batches ready, prefetch 0 none") {
    const std::uint32_t prefetch = GENERATE(0U, 1U, 3U);
    LoaderSetup setup = tfrecord(40, 1);
    setup.batch = 2;
    setup.prefetch = prefetch;
    LoaderRig rig(setup);
    rig.backend().delay_ns = read_delay;
    const auto plan = rig.epoch();
    INFO("prefetch " << prefetch);
    rig.run([](LoaderRig& r, const EpochPlan& p, std::uint64_t ahead) -> engine::Task<void> {
        r.loaders[0]->start(p, 0);
        co_await r.reactor().sleep_until(kNsPerS);
        CHECK(r.backend().read_count == ahead * 2);
        for (std::uint64_t taken = 1; taken <= 4; ++taken) {
            const loader::Batch batch = co_await r.loaders[0]->next();
            CHECK(!batch.error);
            co_await r.reactor().sleep_until(r.reactor().now_ns() + kNsPerS);
            CHECK(r.backend().read_count == (taken + ahead) * 2);
        }
        co_await r.loaders[0]->close();
    }(rig, *plan, prefetch));
}

TEST_CASE("tensorflow: a shuffle fills its buffer before the first batch comes out") {
    LoaderSetup setup = tfrecord(40, 1);
    setup.batch = 2;
    setup.prefetch = 0;
    setup.sample_shuffle = Shuffle::seed;
    setup.shuffle_size = 10;
    LoaderRig rig(setup);
    rig.backend().delay_ns = read_delay;
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan, 100 * kNsPerMs);
    REQUIRE(got[0].size() == 20);
    CHECK(got[0][0].ready_ns == 12 * kNsPerMs); // 10 records of the buffer and the batch's own 2
    CHECK(got[0][1].ready_ns == (12 + 100 + 2) * kNsPerMs);
    // The records that fill the buffer belong to later batches; the first one waited for the storage all the same.
    CHECK(got[0][0].storage_wait_ns == 12 * kNsPerMs);
    CHECK(got[0][1].storage_wait_ns == 2 * kNsPerMs);
    CHECK(rig.backend().read_count == 40);
}

TEST_CASE("tensorflow: the part of a file that an epoch does not need is not read") {
    LoaderSetup setup = tfrecord(2, 10);
    setup.accelerators = 2;
    setup.batch = 3; // 9 of the 10 records of each accelerator's file
    setup.sample_bytes = 300000;
    LoaderRig rig(setup);
    const auto plan = rig.epoch();
    CHECK(plan->dropped_sample_count() == 2);
    rig.run_epoch(*plan);
    CHECK(rig.backend().bytes_read < rig.file_bytes(0) + rig.file_bytes(1));
    CHECK(rig.backend().bytes_read >= 2 * 9 * 299000);
}
