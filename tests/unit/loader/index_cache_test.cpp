#include "harness/loader/index_cache.hpp"

#include "tests/support/loader_rig.hpp"

using namespace feedbench;
using namespace feedbench::test;
using engine::IoKind;
using loader::IndexCache;

namespace {

IndexCache::Index index_of(std::size_t bytes) {
    return std::make_shared<const formats::IndexBytes>(formats::IndexBytes(2, std::vector<std::byte>(bytes / 2)));
}

bool is_index(const std::string& path) { return path.ends_with(".idx"); }

} // namespace

TEST_CASE("index cache: what is kept is found, and the oldest make room") {
    IndexCache cache(3 * (IndexCache::kEntryBytes + 1000));
    CHECK(cache.find(0) == nullptr);
    for (std::uint64_t file = 0; file < 4; ++file) cache.keep(file, index_of(1000));
    CHECK(cache.find(0) == nullptr);
    for (std::uint64_t file = 1; file < 4; ++file) REQUIRE(cache.find(file));
    CHECK(cache.kept_bytes() == 3 * (IndexCache::kEntryBytes + 1000));
    cache.keep(3, index_of(1000)); // once more: nothing changes
    CHECK(cache.kept_bytes() == 3 * (IndexCache::kEntryBytes + 1000));
    cache.keep(9, index_of(100000)); // larger than the limit: alone, for the next sample wants it
    REQUIRE(cache.find(9));
    CHECK((*cache.find(9))->front().size() == 50000);
    CHECK(cache.find(3) == nullptr);
    cache.keep(10, nullptr); // a storage without content
    REQUIRE(cache.find(10));
    CHECK(*cache.find(10) == nullptr);
    CHECK(cache.kept_bytes() == IndexCache::kEntryBytes);
}

TEST_CASE("an index is read once a file, whole, and each sample then costs one range") {
    LoaderRig rig({.format = "indexed_binary",
                   .files = 2,
                   .samples_per_file = 5,
                   .sample_bytes = 10000,
                   .sample_shuffle = Shuffle::seed});
    for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
        const auto plan = rig.epoch(epoch);
        const auto got = rig.run_epoch(*plan);
        for (const loader::Batch& batch : got[0]) CHECK_FALSE(batch.error);
    }
    std::uint64_t index_reads = 0, data_reads = 0;
    for (const Operation& read : rig.backend().reads()) {
        if (!is_index(read.path)) {
            ++data_reads;
            CHECK(read.bytes == 10000);
            continue;
        }
        ++index_reads;
        CHECK(read.offset == 0);
        CHECK(read.bytes == 40);
    }
    CHECK(index_reads == 4);
    CHECK(data_reads == 20);
    CHECK(rig.counters().bytes == 4 * 40 + 20 * 10000);
    // An index's first byte is none of a sample's.
    CHECK(rig.counters().epoch.time_to_first_byte.count() == 20);
    CHECK(rig.counters().epoch.sample_read_latency.count() == 20);
}

TEST_CASE("an index that is missing, of another length or wrong ends the reading, in one sentence") {
    const std::string name = "train/img_0_of_2.indexed_binary.off.idx";
    const auto error_of = [&](auto change) {
        LoaderRig rig({.format = "indexed_binary", .files = 2, .samples_per_file = 3, .sample_bytes = 10000});
        change(rig);
        const auto plan = rig.epoch();
        const auto got = rig.run_epoch(*plan);
        REQUIRE(got[0].back().error);
        return *got[0].back().error;
    };
    const Error missing = error_of([&](LoaderRig& rig) {
        rig.memory().files.erase(name);
        ++rig.open_errors;
    });
    CHECK(missing.operation == "open");
    CHECK(missing.errno_value == ENOENT);
    CHECK(missing.path == "memory:/" + name);
    const Error longer = error_of([&](LoaderRig& rig) { rig.memory().files[name] += std::string(8, '\0'); });
    CHECK(longer.describe().find(name) != std::string::npos);
    CHECK(longer.message == "an index of 3 samples has 24 bytes, found 32");
    const Error wrong = error_of([&](LoaderRig& rig) { rig.memory().files[name][8] ^= 1; });
    CHECK(wrong.message == "sample 1: offset 10000 expected, found 10001");
    CHECK(wrong.offset == 8);
}
