#include "harness/dataset/epoch_planner.hpp"

#include "epoch_ids.hpp"

using namespace feedbench;
using namespace feedbench::test;

namespace {

std::string refusal(const Expected<std::unique_ptr<EpochPlan>>& plan) {
    REQUIRE_FALSE(plan);
    CHECK(plan.error().kind == ErrorKind::config);
    return plan.error().message;
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
