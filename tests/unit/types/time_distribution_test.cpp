#include "harness/types/time_distribution.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

using namespace feedbench;
using Kind = TimeDistribution::Kind;

namespace {

struct Moments {
    double mean, stdev, least;
    bool whole;
};

Moments draw_many(const TimeDistribution& d, int count = 200'000) {
    Random random(stream_seed(7, "think"));
    double sum = 0, squares = 0, least = 1e300;
    bool whole = true;
    for (int i = 0; i < count; ++i) {
        const double x = draw_s(d, random);
        sum += x;
        squares += x * x;
        least = std::min(least, x);
        whole = whole && x == std::floor(x);
    }
    const double mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean), least, whole};
}

} // namespace

// The seed is fixed, so nothing here is a matter of luck; the margins are several standard errors of 200,000 draws.
TEST_CASE("mean and stdev of every distribution") {
    struct Row {
        TimeDistribution d;
        double mean, stdev;
    };
    for (const auto& row : {Row{{.kind = Kind::normal, .mean_s = 0.3, .stdev_s = 0.05}, 0.3, 0.05},
                            Row{{.kind = Kind::uniform, .min_s = 0.5, .max_s = 1.5}, 1.0, 1 / std::sqrt(12.0)},
                            Row{{.kind = Kind::gamma, .shape = 4, .scale_s = 0.05}, 0.2, 0.1},
                            Row{{.kind = Kind::gamma, .shape = 0.5, .scale_s = 2}, 1.0, std::sqrt(2.0)},
                            Row{{.kind = Kind::exponential, .scale_s = 0.25}, 0.25, 0.25},
                            Row{{.kind = Kind::poisson, .mean_s = 3}, 3, std::sqrt(3.0)},
                            Row{{.kind = Kind::poisson, .mean_s = 100}, 100, 10}}) {
        INFO(static_cast<int>(row.d.kind) << " mean " << row.mean);
        const Moments m = draw_many(row.d);
        CHECK(m.mean == Approx(row.mean).epsilon(0.015));
        CHECK(m.stdev == Approx(row.stdev).epsilon(0.02));
        CHECK(m.least >= 0);
        CHECK(m.whole == (row.d.kind == Kind::poisson));
    }
}

TEST_CASE("a constant is itself and takes nothing from the stream") {
    Random random(1), untouched(1);
    CHECK(draw_s({.mean_s = 0.323}, random) == 0.323);
    CHECK(draw_s({}, random) == 0);
    CHECK(random.next() == untouched.next());
}

TEST_CASE("never negative: a normal draw below zero is mirrored") {
    // Mean 0, stdev 1 mirrored is the half-normal distribution: mean sqrt(2/pi).
    const Moments m = draw_many({.kind = Kind::normal, .mean_s = 0, .stdev_s = 1});
    CHECK(m.least >= 0);
    CHECK(m.mean == Approx(std::sqrt(2 / 3.14159265358979)).epsilon(0.01));
}

TEST_CASE("the same seed gives the same draws") {
    const TimeDistribution d{.kind = Kind::gamma, .shape = 2, .scale_s = 1};
    Random a(3), b(3);
    for (int i = 0; i < 100; ++i) CHECK(draw_s(d, a) == draw_s(d, b));
}

TEST_CASE("edges: no spread, no mean") {
    Random random(5);
    CHECK(draw_s({.kind = Kind::normal, .mean_s = 0.5, .stdev_s = 0}, random) == 0.5);
    CHECK(draw_s({.kind = Kind::uniform, .min_s = 2, .max_s = 2}, random) == 2);
    CHECK(draw_s({.kind = Kind::poisson, .mean_s = 0}, random) == 0);
    CHECK(draw_s({.kind = Kind::exponential, .scale_s = 0}, random) == 0);
    CHECK(TimeDistribution{}.is_zero());
    CHECK_FALSE(TimeDistribution{.mean_s = 0.1}.is_zero());
}
