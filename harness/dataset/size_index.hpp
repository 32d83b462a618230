// Random access to the drawn sizes of one split, in bounded memory.
//
// Thread: any (const; the first question builds the index, others wait for it). Owner: DatasetPlan.
// Units: elements. Errors: none.
// Up to kTableFiles files the pairs themselves are kept (8 bytes a file); beyond that at most kCheckpoints places of
// the random stream (2.5 KB each), from which a size is drawn anew. Nothing is drawn before the first question (case
// P10).
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "harness/dataset/sizes_dlio.hpp"

namespace feedbench::dataset {

class SizeIndex {
  public:
    static constexpr std::uint64_t kTableFiles = std::uint64_t{1} << 20;
    static constexpr std::uint64_t kCheckpoints = 1024;

    struct Range {
        std::uint64_t first = 0; // draws before this split's own: valid comes after train
        std::uint64_t count = 0;
    };
    // `table_files` is a parameter for tests only.
    SizeIndex(SizeDistribution distribution, std::uint32_t seed, Range range, std::uint64_t table_files = kTableFiles);

    DimensionPair at(std::uint64_t file_index) const;
    std::uint64_t total_elements() const;                 // sum of first * second
    SizeStream stream_at(std::uint64_t file_index) const; // its next() gives the size of this file
    bool has_table() const { return range_.count <= table_files_; }
    std::uint64_t memory_bytes() const; // of the index as built

  private:
    void build() const;
    SizeDistribution distribution_;
    std::uint32_t seed_;
    Range range_;
    std::uint64_t table_files_;
    std::uint64_t interval_; // files between checkpoints
    mutable std::once_flag built_;
    mutable std::vector<DimensionPair> table_;
    mutable std::vector<SizeStream> checkpoints_;
    mutable std::uint64_t total_elements_ = 0;
};

} // namespace feedbench::dataset
