// How long something takes: a number, or a distribution that a time is drawn from.
//
// Thread: any; the Random belongs to the caller. Owner: the holder. Units: seconds.
// Errors: none here; harness/config refuses parameters that cannot be.
// Source: DLIO's time configuration, which hands its keys to numpy.random; kind by kind:
//   constant     mean
//   normal       mean, stdev                        numpy.random.normal(mean, stdev)
//   uniform      min, max                           numpy.random.uniform(min, max), max itself excluded
//   gamma        shape k, scale theta               numpy.random.gamma(k, theta); mean k*theta, variance k*theta^2
//   exponential  scale                              numpy.random.exponential(scale); scale is the mean
//   poisson      lam, kept in mean_s                numpy.random.poisson(lam): whole seconds
// A normal draw below zero is mirrored to its absolute value, as DLIO does it, so that no draw is ever negative.
#pragma once

#include "harness/types/random.hpp"

#include <cstdint>

namespace feedbench {

struct TimeDistribution {
    enum class Kind : std::uint8_t { constant, normal, uniform, gamma, exponential, poisson } kind = Kind::constant;
    double mean_s = 0, stdev_s = 0; // of every kind: parameters of constant, normal and poisson, derived for the others
    double min_s = 0, max_s = 0;    // uniform
    double shape = 0, scale_s = 0;  // gamma; exponential uses scale_s

    bool is_zero() const { return kind == Kind::constant && mean_s <= 0; }
    bool operator==(const TimeDistribution&) const = default;
};

// One draw. A constant takes nothing from the stream. Worked example: {normal, mean 0.3, stdev 0.1} over 100,000 draws
// has mean 0.300 and stdev 0.100; {gamma, shape 4, scale 0.05} has mean 0.2 and stdev 0.1.
double draw_s(const TimeDistribution& distribution, Random& random);

} // namespace feedbench
