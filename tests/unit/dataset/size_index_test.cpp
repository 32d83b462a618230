#include "harness/dataset/size_index.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace feedbench::dataset;

TEST_CASE("table and checkpoints give the sizes that the stream gives, for train and for valid") {
    const SizeDistribution distribution = size_distribution(146600628, 68341808);
    for (const std::uint64_t first : {0ULL, 1ULL, 168ULL}) {
        for (const std::uint64_t count : {1ULL, 2ULL, 1023ULL, 1024ULL, 1025ULL, 5000ULL}) {
            SizeStream stream(distribution, 10);
            for (std::uint64_t i = 0; i < first; ++i) stream.next();
            const SizeIndex table(distribution, 10, {first, count});
            const SizeIndex places(distribution, 10, {first, count}, 0); // no table allowed
            REQUIRE(table.has_table());
            REQUIRE_FALSE(places.has_table());
            std::uint64_t total = 0;
            for (std::uint64_t i = 0; i < count; ++i) {
                const DimensionPair expected = stream.next();
                total += std::uint64_t{expected.first} * expected.second;
                REQUIRE(table.at(i) == expected);
                REQUIRE(places.at(i) == expected);
            }
            CHECK(table.total_elements() == total);
            CHECK(places.total_elements() == total);
        }
    }
}

TEST_CASE("the index is bounded: 8 bytes a file and 1024 places with a table, 1024 places without") {
    const SizeDistribution distribution = size_distribution(2828486, 71311);
    const std::uint64_t places_bytes = SizeIndex::kCheckpoints * sizeof(SizeStream);
    const SizeIndex table(distribution, 10, {0, 524288});
    CHECK(table.memory_bytes() == 0); // nothing before the first question
    table.at(524287);
    CHECK(table.memory_bytes() <= 524288 * 8 + places_bytes);
    const SizeIndex places(distribution, 10, {0, 3 * SizeIndex::kTableFiles});
    CHECK(places.at(3 * SizeIndex::kTableFiles - 1).first > 0);
    CHECK(places.memory_bytes() <= places_bytes);
    CHECK(places_bytes < 3 * 1024 * 1024);
}
