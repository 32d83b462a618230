// What every loader model keeps, over the whole table: each sample once, batches in order. In virtual time. That its
// memory does not grow: tests/sim/memory_test.cpp.
#include "tests/support/loader_shapes.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::Task;

namespace {

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all{
        {"P1", 168, 1, 4, 7, 4, 2},  {"P2", 168, 1, 5, 7, 4, 2},    {"P3", 145, 1, 3, 16, 2, 0},
        {"P5", 8, 4, 2, 4, 2, 2},    {"P7", 200, 1, 25, 1, 2, 1},   {"P13", 8, 4, 1, 4, 8, 2},
        {"one", 1, 1, 1, 1, 1, 0},   {"threads", 6, 2, 2, 3, 9, 5}, {"wide", 16, 1, 16, 1, 1, 1},
        {"long", 30, 7, 3, 5, 3, 4}, {"still", 24, 1, 2, 3, 1, 0},
    };
    return all;
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

} // namespace

TEST_CASE("contract of loaders: every sample once an epoch, batches in order, whatever the shape and format") {
    // Shapes are the loaders' affair more than the formats': with the first few formats all, with each of the others a
    // third.
    constexpr std::size_t kAllShapes = 4;
    const auto all = formats::all_formats();
    for (const loader::LoaderEntry& entry : loader::loaders())
        for (std::size_t at = 0; at < all.size(); ++at)
            for (std::size_t turn = at; const Shape& shape : shapes()) {
                if (turn++ % 3 != 0 && at >= kAllShapes) continue;
                const formats::Format* const format = all[at];
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
                CHECK(bytes >= samples * (format->shows_payload() ? 2900 : 1500)); // lossy: smaller
                // A format that looks for its columns reads a tail that is no part of any sample: it does not count.
                const std::uint64_t tails = format->is_kept_open() ? rig.backend().open_count * 65536 : 0;
                CHECK(rig.counters().bytes <= rig.backend().bytes_read);
                CHECK(rig.counters().bytes + tails >= rig.backend().bytes_read);
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
