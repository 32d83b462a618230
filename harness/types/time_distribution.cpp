#include "harness/types/time_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace feedbench {

namespace {

// (0, 1]: a logarithm of it is always finite.
double positive_uniform(Random& random) { return 1.0 - random.uniform(); }

double standard_normal(Random& random) {
    // Box and Muller. The second value of the pair is not kept, so that a draw depends on the stream alone.
    const double radius = std::sqrt(-2.0 * std::log(positive_uniform(random)));
    return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

double standard_gamma(double shape, Random& random) {
    // Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). A shape below one is drawn at shape
    // + 1 and brought down by a power of a uniform.
    if (shape < 1.0) return standard_gamma(shape + 1.0, random) * std::pow(positive_uniform(random), 1.0 / shape);
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
        const double x = standard_normal(random);
        const double v = std::pow(1.0 + c * x, 3);
        if (v > 0 && std::log(positive_uniform(random)) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
}

double poisson(double lambda, Random& random) {
    // Sums of independent Poisson draws are Poisson: pieces of at most 16 keep exp(-lambda) far from underflow.
    double count = 0;
    while (lambda > 0) {
        const double piece = std::min(lambda, 16.0), limit = std::exp(-piece);
        for (double product = positive_uniform(random); product > limit; product *= positive_uniform(random)) ++count;
        lambda -= piece;
    }
    return count;
}

} // namespace

double draw_s(const TimeDistribution& d, Random& random) {
    switch (d.kind) {
    case TimeDistribution::Kind::constant:
        return std::max(0.0, d.mean_s);
    case TimeDistribution::Kind::normal:
        return std::abs(d.mean_s + d.stdev_s * standard_normal(random));
    case TimeDistribution::Kind::uniform:
        return std::abs(d.min_s + (d.max_s - d.min_s) * random.uniform());
    case TimeDistribution::Kind::gamma:
        return d.scale_s * standard_gamma(d.shape, random);
    case TimeDistribution::Kind::exponential:
        return -d.scale_s * std::log(positive_uniform(random));
    case TimeDistribution::Kind::poisson:
        return poisson(d.mean_s, random);
    }
    return 0;
}

} // namespace feedbench
