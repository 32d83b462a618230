#include "generators/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "generators/content_lanes.hpp"
#include "harness/types/random.hpp"

namespace feedbench::generators {

namespace {

constexpr std::size_t kBlockBytes = kContentBlockBytes, kLineBytes = kContentLineBytes;
constexpr std::uint64_t kDedupePoolBlocks = 64;

BlockKey block_key(std::uint64_t seed, std::uint64_t file_index, std::uint64_t block_index) {
    return {mix64(mix64(mix64(seed) ^ file_index) + block_index),
            mix64(mix64(mix64(~seed) + block_index) ^ mix64(file_index + 0x9e3779b97f4a7c15ULL))};
}

const RunLanes run_lanes = fastest_run_lanes();

} // namespace

Content::Content(ContentParameters parameters) : parameters_(parameters) {
    const auto share = [](double percent) { return std::clamp(percent, 0.0, 100.0) / 100; };
    const auto zero_lines =
        static_cast<std::size_t>(share(parameters.compress_percent) * (kBlockBytes / kLineBytes) + 0.5);
    random_bytes_ = kBlockBytes - zero_lines * kLineBytes;
    dedupe_limit_ = static_cast<std::uint64_t>(share(parameters.dedupe_percent) * 0x1p32);
}

void Content::fill_block(std::uint64_t file_index, std::uint64_t block_index, std::byte* out) const {
    BlockKey key = block_key(parameters_.seed, file_index, block_index);
    if (dedupe_limit_ > 0 && (mix64(key.first ^ key.second) >> 32) < dedupe_limit_)
        key = block_key(stream_seed(parameters_.seed, "dedupe"), 0, key.second % kDedupePoolBlocks);
    run_lanes(key, out, random_bytes_);
    if (random_bytes_ < kBlockBytes) std::memset(out + random_bytes_, 0, kBlockBytes - random_bytes_);
}

void Content::fill(std::uint64_t file_index, std::uint64_t offset, std::span<std::byte> out) const {
    std::uint64_t block_index = offset / kBlockBytes;
    std::size_t skip = offset % kBlockBytes;
    for (; !out.empty(); ++block_index, skip = 0) {
        const std::size_t size = std::min(out.size(), kBlockBytes - skip);
        if (size == kBlockBytes) {
            fill_block(file_index, block_index, out.data());
        } else {
            alignas(kLineBytes) std::array<std::byte, kBlockBytes> block;
            fill_block(file_index, block_index, block.data());
            std::memcpy(out.data(), block.data() + skip, size);
        }
        out = out.subspan(size);
    }
}

std::size_t Content::first_difference(std::uint64_t file_index, std::uint64_t offset,
                                      std::span<const std::byte> data) const {
    alignas(kLineBytes) std::array<std::byte, kBlockBytes> block;
    for (std::size_t done = 0; done < data.size();) {
        const std::uint64_t position = offset + done;
        const std::size_t skip = position % kBlockBytes, size = std::min(data.size() - done, kBlockBytes - skip);
        fill_block(file_index, position / kBlockBytes, block.data());
        const auto found = data.subspan(done, size);
        if (std::memcmp(found.data(), block.data() + skip, size) != 0)
            return done + static_cast<std::size_t>(
                              std::mismatch(found.begin(), found.end(), block.begin() + skip).first - found.begin());
        done += size;
    }
    return data.size();
}

} // namespace feedbench::generators
