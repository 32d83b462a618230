#include "harness/types/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

namespace feedbench {

// Bucket rule: every power of two from 2^9 ns (512 ns) to 2^40 ns (1099 s) is cut into 64 equal parts. A part is at
// most 1/64 of its lower bound wide and is represented by its middle, so the error is at most 1/128 = 0.78 %. Bucket 0
// takes what is below 512 ns, the last bucket what is 2^40 ns or more. Worked example: 1,000,000 ns lies in [2^19,
// 2^20); parts of 2^13 ns; part 58 = [999,424, 1,007,616); middle 1,003,520 (+0.35 %).
namespace {
constexpr unsigned kFirstExponent = 9, kEndExponent = 40, kPartBits = 6;
constexpr std::size_t kParts = std::size_t{1} << kPartBits;
constexpr std::size_t kBucketCount = (kEndExponent - kFirstExponent) * kParts + 2;

std::size_t bucket_of(std::uint64_t value_ns) {
    if (value_ns < (std::uint64_t{1} << kFirstExponent)) return 0;
    if (value_ns >= (std::uint64_t{1} << kEndExponent)) return kBucketCount - 1;
    const unsigned exponent = static_cast<unsigned>(std::bit_width(value_ns)) - 1;
    const std::uint64_t part = (value_ns >> (exponent - kPartBits)) & (kParts - 1);
    return 1 + (exponent - kFirstExponent) * kParts + part;
}

std::uint64_t lower_bound_ns(std::size_t bucket) {
    if (bucket == 0) return 0;
    if (bucket == kBucketCount - 1) return std::uint64_t{1} << kEndExponent;
    const unsigned exponent = kFirstExponent + static_cast<unsigned>((bucket - 1) / kParts);
    const std::uint64_t part = (bucket - 1) % kParts;
    return (std::uint64_t{1} << exponent) + (part << (exponent - kPartBits));
}

struct Header {
    std::uint64_t count, min_ns, max_ns;
    double sum_ns;
};
struct Entry {
    std::uint64_t bucket, count;
};
} // namespace

Histogram::Histogram() : buckets_(kBucketCount) {}

void Histogram::add(std::uint64_t value_ns, std::uint64_t count) {
    if (count == 0) return;
    buckets_[bucket_of(value_ns)] += count;
    count_ += count;
    min_ = std::min(min_, value_ns);
    max_ = std::max(max_, value_ns);
    sum_ += static_cast<double>(value_ns) * static_cast<double>(count);
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < kBucketCount; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
}

double Histogram::mean_ns() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

// Nearest rank: the smallest value such that at least quantile * count values are not larger. The ends are exact.
double Histogram::quantile_ns(double quantile) const {
    if (count_ == 0) return 0;
    const double wanted = std::ceil(std::clamp(quantile, 0.0, 1.0) * static_cast<double>(count_));
    const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
    if (rank == 1) return static_cast<double>(min_);
    if (rank == count_) return static_cast<double>(max_);
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    while (bucket + 1 < kBucketCount && (seen += buckets_[bucket]) < rank) ++bucket;
    const double low = static_cast<double>(lower_bound_ns(bucket));
    const double high = bucket + 1 < kBucketCount ? static_cast<double>(lower_bound_ns(bucket + 1)) : low;
    return std::clamp((low + high) / 2, static_cast<double>(min_), static_cast<double>(max_));
}

std::string Histogram::serialise() const {
    const Header header{count_, min_, max_, sum_};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    for (std::size_t i = 0; i < kBucketCount; ++i) {
        if (buckets_[i] == 0) continue;
        const Entry entry{i, buckets_[i]};
        bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    }
    return bytes;
}

Histogram Histogram::parse(const std::string& bytes) {
    Histogram result;
    Header header{};
    const bool well_formed = bytes.size() >= sizeof header && (bytes.size() - sizeof header) % sizeof(Entry) == 0;
    assert(well_formed); // it comes from another rank's serialise(), never from a file
    if (!well_formed) return result;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (std::size_t at = sizeof header; at < bytes.size(); at += sizeof(Entry)) {
        Entry entry{};
        std::memcpy(&entry, bytes.data() + at, sizeof entry);
        assert(entry.bucket < kBucketCount);
        if (entry.bucket < kBucketCount) result.buckets_[entry.bucket] += entry.count;
    }
    result.count_ = header.count;
    result.min_ = header.min_ns;
    result.max_ = header.max_ns;
    result.sum_ = header.sum_ns;
    return result;
}

HistogramData Histogram::data(const std::string& key) const {
    HistogramData data;
    data.key = key;
    data.count = count_;
    data.min_ns = min_ns();
    data.max_ns = max_;
    data.mean_ns = mean_ns();
    data.p50_ns = quantile_ns(0.50);
    data.p95_ns = quantile_ns(0.95);
    data.p99_ns = quantile_ns(0.99);
    data.p999_ns = quantile_ns(0.999);
    for (std::size_t i = 0; i < kBucketCount; ++i)
        if (buckets_[i] != 0) data.buckets.emplace_back(lower_bound_ns(i), buckets_[i]);
    return data;
}

} // namespace feedbench
