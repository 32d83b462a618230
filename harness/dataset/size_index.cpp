#include "harness/dataset/size_index.hpp"

#include <algorithm>
#include <cassert>

namespace feedbench::dataset {

SizeIndex::SizeIndex(SizeDistribution distribution, std::uint32_t seed, Range range, std::uint64_t table_files)
    : distribution_(distribution), seed_(seed), range_(range), table_files_(table_files),
      interval_(std::max<std::uint64_t>(1, (range.count + kCheckpoints - 1) / kCheckpoints)) {}

void SizeIndex::build() const {
    std::call_once(built_, [this] {
        SizeStream stream(distribution_, seed_);
        for (std::uint64_t i = 0; i < range_.first; ++i) stream.next();
        if (has_table()) table_.reserve(range_.count);
        checkpoints_.reserve((range_.count + interval_ - 1) / interval_);
        for (std::uint64_t i = 0; i < range_.count; ++i) {
            if (i % interval_ == 0) checkpoints_.push_back(stream);
            const DimensionPair pair = stream.next();
            total_elements_ += std::uint64_t{pair.first} * pair.second;
            if (has_table()) table_.push_back(pair);
        }
    });
}

SizeStream SizeIndex::stream_at(std::uint64_t file_index) const {
    assert(file_index < range_.count);
    build();
    SizeStream stream = checkpoints_[file_index / interval_];
    for (std::uint64_t skip = file_index % interval_; skip > 0; --skip) stream.next();
    return stream;
}

DimensionPair SizeIndex::at(std::uint64_t file_index) const {
    assert(file_index < range_.count);
    build();
    return has_table() ? table_[file_index] : stream_at(file_index).next();
}

std::uint64_t SizeIndex::total_elements() const {
    build();
    return total_elements_;
}

std::uint64_t SizeIndex::memory_bytes() const {
    return table_.capacity() * sizeof(DimensionPair) + checkpoints_.capacity() * sizeof(SizeStream);
}

} // namespace feedbench::dataset
