#include "harness/dataset/epoch_planner.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/types/random.hpp"

using namespace feedbench;
using namespace feedbench::dataset;

namespace {

using Ids = std::vector<std::uint64_t>; // file * samples_per_file + sample, in the order of reading

std::unique_ptr<EpochPlan> samples(const EpochRequest& request) {
    auto plan = plan_samples(request);
    INFO((plan ? std::string() : plan.error().describe()));
    REQUIRE(plan);
    return std::move(*plan);
}

std::unique_ptr<FileShardPlan> shards(const EpochRequest& request) {
    auto plan = plan_file_shards(request);
    INFO((plan ? std::string() : plan.error().describe()));
    REQUIRE(plan);
    return std::move(*plan);
}

Ids ids_of(const EpochPlan& plan, const EpochRequest& request, std::uint32_t accelerator) {
    Ids ids;
    for (std::uint64_t step = 0; step < plan.step_count(); ++step)
        for (std::uint32_t position = 0; position < plan.batch_size(); ++position) {
            const SampleRef ref = plan.sample(accelerator, step, position);
            if (ref.file_index >= request.file_count || ref.sample_index >= request.samples_per_file)
                FAIL("sample outside the dataset: file " << ref.file_index << ", sample " << ref.sample_index);
            ids.push_back(ref.file_index * request.samples_per_file + ref.sample_index);
        }
    return ids;
}

Ids ids_of(const EpochPlan& plan, const EpochRequest& request) {
    Ids all;
    for (std::uint32_t a = 0; a < plan.accelerator_count(); ++a) {
        const Ids ids = ids_of(plan, request, a);
        all.insert(all.end(), ids.begin(), ids.end());
    }
    return all;
}

std::set<std::uint64_t> dropped_of(const EpochPlan& plan, const EpochRequest& request) {
    std::vector<bool> used(request.file_count * request.samples_per_file);
    for (const std::uint64_t id : ids_of(plan, request)) {
        if (used[id]) FAIL("sample " << id << " is read twice");
        used[id] = true;
    }
    std::set<std::uint64_t> dropped;
    for (std::uint64_t id = 0; id < used.size(); ++id)
        if (!used[id]) dropped.insert(id);
    return dropped;
}

std::string refusal(const Expected<std::unique_ptr<EpochPlan>>& plan) {
    REQUIRE_FALSE(plan);
    CHECK(plan.error().kind == ErrorKind::config);
    return plan.error().message;
}

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

TEST_CASE("P1: 168 files, 4 accelerators, batch 7: 6 steps, 0 dropped") {
    const EpochRequest request{.file_count = 168, .accelerator_count = 4, .batch_size = 7};
    CHECK(samples(request)->step_count() == 6);
    CHECK(samples(request)->dropped_sample_count() == 0);
    CHECK(dropped_of(*samples(request), request).empty());
}

TEST_CASE("P2: 168 files, 5 accelerators, batch 7: 4 steps, 28 dropped, another 28 in the next epoch") {
    for (const Shuffle shuffle : {Shuffle::off, Shuffle::seed}) {
        for (const bool change : {true, false}) {
            EpochRequest request{.file_count = 168, .accelerator_count = 5, .batch_size = 7, .seed = 42};
            request.file_shuffle = request.sample_shuffle = shuffle;
            request.seed_change_epoch = change;
            std::set<std::uint64_t> ever;
            for (request.epoch_index = 0; request.epoch_index < 6; ++request.epoch_index) { // 6 x 28 = all of them
                const auto plan = samples(request);
                CHECK(plan->step_count() == 4);
                CHECK(plan->dropped_sample_count() == 28);
                const auto dropped = dropped_of(*plan, request);
                CHECK(dropped.size() == 28);
                CHECK(dropped_of(*samples(request), request) == dropped); // seeded
                ever.insert(dropped.begin(), dropped.end());
            }
            CHECK(ever.size() == 168); // no sample was left out twice
        }
    }
}

TEST_CASE("P3: 145 files, 3 accelerators, batch 16: 3 steps on each, 1 dropped") {
    const EpochRequest request{.file_count = 145, .accelerator_count = 3, .batch_size = 16};
    CHECK(samples(request)->step_count() == 3);
    CHECK(dropped_of(*samples(request), request).size() == 1);
}

TEST_CASE("P4: too few samples for one step are refused with the numbers") {
    const EpochRequest request{.file_count = 3, .accelerator_count = 4, .batch_size = 1};
    const std::string message = refusal(plan_samples(request));
    for (const char* part : {"3 files", "4 accelerators", "batch 1", "too few samples"})
        CHECK(message.find(part) != std::string::npos);
    CHECK_FALSE(plan_file_shards(request));
    EpochRequest zero = request;
    zero.accelerator_count = 0;
    CHECK_FALSE(plan_samples(zero));
    zero = request;
    zero.batch_size = 0;
    CHECK_FALSE(plan_samples(zero));
    zero = request;
    zero.samples_per_file = 0;
    CHECK_FALSE(plan_file_shards(zero));
    zero = request;
    zero.file_count = 0;
    CHECK_FALSE(plan_samples(zero));
    CHECK_FALSE(plan_file_shards(zero));
    EpochRequest huge = request;
    huge.file_count = ~std::uint64_t{0};
    huge.samples_per_file = ~std::uint32_t{0};
    CHECK_FALSE(plan_samples(huge));
}

TEST_CASE("P5: 8 files x 4 samples, 2 accelerators, shuffled: every pair exactly once in every epoch") {
    EpochRequest request{.file_count = 8, .samples_per_file = 4, .accelerator_count = 2};
    request.file_shuffle = request.sample_shuffle = Shuffle::seed;
    for (request.epoch_index = 0; request.epoch_index < 5; ++request.epoch_index) {
        const auto plan = samples(request);
        CHECK(plan->step_count() == 16);
        CHECK(dropped_of(*plan, request).empty());
    }
}

TEST_CASE("P6: shuffles off is ascending") {
    EpochRequest request{.file_count = 17, .samples_per_file = 3, .accelerator_count = 2, .batch_size = 4};
    for (request.epoch_index = 0; request.epoch_index < 9; ++request.epoch_index) {
        const Ids ids = ids_of(*samples(request), request);
        CHECK(std::is_sorted(ids.begin(), ids.end()));
        const auto plan = shards(request);
        for (std::uint32_t a = 0; a < 2; ++a)
            for (std::uint64_t i = 1; i < plan->file_count(a); ++i) CHECK(plan->file(a, i - 1) < plan->file(a, i));
    }
}

TEST_CASE("only files shuffled: the samples of a file stay together and in order") {
    EpochRequest request{.file_count = 50, .samples_per_file = 6, .accelerator_count = 1, .batch_size = 7};
    request.file_shuffle = Shuffle::seed;
    for (request.epoch_index = 0; request.epoch_index < 20; ++request.epoch_index) {
        const Ids ids = ids_of(*samples(request), request);
        std::set<std::uint64_t> finished;
        std::size_t descents = 0;
        for (std::size_t i = 1; i < ids.size(); ++i) {
            if (ids[i] / 6 == ids[i - 1] / 6) {
                CHECK(ids[i] > ids[i - 1]);
            } else {
                CHECK(finished.insert(ids[i - 1] / 6).second);
                descents += ids[i] < ids[i - 1];
            }
        }
        CHECK(descents > 5); // really shuffled
    }
}

TEST_CASE("P7: 200 files, 25 accelerators: each opens 8 files, everything is read once") {
    EpochRequest request{
        .file_count = 200, .samples_per_file = 10, .accelerator_count = 25, .batch_size = 8, .cycle_length = 4};
    request.file_shuffle = Shuffle::seed;
    const auto plan = shards(request);
    std::set<std::uint64_t> files;
    for (std::uint32_t a = 0; a < 25; ++a) {
        CHECK(plan->file_count(a) == 8);
        for (std::uint64_t i = 0; i < 8; ++i) files.insert(plan->file(a, i));
    }
    CHECK(files.size() == 200);
    CHECK(dropped_of(*plan, request).empty());
}

TEST_CASE("file i of the ascending order belongs to accelerator i mod A") {
    const EpochRequest request{.file_count = 12, .samples_per_file = 2, .accelerator_count = 3, .batch_size = 4};
    const auto plan = shards(request);
    for (std::uint32_t a = 0; a < 3; ++a)
        for (std::uint64_t i = 0; i < 4; ++i) CHECK(plan->file(a, i) == i * 3 + a);
}

TEST_CASE("fewer files than accelerators are refused by the file-sharded plan, with the numbers") {
    const EpochRequest request{.file_count = 3, .samples_per_file = 100, .accelerator_count = 4, .batch_size = 2};
    const auto plan = plan_file_shards(request);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().message.find("3 files cannot be shared out to 4 accelerators") != std::string::npos);
    CHECK(samples(request)->step_count() == 37);
}

