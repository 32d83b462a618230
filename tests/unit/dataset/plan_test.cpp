#include "harness/dataset/plan.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "harness/dataset/sizes_dlio.hpp"

using namespace feedbench;
using dataset::DatasetPlan;
using dataset::SizeCursor;

namespace {

DatasetSection unet3d() {
    DatasetSection section;
    section.format = "npz";
    section.num_files_train = 168;
    section.num_files_eval = 42;
    section.record_length_bytes = 146600628;
    section.record_length_bytes_stdev = 68341808;
    return section;
}

DatasetPlan plan_of(const DatasetSection& section, Split split = Split::train) {
    Expected<DatasetPlan> plan = DatasetPlan::make(section, split);
    INFO((plan ? std::string() : plan.error().describe()));
    REQUIRE(plan);
    return *plan;
}

std::string refusal(const DatasetSection& section) {
    const Expected<DatasetPlan> plan = DatasetPlan::make(section, Split::train);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().kind == ErrorKind::config);
    return plan.error().path;
}

} // namespace

TEST_CASE("names are padded to the digits of the count") {
    const DatasetPlan train = plan_of(unet3d()), valid = plan_of(unet3d(), Split::valid);
    CHECK(train.name(7) == "train/img_007_of_168.npz");
    CHECK(train.name(167) == "train/img_167_of_168.npz");
    CHECK(valid.name(0) == "valid/img_00_of_42.npz");
    CHECK(train.folder(0) == "train");

    DatasetSection section = unet3d();
    section.num_files_train = 10;
    CHECK(plan_of(section).name(9) == "train/img_09_of_10.npz"); // digits of 10, not of 9
    section.num_files_train = 9;
    section.file_prefix = "part";
    section.format = "tfrecord";
    CHECK(plan_of(section).name(8) == "train/part_8_of_9.tfrecord");
    section.num_files_train = 64'000'000;
    CHECK(plan_of(section).name(63'999'999) == "train/part_63999999_of_64000000.tfrecord");
    CHECK(plan_of(section).name(0) == "train/part_00000000_of_64000000.tfrecord");
}

TEST_CASE("subfolders: file i lies in i mod n, padded to the digits of n") {
    DatasetSection section = unet3d();
    section.num_subfolders_train = 3;
    CHECK(plan_of(section).name(7) == "train/1/img_007_of_168.npz");
    CHECK(plan_of(section).folder(2) == "train/2");
    CHECK(plan_of(section, Split::valid).name(7) == "valid/img_07_of_42.npz"); // its own count
    section.num_subfolders_train = 10;
    CHECK(plan_of(section).name(13) == "train/03/img_013_of_168.npz");
    for (const std::uint32_t none : {0U, 1U}) {
        section.num_subfolders_train = none;
        CHECK(plan_of(section).name(13) == "train/img_013_of_168.npz");
        CHECK(plan_of(section).subfolder_count() == 0);
    }
}

TEST_CASE("P9: 37,500 files in 3 subfolders are 12,500 each; 10 in 3 are 4/3/3") {
    const std::map<std::uint64_t, std::vector<std::uint64_t>> cases = {{37500, {12500, 12500, 12500}}, {10, {4, 3, 3}}};
    for (const auto& [files, expected] : cases) {
        DatasetSection section = unet3d();
        section.num_files_train = files;
        section.num_subfolders_train = 3;
        const DatasetPlan plan = plan_of(section);
        std::vector<std::uint64_t> counts(3);
        std::set<std::string> names;
        for (std::uint64_t i = 0; i < files; ++i) {
            const std::string name = plan.name(i);
            for (std::uint32_t folder = 0; folder < 3; ++folder)
                if (name.rfind(plan.folder(folder) + "/", 0) == 0) ++counts[folder];
            names.insert(name);
        }
        CHECK(counts == expected);
        CHECK(names.size() == files);
    }
}

TEST_CASE("shapes: drawn for train and then valid, equal without a deviation, record_dims before all") {
    DatasetSection section = unet3d();
    section.num_files_train = 2;
    section.num_files_eval = 3;
    const DatasetPlan train = plan_of(section), valid = plan_of(section, Split::valid);
    CHECK(train.shape(0).dims == std::vector<std::uint64_t>{15865, 14125});
    CHECK(train.shape(1).dims == std::vector<std::uint64_t>{7745, 12083});
    CHECK(valid.shape(0).dims == std::vector<std::uint64_t>{13860, 10074});
    CHECK(valid.shape(2).dims == std::vector<std::uint64_t>{12119, 11614});
    CHECK(train.sizes_vary());
    CHECK(train.total_payload_bytes() == 15865ULL * 14125 + 7745ULL * 12083);
    CHECK(train.content_index(1) == 1);
    CHECK(valid.content_index(0) == 2);

    section.num_samples_per_file = 4;
    section.num_samples_per_file_eval = 2;
    CHECK(plan_of(section).total_payload_bytes() == 4 * train.total_payload_bytes());
    CHECK(plan_of(section, Split::valid).samples_per_file() == 2);
    section.num_samples_per_file_eval = 0;
    CHECK(plan_of(section, Split::valid).samples_per_file() == 4);

    section.record_length_bytes = 114660.07;
    section.record_length_bytes_stdev = 0;
    CHECK(plan_of(section).shape(1).dims == std::vector<std::uint64_t>{338, 338});
    CHECK_FALSE(plan_of(section).sizes_vary());
    CHECK(plan_of(section).total_payload_bytes() == 2ULL * 4 * 338 * 338);

    section.record_length_bytes_stdev = 500;
    section.record_dims = {3, 5, 7};
    section.record_element_bytes = 2;
    CHECK(plan_of(section).shape(1).dims == section.record_dims);
    CHECK(plan_of(section).shape(1).payload_bytes() == 3ULL * 5 * 7 * 2 * 4);
    CHECK_FALSE(plan_of(section).sizes_vary());
}

