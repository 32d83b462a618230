// Buffers for chunks and records, kept and used again: memory that is touched for the first time costs more than the
// copy into it. What is written to disks lies in pages of 2 MiB where the kernel has them: a request of a disk is as
// long as its list of pages allows, and out of 4 KiB pages that is 1 MiB on many.
//
// Thread: any. Owner: BlockMemory outlives its buffers. Units: bytes. Errors: std::bad_alloc, as anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace feedbench::feedfs {

class BlockMemory;
struct BlockRow;

// Move-only; goes back at its end. Aligned to 4 KiB.
class BlockBuffer {
  public:
    BlockBuffer() = default;
    BlockBuffer(BlockBuffer&& other) noexcept { *this = std::move(other); }
    BlockBuffer& operator=(BlockBuffer&& other) noexcept;
    ~BlockBuffer() { release(); }
    void release();

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; } // at least what was asked for
    explicit operator bool() const { return data_ != nullptr; }

  private:
    friend class BlockMemory;
    BlockMemory* memory_ = nullptr;
    BlockRow* row_ = nullptr; // where it was taken from; else it has memory of its own
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

class BlockMemory {
  public:
    static constexpr std::size_t kRowBytes = 4 << 20;

    // Keeps at most so many unused bytes.
    explicit BlockMemory(std::size_t keep_bytes = 128UL << 20) : keep_bytes_(keep_bytes) {}
    ~BlockMemory();
    BlockMemory(const BlockMemory&) = delete;
    BlockMemory& operator=(const BlockMemory&) = delete;
    // Of the next size up: 16 KiB, 32 KiB, ... 16 MiB, from 1 MiB on with a block more (a record of so many bytes has
    // one); above that exactly what is asked for.
    BlockBuffer take(std::size_t bytes);
    // At most kRowBytes, right behind what this thread took so before if there is room: records that are written
    // together lie together. For what goes back soon: a row is used again when all of it is back.
    BlockBuffer take_in_row(std::size_t bytes);

  private:
    friend class BlockBuffer;
    static constexpr std::size_t kSmallestBytes = 16 * 1024, kClasses = 11, kLanes = 8;
    struct Lane { // of the threads that share it: where they take from
        std::mutex mutex;
        BlockRow* row = nullptr;
    };
    void give_back(std::byte* data, std::size_t size);
    BlockRow* new_row();
    void leave(BlockRow* row);                      // by one of its users
    static std::size_t class_of(std::size_t bytes); // kClasses: larger than all
    static std::size_t class_bytes(std::size_t index);

    const std::size_t keep_bytes_;
    std::mutex mutex_;
    std::size_t kept_bytes_ = 0;
    std::array<std::vector<std::byte*>, kClasses> unused_;
    std::vector<BlockRow*> unused_rows_;
    std::array<Lane, kLanes> lanes_;
};

} // namespace feedbench::feedfs
