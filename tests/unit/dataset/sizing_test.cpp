#include "harness/dataset/sizing.hpp"

#include <catch2/catch.hpp>

using namespace feedbench;
using namespace feedbench::dataset;

namespace {

DatasetSection of_length(double bytes, std::uint32_t samples_per_file = 1) {
    DatasetSection section;
    section.record_length_bytes = bytes;
    section.num_samples_per_file = samples_per_file;
    return section;
}

Sizing sized(const DatasetSection& section, const SizingRequest& request) {
    const Expected<Sizing> sizing = size_dataset(section, request);
    REQUIRE(sizing);
    return *sizing;
}

} // namespace

TEST_CASE("S1: unet3d b200, 1 host of 15 GB, 1 accelerator: 3,500 files") {
    const Sizing sizing =
        sized(of_length(146600628), {.accelerator_count = 1, .batch_size = 7, .memory_GB_per_host = 15});
    CHECK(sizing.file_count == 3500);
    CHECK(sizing.samples_for_memory == 549); // 15 x 5 x 2^30 / 146600628 = 549.3
    CHECK_FALSE(sizing.memory_decides);
    CHECK(sizing.nominal_bytes == 3500ULL * 146600628);
    CHECK(sizing.disk_bytes == 3500ULL * 12107 * 12107);
    CHECK(sizing.steps_per_epoch == 500);
    CHECK(sizing.explanation.find("the number of steps decides") != std::string::npos);
}

TEST_CASE("S2: unet3d, 2 hosts of 128 GB, 16 accelerators: 56,000 files") {
    CHECK(sized(of_length(146600628),
                {.accelerator_count = 16, .batch_size = 7, .host_count = 2, .memory_GB_per_host = 128})
              .file_count == 56000);
}

TEST_CASE("S3: retinanet b200, 4 hosts of 754 GB, 16 accelerators: 50,136,788 files, truncated") {
    const Sizing sizing = sized(
        of_length(322957), {.accelerator_count = 16, .batch_size = 24, .host_count = 4, .memory_GB_per_host = 754});
    CHECK(sizing.file_count == 50136788);
    CHECK(sizing.memory_decides);
    CHECK(sizing.explanation.find("the memory decides") != std::string::npos);
}

TEST_CASE("samples are truncated before files, and files again") {
    // 10 x 5 x 2^30 / 114660.07 = 468228.3 samples; / 1251 = 374.3 files
    const Sizing sizing =
        sized(of_length(114660.07, 1251), {.accelerator_count = 1, .batch_size = 400, .memory_GB_per_host = 10});
    CHECK(sizing.samples_for_memory == 468228);
    CHECK(sizing.file_count == 374);
    CHECK(sizing.disk_bytes == 374ULL * 1251 * 338 * 338);
    CHECK(sized(of_length(1e9, 100000), {.batch_size = 1, .memory_GB_per_host = 1}).file_count == 1); // never none
}

TEST_CASE("the disk need of drawn sizes is near what the plan gives") {
    DatasetSection section = of_length(146600628);
    section.record_length_bytes_stdev = 68341808;
    const Sizing sizing = sized(section, {.accelerator_count = 2, .batch_size = 7, .memory_GB_per_host = 1});
    CHECK(sizing.disk_bytes == Approx(7000 * 146.6e6).epsilon(0.01));
}

TEST_CASE("numbers that cannot be are refused") {
    const SizingRequest good{.memory_GB_per_host = 1};
    SizingRequest request = good;
    request.accelerator_count = 0;
    CHECK_FALSE(size_dataset(of_length(100), request));
    request = good;
    request.host_count = 0;
    CHECK_FALSE(size_dataset(of_length(100), request));
    request = good;
    request.batch_size = 0;
    CHECK_FALSE(size_dataset(of_length(100), request));
    for (const double memory : {0.0, -1.0, 1e300}) {
        request = good;
        request.memory_GB_per_host = memory;
        CHECK_FALSE(size_dataset(of_length(100), request));
    }
    CHECK_FALSE(size_dataset(of_length(0), good));
    CHECK_FALSE(size_dataset(of_length(100, 0), good));
    CHECK(size_dataset(of_length(100), good));
}
