// Memory that does not grow with files and steps. [long]: on the release build alone, for a sanitizer's heap keeps what
// was freed and does not tell what is in use.
#include <malloc.h>

#include "harness/types/units.hpp"
#include "tests/support/loader_shapes.hpp"
#include "tests/support/training_setup.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace

TEST_CASE("contract of loaders: a million steps do not grow the memory", "[long]") {
    constexpr std::uint64_t kSteps = 1'000'000;
    for (const loader::LoaderEntry& entry : loader::loaders()) {
        INFO(entry.name);
        LoaderSetup setup = setup_of({"", kSteps, 1, 1, 1, 2, 2}, entry.name, "raw");
        setup.has_content = false;
        LoaderRig rig(setup);
        rig.backend().keeps_operations = false;
        const auto plan = rig.epoch();
        REQUIRE(plan->step_count() == kSteps);
        rig.run([](LoaderRig& r, const EpochPlan& p) -> engine::Task<void> {
            r.loaders[0]->start(p, 0);
            std::uint64_t sum = 0, expected = 0;
            std::size_t early = 0, most = 0;
            for (std::uint64_t step = 0; step < p.step_count(); ++step) {
                const loader::Batch batch = co_await r.loaders[0]->next();
                sum += batch.id_checksum;
                expected += sample_id_fingerprint(p.sample(0, step, 0));
                if (step == kSteps / 100) early = heap_bytes();
                if (step % 1000 == 999) most = std::max(most, heap_bytes());
            }
            co_await r.loaders[0]->close();
            CHECK(sum == expected);
            CHECK(early > 0);
            CHECK(most < early + 256 * 1024);
        }(rig, *plan));
        CHECK(rig.counters().samples == kSteps);
    }
}

TEST_CASE("case P10: the plan of 64 million files takes no memory to speak of", "[long]") {
    const double stdev = GENERATE(0.0, 20000.0);
    INFO("stdev " << stdev);
    Workload workload = shipped_profile("cosmoflow_h100");
    workload.dataset.num_files_train = 64000000;
    workload.dataset.num_subfolders_train = 10;
    workload.dataset.record_length_bytes = 114660;
    workload.dataset.record_length_bytes_stdev = stdev;
    workload.reader.file_shuffle = Shuffle::seed;
    TrainingSetup setup(workload, 8, {8});
    const std::size_t before = heap_bytes();
    const auto plan = setup.plan();
    REQUIRE(plan);
    const auto epoch = workloads::make_epoch_plan(setup.request, *plan, plan->train, 3);
    REQUIRE(epoch);
    std::string name;
    std::uint64_t length = 0;
    for (std::uint64_t step = 0; step < 100000; ++step) {
        plan->train.files->name((*epoch)->sample(0, step, 0).file_index, name);
        length += name.size();
    }
    CHECK(length == 100000 * name.size());   // zero padded: all of one length
    CHECK(heap_bytes() - before < 8 * kMiB); // a rank; of a node's 64 MiB
    CHECK((*epoch)->step_count() == 8000000);
}
