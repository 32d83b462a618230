// What metric.instrumentation costs a read, counted in looks at the clock: in real time they are most of it.
#include "harness/types/units.hpp"
#include "tests/support/loader_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

// Virtual time that is counted when somebody looks.
class CountingClock final : public engine::Clock {
  public:
    explicit CountingClock(std::uint64_t& looks) : looks_(looks) {}
    std::uint64_t now_ns() const override {
        ++looks_;
        return now_ns_;
    }
    bool is_virtual() const override { return true; }
    std::uint64_t spin_window_ns() const override { return 0; }
    void wait_until(std::uint64_t time_ns) override { now_ns_ = std::max(now_ns_, time_ns); }

  private:
    std::uint64_t& looks_;
    std::uint64_t now_ns_ = 0;
};

std::uint64_t each_read_takes_a_ms(const Operation& one) { return one.kind == engine::IoKind::read ? kNsPerMs : 0; }

struct Epoch {
    std::uint64_t looks = 0, reads = 0, in_flight_ns = 0, sample_count = 0;
};

Epoch looks_of_epoch(LoaderSetup setup, bool is_detailed) {
    setup.is_detailed = is_detailed;
    Epoch epoch;
    LoaderRig rig(setup, std::make_unique<CountingClock>(epoch.looks));
    rig.backend().delay_ns = each_read_takes_a_ms;
    const auto plan = rig.epoch();
    epoch.looks = 0;
    const auto got = rig.run_epoch(*plan);
    for (const loader::Batch& batch : got[0]) {
        CHECK(!batch.error);
        epoch.reads += batch.read_count;
    }
    epoch.in_flight_ns = rig.counters().epoch.in_flight_ns;
    epoch.sample_count = rig.counters().epoch.sample_read_latency.count();
    return epoch;
}

} // namespace

TEST_CASE("a sample's reads, one after another, are measured without a look at the clock more than without measuring") {
    LoaderSetup setup;
    setup.files = 4;
    setup.format = GENERATE("raw", "npz");
    setup.sample_bytes = 64 * 4096;
    setup.transfer_size = 4096;
    INFO(setup.format);
    const Epoch full = looks_of_epoch(setup, true), none = looks_of_epoch(setup, false);
    REQUIRE(full.reads == none.reads);
    CHECK(full.reads >= setup.files * 64);
    CHECK(full.in_flight_ns == full.reads * kNsPerMs);
    CHECK(full.sample_count == setup.files);
    CHECK(none.in_flight_ns == 0);
    CHECK(full.looks <= none.looks + 2 * setup.files); // a sample's last check has no read after it
}
