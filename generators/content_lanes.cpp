#include "generators/content_lanes.hpp"

#include <bit>
#include <cstring>

#include "harness/types/random.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace feedbench::generators {

namespace {

static_assert(std::endian::native == std::endian::little, "content is defined as little-endian words");

constexpr std::size_t kLanes = 8;

struct alignas(32) Seeds {
    std::uint64_t s0[kLanes], s1[kLanes];
};

inline Seeds seeds_of(BlockKey key) {
    Seeds seeds;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        seeds.s0[lane] = mix64(key.first + lane * 0xd1342543de82ef95ULL);
        seeds.s1[lane] = mix64(key.second + lane * 0xaf251af3b0f025b5ULL) | 1; // an all-zero state would stay so
    }
    return seeds;
}

#if defined(__x86_64__)
// A function for one instruction set, chosen by hand: target_clones would do it by an ifunc, which sanitizers do not
// like, and vector types that cross an inlined function of another target are taken to pieces.
__attribute__((target("avx2"))) void run_lanes_avx2(BlockKey key, std::byte* out, std::size_t bytes) {
    const Seeds seeds = seeds_of(key);
    __m256i low0 = _mm256_load_si256(reinterpret_cast<const __m256i*>(seeds.s0));
    __m256i high0 = _mm256_load_si256(reinterpret_cast<const __m256i*>(seeds.s0 + 4));
    __m256i low1 = _mm256_load_si256(reinterpret_cast<const __m256i*>(seeds.s1));
    __m256i high1 = _mm256_load_si256(reinterpret_cast<const __m256i*>(seeds.s1 + 4));
    for (std::size_t i = 0; i < bytes; i += kContentLineBytes) {
        const __m256i x = _mm256_xor_si256(low0, _mm256_slli_epi64(low0, 23));
        const __m256i z = _mm256_xor_si256(high0, _mm256_slli_epi64(high0, 23));
        low0 = low1;
        high0 = high1;
        low1 = _mm256_xor_si256(_mm256_xor_si256(x, low0),
                                _mm256_xor_si256(_mm256_srli_epi64(x, 17), _mm256_srli_epi64(low0, 26)));
        high1 = _mm256_xor_si256(_mm256_xor_si256(z, high0),
                                 _mm256_xor_si256(_mm256_srli_epi64(z, 17), _mm256_srli_epi64(high0, 26)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_add_epi64(low1, low0));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 32), _mm256_add_epi64(high1, high0));
    }
}
#endif

} // namespace

void run_lanes_portable(BlockKey key, std::byte* out, std::size_t bytes) {
    Seeds seeds = seeds_of(key);
    for (std::size_t i = 0; i < bytes; i += kContentLineBytes) {
        std::uint64_t line[kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint64_t x = seeds.s0[lane] ^ (seeds.s0[lane] << 23), y = seeds.s1[lane];
            seeds.s0[lane] = y;
            seeds.s1[lane] = x ^ y ^ (x >> 17) ^ (y >> 26);
            line[lane] = seeds.s1[lane] + y;
        }
        std::memcpy(out + i, line, sizeof line);
    }
}

RunLanes fastest_run_lanes() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return run_lanes_avx2;
#endif
    return run_lanes_portable;
}

} // namespace feedbench::generators
