// The native model: the storage's best case within queue_depth reads of an accelerator.
#include "tests/support/loader_rig.hpp"

#include "harness/types/units.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;

namespace {
std::uint64_t read_delay(const Operation& one) { return one.kind == IoKind::read ? kNsPerMs : 0; }
} // namespace

TEST_CASE("native: small samples fill the queue, and never more than that") {
    const std::uint32_t depth = GENERATE(1U, 4U, 32U);
    INFO("queue depth " << depth);
    LoaderRig rig({.loader = "native", .files = 256, .batch = 8, .prefetch = 16, .queue_depth = depth});
    rig.backend().delay_ns = read_delay;
    rig.run_epoch(*rig.epoch());
    CHECK(rig.backend().most_reads_in_flight == depth);
    CHECK(rig.reactor().now_ns() == 256 / depth * kNsPerMs); // full from the first read to the last
}

TEST_CASE("native: one big file fills the queue by itself") {
    const std::string format = GENERATE("raw", "npy", "npz", "tfrecord");
    INFO(format);
    LoaderRig rig({.format = format, .loader = "native", .files = 1, .sample_bytes = 6.5e6, .queue_depth = 8});
    rig.backend().delay_ns = read_delay;
    const auto got = rig.run_epoch(*rig.epoch());
    CHECK(rig.backend().most_reads_in_flight == 8);
    CHECK_FALSE(got[0][0].error);
    CHECK(rig.backend().bytes_read == rig.file_bytes(0));
}

TEST_CASE("native: many big files stay within the queue depth, headers and bodies together") {
    const std::string format = GENERATE("raw", "npy", "npz", "tfrecord");
    INFO(format);
    LoaderRig rig({.format = format,
                   .loader = "native",
                   .files = 12,
                   .batch = 4,
                   .sample_bytes = 2e6,
                   .prefetch = 2,
                   .queue_depth = 6});
    rig.backend().delay_ns = read_delay;
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan);
    CHECK(rig.backend().most_reads_in_flight == 6);
    REQUIRE(got[0].size() == 3);
    for (std::uint64_t step = 0; step < 3; ++step) {
        CHECK_FALSE(got[0][step].error);
        CHECK(got[0][step].id_checksum == planned_checksum(*plan, 0, step));
    }
}

TEST_CASE("native: prefetch 0 reads when asked, prefetch n keeps n batches ready") {
    const std::uint32_t prefetch = GENERATE(0U, 2U);
    LoaderRig rig({.loader = "native", .files = 40, .batch = 4, .prefetch = prefetch});
    rig.backend().delay_ns = read_delay;
    const auto plan = rig.epoch();
    rig.run([](LoaderRig& r, const EpochPlan& p, std::uint64_t ahead) -> engine::Task<void> {
        r.loaders[0]->start(p, 0);
        co_await r.reactor().sleep_until(kNsPerS);
        CHECK(r.backend().read_count == ahead * 4);
        const loader::Batch batch = co_await r.loaders[0]->next();
        CHECK(batch.sample_count == 4);
        co_await r.reactor().sleep_until(2 * kNsPerS);
        CHECK(r.backend().read_count == (ahead + 1) * 4);
        co_await r.loaders[0]->close();
    }(rig, *plan, prefetch));
}

TEST_CASE("native: fewer buffers than reads asked for hold it back, and nothing hangs") {
    LoaderRig rig({.format = "npz",
                   .loader = "native",
                   .files = 6,
                   .accelerators = 2,
                   .batch = 1,
                   .sample_bytes = 3e6,
                   .prefetch = 3,
                   .queue_depth = 16,
                   .buffers = 3});
    rig.backend().delay_ns = read_delay;
    const auto got = rig.run_epoch(*rig.epoch());
    CHECK(rig.backend().most_reads_in_flight == 3);
    for (const auto& one : got)
        for (const loader::Batch& batch : one) CHECK_FALSE(batch.error);
}
