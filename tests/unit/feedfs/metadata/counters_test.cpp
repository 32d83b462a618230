// Counters of every engine of the table: changes that commute.
#include "storage/feedfs/metadata/schema.hpp"
#include "tests/support/metadata_rig.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::feedfs;
using namespace feedbench::test;

TEST_CASE("metadata engines: counters add up element by element, negative ones too") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        Batch batch;
        batch.add("La", std::vector<std::int64_t>{5, -7});
        batch.add("La", std::vector<std::int64_t>{-6, 0, std::int64_t{1} << 50});
        batch.add("La", std::vector<std::int64_t>{0, -255});
        REQUIRE(applied(*engine, batch));
        CHECK(decode_counters(*value_of(*engine, "La")) == std::vector<std::int64_t>{-1, -262, std::int64_t{1} << 50});
    }
}

TEST_CASE("metadata engines: counters are raised element by element, in whatever order, and never conflict") {
    for (const std::string& name : metadata_engines()) {
        INFO(name);
        MetadataRig rig(name);
        auto engine = rig.create();
        constexpr std::int64_t kNowUs = 1'790'000'000'000'000;
        Batch batch;
        batch.raise("La", std::vector<std::int64_t>{-5});
        CHECK(applied(*engine, batch));
        CHECK(decode_counters(*value_of(*engine, "La")) == std::vector<std::int64_t>{-5});
        batch.raise("La", std::vector<std::int64_t>{kNowUs, 7});
        batch.raise("La", std::vector<std::int64_t>{kNowUs - 1, 9});
        batch.raise("La", std::vector<std::int64_t>{3});
        REQUIRE(applied(*engine, batch));
        CHECK(decode_counters(*value_of(*engine, "La")) == std::vector<std::int64_t>{kNowUs, 9});
    }
}

} // namespace
