// Named, reproducible random streams and a seeded permutation that needs no list.
//
// Thread: any; each object belongs to one user. Owner: the holder. Units: none. Errors: none.
// A stream is named, so that adding a draw in one place never shifts the draws of another: Random(stream_seed(seed,
// "think", i)). Source: splitmix64 and xoshiro256++ (Blackman, Vigna, public domain descriptions); cycle-walking
// Feistel permutation.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace feedbench {

constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t stream_seed(std::uint64_t seed, std::string_view name, std::uint64_t index = 0) {
    std::uint64_t h = mix64(seed);
    for (char c : name) h = mix64(h ^ static_cast<unsigned char>(c));
    return mix64(h ^ mix64(index));
}

class Random {
  public:
    explicit Random(std::uint64_t seed) {
        for (auto& word : state_) word = seed = mix64(seed);
    }
    std::uint64_t next() {
        const std::uint64_t result = rotl(state_[0] + state_[3], 23) + state_[0], t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotl(state_[3], 45);
        return result;
    }
    // [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    // [0, bound), bound > 0; bias below 2^-64 * bound.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
    }

  private:
    static constexpr std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    std::uint64_t state_[4];
};

// A bijection of [0, size) chosen by the seed, computed index by index: an epoch's order of 64 million files costs no
// memory.
class Permutation {
  public:
    Permutation(std::uint64_t size, std::uint64_t seed) : size_(size), seed_(seed) {
        while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
        mask_ = (std::uint64_t{1} << half_bits_) - 1;
    }
    std::uint64_t size() const { return size_; }
    std::uint64_t operator()(std::uint64_t index) const {
        if (size_ < 2) return index;
        do index = encrypt(index);
        while (index >= size_); // the domain is less than 4 times the size: four turns on average at most
        return index;
    }

  private:
    std::uint64_t encrypt(std::uint64_t x) const {
        std::uint64_t left = x >> half_bits_, right = x & mask_;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next = left ^ (mix64(right ^ mix64(seed_ + round)) & mask_);
            left = right;
            right = next;
        }
        return (left << half_bits_) | right;
    }
    std::uint64_t size_, seed_, mask_ = 0;
    unsigned half_bits_ = 1;
};

} // namespace feedbench
