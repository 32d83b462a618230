#include "harness/dataset/sizes_dlio.hpp"

#include <cmath>
#include <limits>

namespace feedbench::dataset {

namespace {
constexpr std::uint32_t kWords = 624, kShift = 397;
constexpr std::uint32_t kMatrix = 0x9908b0dfU, kUpper = 0x80000000U, kLower = 0x7fffffffU;

constexpr std::uint32_t twist(std::uint32_t upper, std::uint32_t lower) {
    const std::uint32_t y = (upper & kUpper) | (lower & kLower);
    return (y >> 1) ^ ((lower & 1U) ? kMatrix : 0U);
}
} // namespace

LegacyRandom::LegacyRandom(std::uint32_t seed) {
    for (std::uint32_t i = 0; i < kWords; ++i) {
        state_[i] = seed;
        seed = 1812433253U * (seed ^ (seed >> 30)) + i + 1;
    }
}

void LegacyRandom::regenerate() {
    std::uint32_t i = 0;
    for (; i < kWords - kShift; ++i) state_[i] = state_[i + kShift] ^ twist(state_[i], state_[i + 1]);
    for (; i < kWords - 1; ++i) state_[i] = state_[i + kShift - kWords] ^ twist(state_[i], state_[i + 1]);
    state_[i] = state_[kShift - 1] ^ twist(state_[i], state_[0]);
    position_ = 0;
}

std::uint32_t LegacyRandom::next_word() {
    if (position_ == kWords) regenerate();
    std::uint32_t y = state_[position_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

double LegacyRandom::next_double() {
    const std::uint32_t high = next_word() >> 5, low = next_word() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

double LegacyRandom::next_normal() {
    if (has_kept_) {
        has_kept_ = false;
        return kept_;
    }
    double x, y, square;
    do {
        x = 2.0 * next_double() - 1.0;
        y = 2.0 * next_double() - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    kept_ = factor * x;
    has_kept_ = true;
    return factor * y;
}

SizeDistribution size_distribution(double record_length_bytes, double record_length_bytes_stdev) {
    const double root = std::sqrt(record_length_bytes);
    return {static_cast<std::uint64_t>(root), record_length_bytes_stdev / 2.0 / root};
}

std::uint32_t SizeStream::draw() {
    const double value = static_cast<double>(distribution_.dimension) + distribution_.stdev * random_.next_normal();
    if (value < 1) return 1;
    constexpr double limit = std::numeric_limits<std::uint32_t>::max();
    return value >= limit ? std::numeric_limits<std::uint32_t>::max() : static_cast<std::uint32_t>(value);
}

DimensionPair SizeStream::next() {
    DimensionPair pair;
    pair.first = draw();
    pair.second = draw();
    return pair;
}

} // namespace feedbench::dataset
