#include "harness/dataset/spot_check.hpp"

#include <cerrno>
#include <set>

#include "dataset_files.hpp"

using namespace feedbench;
using namespace feedbench::dataset;
using namespace feedbench::test;

TEST_CASE("the sample of files is bounded, without repeats, and has the first and the last") {
    for (const std::uint64_t files : {0ULL, 1ULL, 2ULL, 3ULL, 10ULL, 64ULL, 65ULL, 1000ULL, 64'000'000ULL})
        for (const std::uint64_t count : {0ULL, 1ULL, 2ULL, 64ULL}) {
            const auto sample = sample_of_files(files, count, 5);
            const std::set<std::uint64_t> distinct(sample.begin(), sample.end());
            CHECK(sample.size() == std::min(files, count));
            CHECK(distinct.size() == sample.size());
            if (sample.empty()) continue;
            CHECK(sample.front() == 0);
            if (count > 1) CHECK(sample.back() == files - 1);
        }
    CHECK(sample_of_files(1000, 64, 5) == sample_of_files(1000, 64, 5));
    CHECK(sample_of_files(1000, 64, 5) != sample_of_files(1000, 64, 6));
}

TEST_CASE("a dataset as made passes, whole, as a subset, and with direct I/O's alignment") {
    for (const char* format : {"npz", "npy", "tfrecord", "raw", "indexed_binary"}) {
        CAPTURE(format);
        MemoryBackend backend;
        const Manifest manifest = write_dataset(backend, small_section(format));
        for (const std::uint32_t alignment : {1U, 4096U}) {
            backend.mutable_capabilities().alignment_bytes = alignment;
            for (const std::uint64_t files : {12ULL, 5ULL, 0ULL}) {
                const Status status = spot_check({backend}, manifest, format_of(format), {.file_count = files});
                INFO((status ? std::string() : status.error().describe()));
                CHECK(status);
            }
            CHECK(spot_check({backend}, manifest, format_of(format), {.split = Split::valid, .file_count = 3}));
        }
    }
}

TEST_CASE("compressed files have the size that their content gave them, not one that could be computed") {
    const std::pair<const char*, const char*> kinds[] = {{"npz", "zip"}, {"hdf5", "gzip"}};
    for (const auto& [format, compression] : kinds) {
        CAPTURE(format);
        MemoryBackend backend;
        DatasetSection section = small_section(format);
        section.compression = compression;
        const Manifest manifest = write_dataset(backend, section);
        const Status status = spot_check({backend}, manifest, format_of(format), {.file_count = 12});
        INFO((status ? std::string() : status.error().describe()));
        CHECK(status);
        std::string& file = backend.files["train/img_11_of_12." + std::string(format)];
        file.resize(file.size() - 10);
        CHECK_FALSE(spot_check({backend}, manifest, format_of(format), {.file_count = 12}));
    }
}

TEST_CASE("the spot check never lists and looks at no more files than it is told") {
    MemoryBackend backend;
    DatasetSection section = small_section("raw");
    section.num_files_train = 300;
    const Manifest manifest = write_dataset(backend, section);
    backend.stat_count = backend.list_count = 0;
    CHECK(spot_check({backend}, manifest, format_of("raw"), {.file_count = 300, .sample_size = 10}));
    CHECK(backend.stat_count == 10);
    CHECK(backend.list_count == 0);
}

TEST_CASE("what is wrong with a file is said, with the file") {
    MemoryBackend backend;
    const Manifest manifest = write_dataset(backend, small_section());
    const auto failure = [&](std::uint64_t files = 12) {
        const Status status = spot_check({backend}, manifest, format_of("npz"), {.file_count = files});
        REQUIRE_FALSE(status);
        return status.error();
    };
    const std::string name = "train/img_11_of_12.npz";
    const std::string good = backend.files[name];

    backend.files.erase(name);
    CHECK(failure().errno_value == ENOENT);
    CHECK(failure().path == "memory:/" + name);
    CHECK(spot_check({backend}, manifest, format_of("npz"), {.file_count = 11})); // the subset does not need it

    backend.files[name] = good.substr(0, good.size() - 1);
    CHECK(failure().kind == ErrorKind::format);
    CHECK(failure().message.find(std::to_string(good.size() - 1) + " bytes") != std::string::npos);
    CHECK(failure().message.find(std::to_string(good.size())) != std::string::npos);

    backend.files[name] = std::string(good.size(), 'x'); // the right size, and no npz
    CHECK(failure().kind == ErrorKind::format);

    backend.files.erase(name);
    backend.folders.insert(name);
    CHECK(failure().errno_value == EISDIR);
    backend.folders.erase(name);
    backend.files[name] = good;

    backend.fail_next[engine::IoKind::read] = EIO;
    CHECK(failure().errno_value == EIO);
    backend.fail_next[engine::IoKind::open] = EACCES;
    CHECK(failure().errno_value == EACCES);
    CHECK(failure(13).kind == ErrorKind::config);
}