TEST_CASE("what a shape takes from the section besides its dimensions") {
    DatasetSection section = unet3d();
    section.compression = "gzip";
    section.compression_level = 7;
    section.num_dset_per_record = 2;
    section.chunk_dims = {1, 100, 100};
    section.max_shape = {1, 9000, 9000};
    const FileShape shape = plan_of(section).shape(0);
    CHECK(shape.compression == FileShape::Compression::gzip);
    CHECK(shape.compression_level == 7);
    CHECK(shape.record_dataset_count == 2);
    CHECK(shape.chunk_dims == section.chunk_dims);
    CHECK(shape.max_shape == section.max_shape);
}

TEST_CASE("a cursor gives what random access gives, by any ascending stride and after a step back") {
    for (const std::uint64_t files : {1000ULL, (1ULL << 20) + 5000}) { // with a table, without
        DatasetSection section = unet3d();
        section.num_files_train = files;
        section.num_files_eval = 0;
        const DatasetPlan plan = plan_of(section);
        CHECK(plan.shape_is_cheap() == (files == 1000));
        SizeCursor cursor(plan);
        for (std::uint64_t i : {0ULL, 1ULL, 2ULL, 5ULL, 9ULL, 700ULL, 701ULL, 999ULL, 3ULL, 4ULL})
            CHECK(cursor.shape(i).dims == plan.shape(i).dims);
        CHECK(cursor.shape(files - 1).dims == plan.shape(files - 1).dims);
        dataset::SizeStream stream(dataset::size_distribution(146600628, 68341808), 10);
        SizeCursor all(plan);
        for (std::uint64_t i = 0; i < files; ++i) {
            const dataset::DimensionPair pair = stream.next();
            const FileShape shape = all.shape(i);
            if (shape.dims[0] != pair.first || shape.dims[1] != pair.second) FAIL("file " << i);
        }
    }
}

TEST_CASE("many threads may ask a plan for its first size at once") {
    const DatasetPlan plan = plan_of(unet3d());
    std::vector<std::uint64_t> totals(4);
    std::vector<std::thread> threads;
    for (std::uint64_t& total : totals) threads.emplace_back([&plan, &total] { total = plan.total_payload_bytes(); });
    for (std::thread& thread : threads) thread.join();
    for (const std::uint64_t total : totals) CHECK(total == 25285981919ULL);
}

TEST_CASE("sizes as found: no dimensions, everything else as ever") {
    const Expected<DatasetPlan> plan = DatasetPlan::make(unet3d(), Split::train, DatasetPlan::Sizes::as_found);
    REQUIRE(plan);
    CHECK_FALSE(plan->sizes_known());
    CHECK(plan->sizes_vary());
    CHECK(plan->shape(3).dims.empty());
    CHECK(plan->shape(3).sample_count == 1);
    CHECK(plan->total_payload_bytes() == 0);
    CHECK(plan->name(7) == "train/img_007_of_168.npz");
}

TEST_CASE("what cannot be a dataset is refused, and the key is named") {
    DatasetSection section = unet3d();
    section.record_length_bytes = 0.5;
    CHECK(refusal(section) == "dataset.record_length_bytes");
    section.record_length_bytes = std::numeric_limits<double>::quiet_NaN();
    CHECK(refusal(section) == "dataset.record_length_bytes");
    section.record_length_bytes = -5;
    CHECK(refusal(section) == "dataset.record_length_bytes");
    section.record_length_bytes = 1e18;
    CHECK(refusal(section) == "dataset");
    section = unet3d();
    section.record_length_bytes_stdev = -1;
    CHECK(refusal(section) == "dataset.record_length_bytes_stdev");
    section = unet3d();
    section.record_dims = {4, 0};
    CHECK(refusal(section) == "dataset.record_dims");
    section.record_dims = {1ULL << 40, 1ULL << 40};
    CHECK(refusal(section) == "dataset");
    section = unet3d();
    section.num_samples_per_file = 0;
    CHECK(refusal(section) == "dataset.num_samples_per_file");
    section = unet3d();
    section.file_prefix = "a/b";
    CHECK(refusal(section) == "dataset.file_prefix");
    section.file_prefix = "";
    CHECK(refusal(section) == "dataset.file_prefix");
    section = unet3d();
    section.seed = 1ULL << 32;
    CHECK(refusal(section) == "dataset.seed");
    section = unet3d();
    section.compression = "lz4";
    CHECK(refusal(section) == "dataset.compression");
    section = unet3d();
    section.record_element_bytes = 0;
    CHECK(refusal(section) == "dataset.record_element_bytes");
    section = unet3d();
    section.num_files_train = 1ULL << 60;
    CHECK(refusal(section) == "dataset");
}

TEST_CASE("P10: names of 64 million files cost nothing to have") {
    DatasetSection section = unet3d();
    section.num_files_train = 64'000'000;
    section.num_subfolders_train = 1000;
    const DatasetPlan plan = plan_of(section); // draws nothing yet
    std::string name;
    plan.name(123, name);
    const std::size_t capacity = name.capacity();
    for (std::uint64_t i = 0; i < 64'000'000; i += 6'399'999) plan.name(i, name);
    CHECK(name.capacity() == capacity);
    CHECK(name == "train/0990/img_63999990_of_64000000.npz");
}