TEST_CASE("P11: a subset is the even share of all subfolders; more than there is is refused") {
    EpochRequest request{.file_count = 10, .manifest_file_count = 30, .subfolder_count = 3};
    std::vector<int> per_folder(3);
    for (const std::uint64_t id : ids_of(*samples(request), request)) ++per_folder[id % 3];
    CHECK(per_folder == std::vector<int>{4, 3, 3});
    request.file_count = 31;
    const std::string message = refusal(plan_samples(request));
    CHECK(message.find("31") != std::string::npos);
    CHECK(message.find("30") != std::string::npos);
    CHECK_FALSE(plan_file_shards(request));
}

TEST_CASE("P12: three epochs, three orders; the same three again with the same seed, others with another") {
    for (const bool by_sample : {true, false}) {
        EpochRequest request{
            .file_count = 20, .samples_per_file = 3, .accelerator_count = 2, .batch_size = 3, .seed = 7};
        request.file_shuffle = Shuffle::seed;
        request.sample_shuffle = by_sample ? Shuffle::seed : Shuffle::off;
        std::set<Ids> orders, files;
        for (std::uint64_t seed : {7ULL, 7ULL, 8ULL})
            for (request.epoch_index = 0, request.seed = seed; request.epoch_index < 3; ++request.epoch_index) {
                orders.insert(ids_of(*samples(request), request));
                files.insert(ids_of(*shards(request), request));
            }
        CHECK(orders.size() == 6);
        CHECK(files.size() == 6);
        request.seed_change_epoch = false;
        request.epoch_index = 0;
        const Ids first = ids_of(*samples(request), request);
        request.epoch_index = 1;
        CHECK(ids_of(*samples(request), request) == first); // nothing is left out here, so nothing moves
    }
}

TEST_CASE("P13: 8 files x 4 samples, batch 4: all 32 are used") {
    const EpochRequest request{.file_count = 8, .samples_per_file = 4, .batch_size = 4};
    CHECK(samples(request)->step_count() == 8);
    CHECK(dropped_of(*samples(request), request).empty());
}

TEST_CASE("P14: total_training_steps counts over all epochs") {
    CHECK(steps_in_epoch({.steps_per_epoch = 2, .total_training_steps = 3, .epoch_index = 0}) == 2);
    CHECK(steps_in_epoch({.steps_per_epoch = 2, .total_training_steps = 3, .epoch_index = 1}) == 1);
    CHECK(steps_in_epoch({.steps_per_epoch = 2, .total_training_steps = 3, .epoch_index = 2}) == 0);
    CHECK(steps_in_epoch({.steps_per_epoch = 8, .total_training_steps = 3, .epoch_index = 1}) == 0);
    CHECK(steps_in_epoch({.steps_per_epoch = 8, .total_training_steps = -1, .epoch_index = 5}) == 8);
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
