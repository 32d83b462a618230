#include "harness/dataset/epoch_planner.hpp"

#include "epoch_ids.hpp"
#include "harness/types/random.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

EpochRequest random_request(Random& random) {
    EpochRequest r;
    r.file_count = 1 + random.below(random.below(2) ? 40 : 400);
    r.samples_per_file = 1 + static_cast<std::uint32_t>(random.below(random.below(2) ? 1 : 12));
    r.accelerator_count = 1 + static_cast<std::uint32_t>(random.below(9));
    r.batch_size = 1 + static_cast<std::uint32_t>(random.below(20));
    r.file_shuffle = static_cast<Shuffle>(random.below(3));
    r.sample_shuffle = static_cast<Shuffle>(random.below(3));
    r.seed = random.next();
    r.seed_change_epoch = random.below(4) != 0;
    r.epoch_index = static_cast<std::uint32_t>(random.below(20));
    r.cycle_length = 1 + static_cast<std::uint32_t>(random.below(9));
    return r;
}

} // namespace

TEST_CASE(
    "any plan of file shards: at most once, whole files, and sample() agrees with reading the files side by side") {
    Random random(2);
    int planned = 0, remainders = 0, moved = 0;
    for (int round = 0; round < 3000; ++round) {
        EpochRequest request = random_request(random);
        const std::uint64_t files_at_most = request.file_count / request.accelerator_count;
        const std::uint64_t steps = files_at_most * request.samples_per_file / request.batch_size;
        const auto answer = plan_file_shards(request);
        REQUIRE(answer.has_value() == (steps > 0));
        if (!answer) continue;
        ++planned;
        const FileShardPlan& plan = **answer;
        CAPTURE(request.file_count, request.samples_per_file, request.accelerator_count, request.batch_size,
                request.cycle_length);
        REQUIRE(plan.step_count() == steps);
        const auto dropped = dropped_of(plan, request);
        REQUIRE(plan.dropped_sample_count() == dropped.size());
        std::set<std::uint64_t> opened;
        for (std::uint32_t a = 0; a < request.accelerator_count; ++a) {
            REQUIRE(plan.file_count(a) <= files_at_most);
            Ids side_by_side; // cycle_length files, one record of each in turn
            for (std::uint64_t first = 0; first < plan.file_count(a); first += plan.cycle_length())
                for (std::uint32_t record = 0; record < plan.samples_per_file(); ++record)
                    for (std::uint64_t i = first; i < std::min(first + plan.cycle_length(), plan.file_count(a)); ++i)
                        side_by_side.push_back(plan.file(a, i) * request.samples_per_file + record);
            for (std::uint64_t i = 0; i < plan.file_count(a); ++i) REQUIRE(opened.insert(plan.file(a, i)).second);
            const std::uint64_t used = steps * request.batch_size;
            REQUIRE(side_by_side.size() - used < request.samples_per_file); // no file is opened for nothing
            side_by_side.resize(used);
            REQUIRE(ids_of(plan, request, a) == side_by_side);
        }
        ++request.epoch_index;
        const bool whole_files_left = opened.size() < request.file_count;
        if (dropped.empty() || (!whole_files_left && request.file_shuffle == Shuffle::off)) continue;
        ++remainders;
        moved += dropped_of(*shards(request), request) != dropped;
    }
    CHECK(planned > 1000);
    // A shuffled order of a handful of files may end alike twice; a remainder of whole files never does.
    CHECK(moved > remainders * 95 / 100);
}

