#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "harness/types/random.hpp"

using namespace feedbench;

TEST_CASE("a permutation is a bijection for every size, and seeds give different ones") {
    for (std::uint64_t size : {1u, 2u, 3u, 7u, 168u, 1000u, 4097u}) {
        const Permutation order(size, 42), other(size, 43);
        std::vector<bool> seen(size, false);
        std::uint64_t same = 0;
        for (std::uint64_t i = 0; i < size; ++i) {
            const std::uint64_t j = order(i);
            REQUIRE(j < size);
            REQUIRE_FALSE(seen[j]);
            seen[j] = true;
            same += j == other(i);
        }
        if (size >= 168) CHECK(same < size / 4);
    }
}

TEST_CASE("a permutation of 64 million files is made at once and stays in range") {
    const Permutation order(64'000'000, 1);
    std::set<std::uint64_t> values;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        REQUIRE(order(i * 6400) < 64'000'000);
        values.insert(order(i * 6400));
    }
    CHECK(values.size() == 10'000);
}

TEST_CASE("streams are named: the same name and seed give the same draws, another name others") {
    Random a(stream_seed(1, "think", 0)), b(stream_seed(1, "think", 0)), c(stream_seed(1, "jitter", 0));
    for (int i = 0; i < 10; ++i) {
        const auto x = a.next();
        CHECK(x == b.next());
        CHECK(x != c.next());
    }
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) sum += a.uniform();
    CHECK(sum / 100'000 == Approx(0.5).margin(0.01));
}
