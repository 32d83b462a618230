// Sizes of a dataset's files as the reference generator draws them: numpy's legacy random numbers, two draws a file.
//
// Thread: plain values, one user at a time. Owner: the holder. Units: dimensions in elements (bytes for uint8), record
// length in bytes. Errors: none; DatasetPlan::make refuses lengths that cannot be. Source: reference.md section 1.
// numpy `RandomState(seed)` for an integer seed is MT19937 with Knuth's initialisation (Matsumoto, Nishimura 1998,
// init_genrand), doubles of 53 bits from two words, normals by the polar method (Marsaglia) where the second value of a
// pair is kept for the next call. Worked example (also a test): unet3d, record length 146600628, stdev 68341808:
// dimension 12107, dimension stdev 2822.204975, first files 15865x14125, 7745x12083, 13860x10074.
#pragma once

#include <array>
#include <cstdint>

namespace feedbench::dataset {

// numpy.random.RandomState(seed), as far as the generator uses it. 2.5 KB, copyable: a copy is a place in the stream.
class LegacyRandom {
  public:
    explicit LegacyRandom(std::uint32_t seed);
    std::uint32_t next_word();
    double next_double(); // [0, 1), 53 bits
    double next_normal(); // mean 0, standard deviation 1

  private:
    void regenerate();
    std::array<std::uint32_t, 624> state_;
    std::uint32_t position_ = 624;
    bool has_kept_ = false;
    double kept_ = 0;
};

struct DimensionPair {
    std::uint32_t first = 1, second = 1;
    bool operator==(const DimensionPair&) const = default;
};

// The two formulas of the reference generator.
struct SizeDistribution {
    std::uint64_t dimension = 0; // int(sqrt(record_length))
    double stdev = 0;            // record_length_stdev / 2 / sqrt(record_length)
};
SizeDistribution size_distribution(double record_length_bytes, double record_length_bytes_stdev);

// Draws the sizes of file 0, 1, 2, ... of train and then valid.
class SizeStream {
  public:
    SizeStream(SizeDistribution distribution, std::uint32_t seed) : distribution_(distribution), random_(seed) {}
    DimensionPair next();

  private:
    std::uint32_t draw();
    SizeDistribution distribution_;
    LegacyRandom random_;
};

} // namespace feedbench::dataset