TEST_CASE("any plan of samples: at most once, used + dropped = all, equal steps, another remainder in the next epoch") {
    Random random(1);
    int planned = 0;
    for (int round = 0; round < 3000; ++round) {
        EpochRequest request = random_request(random);
        const std::uint64_t all = request.file_count * request.samples_per_file;
        const std::uint64_t per_step = std::uint64_t{request.accelerator_count} * request.batch_size;
        const auto plan = plan_samples(request);
        REQUIRE(plan.has_value() == (all >= per_step));
        if (!plan) continue;
        ++planned;
        CAPTURE(request.file_count, request.samples_per_file, request.accelerator_count, request.batch_size,
                request.epoch_index, request.seed);
        const auto dropped = dropped_of(**plan, request);
        REQUIRE((*plan)->step_count() == all / per_step);
        REQUIRE(dropped.size() == all % per_step);
        REQUIRE((*plan)->dropped_sample_count() == dropped.size());
        const bool off = request.file_shuffle == Shuffle::off && request.sample_shuffle == Shuffle::off;
        const Ids ids = ids_of(**plan, request);
        if (off) REQUIRE(std::is_sorted(ids.begin(), ids.end()));
        REQUIRE(ids_of(*samples(request), request) == ids);
        ++request.epoch_index;
        if (!dropped.empty()) REQUIRE(dropped_of(*samples(request), request) != dropped);
    }
    CHECK(planned > 1000);
}

TEST_CASE("whole files left over by the file-sharded plan are others in every epoch") {
    EpochRequest request{.file_count = 27, .samples_per_file = 4, .accelerator_count = 4, .batch_size = 8};
    for (const Shuffle shuffle : {Shuffle::off, Shuffle::seed}) {
        request.file_shuffle = shuffle;
        std::set<std::set<std::uint64_t>> seen;
        for (request.epoch_index = 0; request.epoch_index < 9; ++request.epoch_index)
            seen.insert(dropped_of(*shards(request), request));
        CHECK(seen.size() == 9);
    }
}

TEST_CASE("the checksum of a plan is the same however accelerators are split over ranks, and tells a wrong sample") {
    EpochRequest request{.file_count = 64, .samples_per_file = 2, .accelerator_count = 6, .batch_size = 5};
    request.sample_shuffle = Shuffle::seed;
    const auto plan = samples(request);
    const EpochChecksum whole = epoch_checksum(*plan, {0, 6});
    EpochChecksum parts = epoch_checksum(*plan, {0, 1});
    parts.merge(epoch_checksum(*plan, {1, 3}));
    parts.merge(epoch_checksum(*plan, {4, 2}));
    CHECK(whole == parts);
    CHECK(whole.sample_count == plan->step_count() * 6 * 5);
    EpochChecksum read; // backwards, with one sample twice instead of another
    Ids ids = ids_of(*plan, request);
    std::reverse(ids.begin(), ids.end());
    for (const std::uint64_t id : ids) read.add({id / 2, static_cast<std::uint32_t>(id % 2)});
    CHECK(read == whole);
    ids[3] = ids[4];
    EpochChecksum wrong;
    for (const std::uint64_t id : ids) wrong.add({id / 2, static_cast<std::uint32_t>(id % 2)});
    CHECK(wrong.sample_count == whole.sample_count);
    CHECK_FALSE(wrong == whole);
    CHECK(epoch_checksum(*plan, {0, 6}, 2).sample_count == 2 * 6 * 5);
}

TEST_CASE("P10: 64 million files: the plan is a few hundred bytes, and a sample anywhere is found at once") {
    EpochRequest request{
        .file_count = 64'000'000, .samples_per_file = 1251, .accelerator_count = 1000, .batch_size = 400};
    request.sample_shuffle = Shuffle::seed;
    const auto plan = samples(request);
    CHECK(plan->step_count() == 64'000'000ULL * 1251 / 400'000);
    std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
    for (std::uint32_t a = 0; a < 1000; a += 111)
        for (std::uint64_t step = 0; step < plan->step_count(); step += plan->step_count() / 50) {
            const SampleRef ref = plan->sample(a, step, 399);
            CHECK(ref.file_index < 64'000'000);
            CHECK(seen.insert({ref.file_index, ref.sample_index}).second);
        }
}
