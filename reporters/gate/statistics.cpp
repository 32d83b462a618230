#include "reporters/gate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/types/random.hpp"

namespace feedbench::gate {
namespace {

// Two runs that agree by luck say little: with less freedom than the least there is no interval, and below enough it is
// no narrower than the runs vary within themselves.
constexpr unsigned kLeastFreedom = 2, kEnoughFreedom = 4;

// P(T <= t) for t >= 0: Abramowitz and Stegun 26.7.3 and 26.7.4, finite series for whole degrees of freedom.
double student_cdf(double t, unsigned freedom) {
    const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
    const double c = std::cos(angle), s = std::sin(angle);
    double term = freedom % 2 == 0 ? s : s * c, sum = freedom > 1 ? term : 0;
    for (unsigned k = freedom % 2 == 0 ? 2 : 3; k < freedom; k += 2) {
        term *= c * c * (k - 1) / k;
        sum += term;
    }
    const double between = freedom % 2 == 0 ? sum : 2 / M_PI * (angle + sum); // P(-t <= T <= t)
    return 0.5 + between / 2;
}

double median_in_place(std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
    const double upper = values[middle];
    if (values.size() % 2 == 1) return upper;
    return (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) / 2;
}

double figure_of(const std::vector<Part>& parts) {
    double above = 0, below = 0;
    for (const Part& part : parts) {
        above += part.above;
        below += part.below;
    }
    return below > 0 ? above / below : 0;
}

double standard_deviation(const std::vector<double>& values) {
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> logarithms(const std::vector<double>& figures) {
    std::vector<double> logs;
    for (const double figure : figures) logs.push_back(std::log(figure));
    return logs;
}

// How far runs lie from the mean of their side, both sides together: what a run differs by without any change. They are
// scaled so that their variance has no bias for few runs.
struct Scatter {
    std::vector<double> deviations;
    unsigned freedom = 0;
};
Scatter scatter_of(const std::vector<double>& a, const std::vector<double>& b) {
    Scatter scatter;
    for (const std::vector<double>* side : {&a, &b}) {
        if (side->size() < 2) continue;
        const double mean = std::accumulate(side->begin(), side->end(), 0.0) / static_cast<double>(side->size());
        for (const double value : *side) scatter.deviations.push_back(value - mean);
        scatter.freedom += static_cast<unsigned>(side->size()) - 1;
    }
    if (scatter.freedom > 0) {
        const double scale = std::sqrt(static_cast<double>(scatter.deviations.size()) / scatter.freedom);
        for (double& deviation : scatter.deviations) deviation *= scale;
    }
    return scatter;
}

// Standard error of the difference of the two medians of logarithms, runs being drawn with replacement.
double error_between_runs(const Scatter& scatter, std::size_t baseline, std::size_t candidate, const Resampling& how) {
    Random random(stream_seed(how.seed, "gate runs"));
    std::vector<double> differences, draws;
    differences.reserve(how.replicates);
    const auto drawn_median = [&](std::size_t count) {
        draws.clear();
        for (std::size_t i = 0; i < count; ++i)
            draws.push_back(scatter.deviations[random.below(scatter.deviations.size())]);
        return median_in_place(draws);
    };
    for (std::uint32_t i = 0; i < how.replicates; ++i) {
        const double of_candidate = drawn_median(candidate);
        differences.push_back(of_candidate - drawn_median(baseline));
    }
    return standard_deviation(differences);
}

// One run again, its parts drawn in circular pieces: what follows on another is like it, so neighbours stay together.
double redrawn(const std::vector<Part>& parts, std::vector<Part>& scratch, Random& random) {
    const std::size_t piece =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::cbrt(static_cast<double>(parts.size()))));
    scratch.clear();
    while (scratch.size() < parts.size()) {
        const std::size_t start = random.below(parts.size());
        for (std::size_t i = 0; i < piece && scratch.size() < parts.size(); ++i)
            scratch.push_back(parts[(start + i) % parts.size()]);
    }
    return figure_of(scratch);
}

// Standard error of the same difference as far as the parts of each run tell; nothing where a run has none.
std::optional<double> error_within_runs(const Repetitions& baseline, const Repetitions& candidate,
                                        const Resampling& how) {
    for (const Repetitions* side : {&baseline, &candidate})
        for (const std::vector<Part>& parts : side->parts) // as many as there are figures: an empty one for no parts
            if (parts.size() < 2 || figure_of(parts) <= 0) return std::nullopt;
    if (baseline.parts.empty() || candidate.parts.empty()) return std::nullopt;
    Random random(stream_seed(how.seed, "gate parts"));
    std::vector<double> differences, figures;
    std::vector<Part> scratch;
    const std::uint32_t replicates = std::max(200U, how.replicates / 10); // for an error, a tenth is enough
    const auto drawn_median = [&](const Repetitions& side) {
        figures.clear();
        for (const std::vector<Part>& parts : side.parts)
            figures.push_back(std::log(std::max(redrawn(parts, scratch, random), 1e-300)) - std::log(figure_of(parts)));
        return median_in_place(figures);
    };
    for (std::uint32_t i = 0; i < replicates; ++i) {
        const double of_candidate = drawn_median(candidate);
        differences.push_back(of_candidate - drawn_median(baseline));
    }
    return standard_deviation(differences);
}

unsigned freedom_of_parts(const Repetitions& baseline, const Repetitions& candidate) {
    std::size_t freedom = 0;
    for (const Repetitions* side : {&baseline, &candidate})
        for (const std::vector<Part>& parts : side->parts) freedom += parts.size() - 1;
    return static_cast<unsigned>(std::min<std::size_t>(freedom, 1000));
}

} // namespace

double median(std::vector<double> values) { return median_in_place(values); }

double student_quantile(double probability, unsigned freedom) {
    double low = 0, high = 1;
    while (student_cdf(high, freedom) < probability && high < 1e12) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
        const double middle = (low + high) / 2;
        (student_cdf(middle, freedom) < probability ? low : high) = middle;
    }
    return (low + high) / 2;
}

RatioEstimate estimate_ratio(const Repetitions& baseline, const Repetitions& candidate, const Resampling& how) {
    RatioEstimate estimate;
    estimate.ratio = median(candidate.figures) / median(baseline.figures);
    const std::vector<double> b = logarithms(baseline.figures), c = logarithms(candidate.figures);
    const Scatter scatter = scatter_of(b, c);
    estimate.freedom = scatter.freedom;
    if (b.size() > 1) estimate.baseline_spread = standard_deviation(b);
    const double tail = (1 + how.confidence) / 2;
    std::optional<double> within;
    if (scatter.freedom < kEnoughFreedom) within = error_within_runs(baseline, candidate, how);
    if (within) {
        const double reach = std::exp(*within * student_quantile(tail, freedom_of_parts(baseline, candidate)));
        estimate.low_within = estimate.ratio / reach;
        estimate.high_within = estimate.ratio * reach;
    }
    if (scatter.freedom < kLeastFreedom) return estimate;
    double error = error_between_runs(scatter, b.size(), c.size(), how);
    if (within) error = std::max(error, *within);
    const double reach = std::exp(error * student_quantile(tail, scatter.freedom));
    estimate.low = estimate.ratio / reach;
    estimate.high = estimate.ratio * reach;
    return estimate;
}

} // namespace feedbench::gate
