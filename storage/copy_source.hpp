// Memory that reads are copied from where a page cache would have been: larger than a CPU's cache, walked in turn.
//
// Thread: reactor thread. Owner: the backend. Units: bytes. Errors: make() where the memory cannot be had.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "harness/engine/buffer_pool.hpp"
#include "harness/types/units.hpp"

namespace feedbench::storage {

class CopySource {
  public:
    static Expected<std::unique_ptr<CopySource>> make(std::uint64_t bytes) {
        if (bytes > 64 * kGiB)
            return config_error("reads can be copied from at most 64 GiB of memory, not " + std::to_string(bytes) +
                                " bytes");
        auto memory = engine::BufferPool::make({.buffer_bytes = bytes, .buffer_count = 1}); // resident
        if (!memory) return memory.error();
        return std::unique_ptr<CopySource>(new CopySource(std::move(*memory)));
    }
    std::span<std::byte> bytes() const { return {lease_.data(), lease_.size()}; }
    // The next stretch, of at most this length; begins anew at the end.
    std::span<const std::byte> next(std::uint64_t at_most) {
        const auto piece = bytes().subspan(at_, std::min(at_most, lease_.size() - at_));
        at_ = (at_ + piece.size()) % lease_.size();
        return piece;
    }

  private:
    explicit CopySource(std::unique_ptr<engine::BufferPool> memory)
        : memory_(std::move(memory)), lease_(memory_->try_lease()) {}
    std::unique_ptr<engine::BufferPool> memory_;
    engine::BufferLease lease_;
    std::uint64_t at_ = 0;
};

} // namespace feedbench::storage
