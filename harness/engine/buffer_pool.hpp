// A bounded pool of aligned, resident buffers in which data lands; handed out in rotation so that data really goes to
// DRAM.
//
// Thread: reactor thread. Owner: the workload; leases return their buffer when destroyed. Units: bytes.
// Errors: make() where the memory cannot be had. Source: DESIGN section 4 (larger than the last-level cache, reused in
// rotation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::engine {

class BufferPool;

// Move-only right to use one buffer. Never destroy it while an operation on it is in flight.
class BufferLease {
  public:
    BufferLease() = default;
    BufferLease(BufferLease&& other) noexcept { swap(other); }
    BufferLease& operator=(BufferLease&& other) noexcept {
        BufferLease moved(std::move(other));
        swap(moved);
        return *this;
    }
    BufferLease(const BufferLease&) = delete;
    BufferLease& operator=(const BufferLease&) = delete;
    ~BufferLease() { release(); }
    explicit operator bool() const { return pool_ != nullptr; }
    std::byte* data() const { return data_; }
    std::uint64_t size() const { return size_; }
    int index() const { return index_; } // registered buffer index
    void release();

  private:
    friend class BufferPool;
    void swap(BufferLease& o) noexcept {
        std::swap(pool_, o.pool_);
        std::swap(data_, o.data_);
        std::swap(size_, o.size_);
        std::swap(index_, o.index_);
    }
    BufferPool* pool_ = nullptr;
    std::byte* data_ = nullptr;
    std::uint64_t size_ = 0;
    int index_ = -1;
};

class BufferPool {
  public:
    struct Layout {
        std::uint64_t buffer_bytes;
        std::uint32_t buffer_count;
        std::uint64_t alignment_bytes = 4096; // a power of two; buffers lie at multiples of it
        // All leases are the same memory: for simulations, where nobody looks at what was read and a hundred thousand
        // accelerators may read at once.
        bool overlapping = false;
        bool huge_pages = true; // asks for transparent huge pages; a kernel that has none gives small ones
        std::uint64_t total_bytes() const { return buffer_bytes * (overlapping ? 1 : buffer_count); }
    };
    static Expected<std::unique_ptr<BufferPool>> make(Layout layout);
    // Enough buffers for `concurrent` users, and at least `rotation_bytes` in all (0: twice the last-level cache).
    static Layout layout_for(std::uint64_t buffer_bytes, std::uint32_t concurrent, std::uint64_t rotation_bytes);
    static std::uint64_t last_level_cache_bytes();

    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    // The buffer that has rested longest. An empty lease when none is free: the caller's window was larger than the
    // pool's.
    BufferLease try_lease();
    std::uint32_t free_count() const { return free_count_; }
    const Layout& layout() const { return layout_; }
    std::uint64_t total_bytes() const { return layout_.total_bytes(); }
    std::vector<std::span<std::byte>> buffers() const; // to register with the ring

  private:
    friend class BufferLease;
    explicit BufferPool(Layout layout) : layout_(layout) {}
    void give_back(int index);
    Layout layout_;
    void* mapping_ = nullptr;
    std::byte* memory_ = nullptr; // inside it, at a huge page
    std::uint64_t mapped_bytes_ = 0, stride_bytes_ = 0;
    std::vector<int> free_; // a ring of buffer indices, the one that has rested longest at first_free_
    std::uint32_t first_free_ = 0, free_count_ = 0;
};

} // namespace feedbench::engine
