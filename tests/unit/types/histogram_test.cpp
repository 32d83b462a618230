#include "harness/types/histogram.hpp"

#include <catch2/catch.hpp>

#include <cmath>

#include "harness/types/random.hpp"

using feedbench::Histogram;

TEST_CASE("an empty histogram has no values and says so") {
    const Histogram h;
    CHECK(h.count() == 0);
    CHECK(h.quantile_ns(0.5) == 0);
    CHECK(h.mean_ns() == 0);
    CHECK(h.min_ns() == 0);
    CHECK(h.data("x").buckets.empty());
}

TEST_CASE("every value from 1 us to 1000 s is met within 1 %") {
    feedbench::Random random(7);
    for (int i = 0; i < 20000; ++i) {
        const double wanted = std::pow(10.0, 3 + 9 * random.uniform());
        Histogram h;
        h.add(1); // so that the ends, which are exact, are not what is asked for
        h.add(static_cast<std::uint64_t>(wanted));
        h.add(~std::uint64_t{0} >> 1);
        CHECK(std::abs(h.quantile_ns(0.5) - wanted) <= 0.01 * wanted);
    }
}

TEST_CASE("values outside the range keep count, minimum and maximum") {
    Histogram h;
    h.add(0);
    h.add(5'000'000'000'000, 2);
    CHECK(h.count() == 3);
    CHECK(h.min_ns() == 0);
    CHECK(h.max_ns() == 5'000'000'000'000);
    CHECK(h.quantile_ns(1.0) == 5e12);
    CHECK(h.quantile_ns(0.0) == 0);
    CHECK(h.mean_ns() == Approx(1e13 / 3));
}

TEST_CASE("quantiles of 1..1000 us are the nearest ranks") {
    Histogram h;
    for (std::uint64_t i = 1; i <= 1000; ++i) h.add(i * 1000);
    CHECK(h.quantile_ns(0.50) == Approx(500e3).epsilon(0.01));
    CHECK(h.quantile_ns(0.95) == Approx(950e3).epsilon(0.01));
    CHECK(h.quantile_ns(0.99) == Approx(990e3).epsilon(0.01));
    CHECK(h.mean_ns() == Approx(500.5e3));
}

TEST_CASE("merging equals adding everything to one, also through bytes") {
    feedbench::Random random(11);
    Histogram all, a, b;
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t value = random.below(3'000'000'000);
        all.add(value);
        (i % 3 == 0 ? a : b).add(value);
    }
    Histogram merged = Histogram::parse(a.serialise());
    merged.merge(Histogram::parse(b.serialise()));
    merged.merge(Histogram()); // nothing changes
    CHECK(merged.data("k").buckets == all.data("k").buckets);
    CHECK(merged.count() == 5000);
    CHECK(merged.min_ns() == all.min_ns());
    CHECK(merged.max_ns() == all.max_ns());
    CHECK(merged.mean_ns() == Approx(all.mean_ns()));
    CHECK(merged.quantile_ns(0.95) == all.quantile_ns(0.95));
}

TEST_CASE("the worked example of the bucket rule") {
    Histogram h;
    h.add(1'000'000);
    REQUIRE(h.data("k").buckets.size() == 1);
    CHECK(h.data("k").buckets[0].first == 999'424);
    CHECK(h.data("k").buckets[0].second == 1);
}
