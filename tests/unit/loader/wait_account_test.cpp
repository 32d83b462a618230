// The storage's part of a wait.
#include "harness/loader/wait_account.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "harness/types/random.hpp"
#include "harness/types/units.hpp"
#include "tests/support/loader_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;
using loader::WaitAccount;

TEST_CASE("the worked example: overlaps count once, later batches not at all") {
    WaitAccount wait;
    wait.begin(0, 8);
    wait.count(7, 10, 40);
    wait.count(7, 30, 50);
    wait.count(8, 0, 100); // a later batch's
    wait.count(7, 60, 70);
    CHECK(wait.end(100) == 50);
    wait.count(7, 100, 200); // nobody waits any more
    wait.begin(300, 9);
    CHECK(wait.end(310) == 0);
}

TEST_CASE("only the part of an operation that lies within the wait counts") {
    WaitAccount wait;
    wait.begin(100, 1);
    wait.count(0, 20, 130); // was under way when the accelerator asked
    wait.count(0, 90, 95);  // and this one was over
    CHECK(wait.end(150) == 30);
    wait.begin(200, 1);
    wait.count(0, 190, 500);
    CHECK(wait.end(250) == 50);
}

TEST_CASE("any overlap of operations that end in order adds up to what was covered") {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        struct Operation {
            std::uint64_t submit, complete;
        };
        std::vector<Operation> operations;
        const int lanes = 1 + static_cast<int>(random.uniform() * 6);
        for (int lane = 0; lane < lanes; ++lane) // each one operation after another, with pauses
            for (std::uint64_t now = 0; now < 2000;) {
                const auto pause = static_cast<std::uint64_t>(random.uniform() * 40);
                const auto length = 1 + static_cast<std::uint64_t>(random.uniform() * 30);
                operations.push_back({now + pause, now + pause + length});
                now += pause + length;
            }
        std::sort(operations.begin(), operations.end(),
                  [](const Operation& a, const Operation& b) { return a.complete < b.complete; });
        const auto asked = static_cast<std::uint64_t>(random.uniform() * 500);
        std::vector<bool> covered(2100);
        WaitAccount wait;
        wait.begin(asked, 1);
        for (const Operation& one : operations) {
            wait.count(0, one.submit, one.complete);
            for (std::uint64_t t = one.submit; t < one.complete; ++t) covered[t] = true;
        }
        const auto expected = static_cast<std::uint64_t>(
            std::count(covered.begin() + static_cast<int>(asked), covered.begin() + 2000, true));
        CHECK(wait.end(2000) == expected);
    }
}

namespace {
std::uint64_t reads_take_a_ms(const Operation& one) { return one.kind == engine::IoKind::read ? kNsPerMs : 0; }
} // namespace

TEST_CASE("waiting for a landing buffer that another accelerator holds is the client's") {
    LoaderSetup setup;
    setup.loader = GENERATE("pytorch", "native");
    setup.files = 2;
    setup.accelerators = 2;
    setup.buffers = 1;
    INFO(setup.loader);
    LoaderRig rig(setup);
    rig.backend().delay_ns = reads_take_a_ms;
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan);
    CHECK(got[0][0].ready_ns == kNsPerMs);
    CHECK(got[0][0].storage_wait_ns == kNsPerMs);
    CHECK(got[1][0].ready_ns == 2 * kNsPerMs); // one after the other, for want of a second buffer
    CHECK(got[1][0].storage_wait_ns == kNsPerMs);
    CHECK(rig.counters().epoch.buffer_wait_ns == kNsPerMs);
    CHECK(rig.counters().epoch.in_flight_ns == 2 * kNsPerMs);
    CHECK(rig.counters().epoch.client_queue_ns == 0);
    CHECK(rig.counters().epoch.time_to_first_byte.count() == 2);
    CHECK(rig.counters().epoch.sample_read_latency.count() == 2);
}

TEST_CASE("a read that may not begin because the queue depth is used up waits for the storage") {
    LoaderSetup setup;
    setup.loader = "native";
    setup.files = 4;
    setup.queue_depth = 2;
    setup.prefetch = 1;
    setup.transfer_size = 4096;
    setup.sample_bytes = 16384;
    LoaderRig rig(setup);
    rig.backend().delay_ns = reads_take_a_ms;
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan);
    CHECK(rig.backend().most_reads_in_flight == 2);
    std::uint64_t before = 0;
    for (const loader::Batch& batch : got[0]) { // it thinks no time: all of the run is waiting
        CHECK(batch.storage_wait_ns == batch.ready_ns - std::min(before, batch.ready_ns));
        before = std::max(before, batch.ready_ns);
    }
    CHECK(before == 8 * kNsPerMs); // 16 reads, two at a time
    CHECK(rig.counters().epoch.in_flight_ns == 16 * kNsPerMs);
}

TEST_CASE("answers that come within the call are nobody's wait for the storage") {
    LoaderSetup setup;
    setup.loader = GENERATE("pytorch", "tensorflow", "native");
    setup.format = setup.loader == "tensorflow" ? "tfrecord" : "raw";
    setup.files = 8;
    setup.has_content = false;
    LoaderRig rig(setup);
    const auto plan = rig.epoch();
    const auto got = rig.run_epoch(*plan);
    for (const loader::Batch& batch : got[0]) CHECK(batch.storage_wait_ns == 0);
    CHECK(rig.counters().epoch.in_flight_ns == 0);
    CHECK(rig.counters().epoch.time_to_first_byte.count() == 8);
}
