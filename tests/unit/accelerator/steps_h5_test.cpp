#include "harness/accelerator/steps_h5.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace feedbench;
using namespace feedbench::accelerator;

namespace {

struct Folder {
    Folder() {
        char name[] = "/tmp/feedbench_steps_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string file(const char* name) const { return path + "/" + name; }
    std::size_t entry_count() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
    }
    std::string path;
};

// Every field of every record differs.
StepRecord record(std::uint64_t i) {
    return {.accelerator_index = static_cast<std::uint32_t>(i),
            .epoch_index = static_cast<std::uint16_t>(i % 5),
            .block_index = static_cast<std::uint16_t>(kEvaluationBlock | (i % 3)),
            .step_index = static_cast<std::uint32_t>(i * 3),
            .sample_count = 7,
            .request_ns = i * 1000,
            .ready_ns = i * 1000 + 1,
            .think_drawn_ns = i + 2,
            .think_end_ns = (std::uint64_t{1} << 40) + i,
            .barrier_end_ns = i * 1000 + 4,
            .storage_wait_ns = i + 5,
            .client_wait_ns = i + 6,
            .bytes_delivered = i * 146600628};
}

std::vector<StepRecord> records(std::uint64_t first, std::uint64_t count) {
    std::vector<StepRecord> all;
    for (std::uint64_t i = first; i < first + count; ++i) all.push_back(record(i));
    return all;
}

std::vector<StepRecord> read_all(const std::string& path) {
    std::vector<StepRecord> all;
    const auto count = read_steps(path, [&](std::span<const StepRecord> block) {
        all.insert(all.end(), block.begin(), block.end());
        return Status{};
    });
    if (!count) FAIL(count.error().describe());
    REQUIRE(*count == all.size());
    return all;
}

bool is_same(const std::vector<StepRecord>& a, const std::vector<StepRecord>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(StepRecord)) == 0);
}

} // namespace

TEST_CASE("steps.h5: what was appended is read back in order, whatever the pieces") {
    const Folder folder;
    for (const std::uint64_t total : {0, 1, 4095, 4096, 4097, 10000}) {
        INFO(total);
        auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 1'700'000'000'000'000'000});
        REQUIRE(steps.has_value());
        for (std::uint64_t at = 0; at < total; at += 777)
            REQUIRE((*steps)->append(records(at, std::min<std::uint64_t>(777, total - at))).has_value());
        REQUIRE((*steps)->record_count() == total);
        REQUIRE((*steps)->close().has_value());
        REQUIRE(is_same(read_all(folder.file("steps.h5")), records(0, total)));
        REQUIRE(folder.entry_count() == 1); // no partial file is left
    }
}

TEST_CASE("steps.h5: one append of many blocks") {
    const Folder folder;
    auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 0});
    REQUIRE((*steps)->append(records(0, 3 * kStepsBlockRecords + 5)).has_value());
    REQUIRE((*steps)->close().has_value());
    REQUIRE(is_same(read_all(folder.file("steps.h5")), records(0, 3 * kStepsBlockRecords + 5)));
}

TEST_CASE("steps.h5: a file that is not closed never gets its name") {
    const Folder folder;
    {
        auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 0});
        REQUIRE((*steps)->append(records(0, 5000)).has_value());
        REQUIRE_FALSE(std::filesystem::exists(folder.file("steps.h5")));
    }
    REQUIRE(folder.entry_count() == 0);
}

TEST_CASE("steps.h5: used after its end") {
    const Folder folder;
    auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 0});
    REQUIRE((*steps)->close().has_value());
    REQUIRE_FALSE((*steps)->append(records(0, 1)).has_value());
    REQUIRE_FALSE((*steps)->close().has_value());
    REQUIRE(read_all(folder.file("steps.h5")).empty());
}

TEST_CASE("steps.h5: a folder that is not there") {
    const Folder folder;
    const auto steps = StepsFile::create({folder.file("none/steps.h5"), "run-1", 0});
    REQUIRE_FALSE(steps.has_value());
    REQUIRE(steps.error().kind == ErrorKind::storage);
    REQUIRE(steps.error().errno_value == ENOENT);
    REQUIRE(steps.error().path == folder.file("none/steps.h5"));
}

TEST_CASE("steps.h5: a disk that takes no more is told with its errno, and nothing is left") {
    const Folder folder;
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old_limit{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
    std::optional<Error> error;
    {
        auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 0});
        REQUIRE(steps.has_value());
        const rlimit small{1 << 20, old_limit.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
        for (std::uint64_t i = 0; i < 40 && !error; ++i) {
            const Status appended = (*steps)->append(records(i * 4096, 4096));
            if (!appended) error = appended.error();
        }
        if (!error) {
            const Status closed = (*steps)->close();
            if (!closed) error = closed.error();
        }
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
    std::signal(SIGXFSZ, old_handler);
    REQUIRE(error);
    REQUIRE(error->kind == ErrorKind::storage);
    REQUIRE(error->errno_value == EFBIG);
    REQUIRE(folder.entry_count() == 0);
    // The library is still usable.
    auto again = StepsFile::create({folder.file("steps.h5"), "run-2", 0});
    REQUIRE((*again)->append(records(0, 10)).has_value());
    REQUIRE((*again)->close().has_value());
    REQUIRE(is_same(read_all(folder.file("steps.h5")), records(0, 10)));
}

TEST_CASE("steps.h5: reading what is no such file") {
    const Folder folder;
    const auto nothing = [](std::span<const StepRecord>) { return Status{}; };
    REQUIRE_FALSE(read_steps(folder.file("none"), nothing).has_value());
    std::ofstream(folder.file("text.h5")) << "not a table";
    const auto text = read_steps(folder.file("text.h5"), nothing);
    REQUIRE_FALSE(text.has_value());
    REQUIRE(text.error().kind == ErrorKind::format);
    auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 0});
    REQUIRE((*steps)->append(records(0, 5000)).has_value());
    REQUIRE((*steps)->close().has_value());
    std::filesystem::resize_file(folder.file("steps.h5"), std::filesystem::file_size(folder.file("steps.h5")) / 2);
    REQUIRE_FALSE(read_steps(folder.file("steps.h5"), nothing).has_value());
}

TEST_CASE("steps.h5: the reader's error ends the reading") {
    const Folder folder;
    auto steps = StepsFile::create({folder.file("steps.h5"), "run-1", 0});
    REQUIRE((*steps)->append(records(0, 10000)).has_value());
    REQUIRE((*steps)->close().has_value());
    int calls = 0;
    const auto result = read_steps(folder.file("steps.h5"), [&](std::span<const StepRecord>) {
        return ++calls == 2 ? Status(internal_error("enough")) : Status{};
    });
    REQUIRE_FALSE(result.has_value());
    REQUIRE(result.error().message == "enough");
    REQUIRE(calls == 2);
}
