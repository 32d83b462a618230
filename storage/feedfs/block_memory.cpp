#include "storage/feedfs/block_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cassert>
#include <new>
#include <utility>

#include "storage/feedfs/volume.hpp"

namespace feedbench::feedfs {

// Memory that buffers are cut from, one behind the other.
struct BlockRow {
    std::byte* data = nullptr;
    std::size_t used = 0;                // changed under its lane's mutex
    std::atomic<std::uint32_t> users{1}; // buffers, and the lane as long as it takes from it
};

namespace {

constexpr std::align_val_t kAlignment{kBlockBytes};
constexpr std::size_t kHugePageBytes = 2 << 20;

std::byte* allocate(std::size_t bytes) {
    if (bytes < kHugePageBytes) return static_cast<std::byte*>(::operator new(bytes, kAlignment));
    auto* const data = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kHugePageBytes}));
    // Only whole ones: what is behind them is touched less often than asked for. A kernel without them gives small
    // ones.
    (void)::madvise(data, bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
    return data;
}

void deallocate(std::byte* data, std::size_t bytes) {
    ::operator delete (data, bytes < kHugePageBytes ? kAlignment : std::align_val_t{kHugePageBytes});
}

std::size_t lane_of_this_thread() {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t mine = threads.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

} // namespace

BlockBuffer& BlockBuffer::operator=(BlockBuffer&& other) noexcept {
    if (this == &other) return *this;
    release();
    memory_ = std::exchange(other.memory_, nullptr);
    row_ = std::exchange(other.row_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
}

void BlockBuffer::release() {
    if (row_)
        memory_->leave(row_);
    else if (data_)
        memory_->give_back(data_, size_);
    row_ = nullptr;
    data_ = nullptr;
    size_ = 0;
}

std::size_t BlockMemory::class_bytes(std::size_t index) {
    const std::size_t bytes = kSmallestBytes << index;
    return bytes < (1 << 20) ? bytes : bytes + kBlockBytes;
}

std::size_t BlockMemory::class_of(std::size_t bytes) {
    std::size_t index = 0;
    while (index < kClasses && class_bytes(index) < bytes) ++index;
    return index;
}

BlockBuffer BlockMemory::take(std::size_t bytes) {
    const std::size_t index = class_of(bytes);
    BlockBuffer buffer;
    buffer.memory_ = this;
    buffer.size_ = index < kClasses ? class_bytes(index) : (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    if (index < kClasses) {
        const std::lock_guard lock(mutex_);
        if (!unused_[index].empty()) {
            buffer.data_ = unused_[index].back();
            unused_[index].pop_back();
            kept_bytes_ -= buffer.size_;
            return buffer;
        }
    }
    buffer.data_ = allocate(buffer.size_);
    return buffer;
}

void BlockMemory::give_back(std::byte* data, std::size_t size) {
    const std::size_t index = class_of(size);
    if (index < kClasses) {
        const std::lock_guard lock(mutex_);
        if (kept_bytes_ + size <= keep_bytes_) {
            unused_[index].push_back(data);
            kept_bytes_ += size;
            return;
        }
    }
    deallocate(data, size);
}

BlockBuffer BlockMemory::take_in_row(std::size_t bytes) {
    assert(bytes > 0 && bytes <= kRowBytes);
    BlockBuffer buffer;
    buffer.memory_ = this;
    buffer.size_ = (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    Lane& lane = lanes_[lane_of_this_thread() % kLanes];
    const std::lock_guard lock(lane.mutex);
    if (lane.row && lane.row->users.load(std::memory_order_acquire) == 1) lane.row->used = 0; // all of it is back
    if (lane.row && lane.row->used + buffer.size_ > kRowBytes) leave(std::exchange(lane.row, nullptr));
    if (!lane.row) lane.row = new_row();
    lane.row->users.fetch_add(1, std::memory_order_relaxed);
    buffer.row_ = lane.row;
    buffer.data_ = lane.row->data + lane.row->used;
    lane.row->used += buffer.size_;
    return buffer;
}

BlockRow* BlockMemory::new_row() {
    {
        const std::lock_guard lock(mutex_);
        if (!unused_rows_.empty()) {
            BlockRow* const row = unused_rows_.back();
            unused_rows_.pop_back();
            kept_bytes_ -= kRowBytes;
            row->users.store(1, std::memory_order_relaxed);
            row->used = 0;
            return row;
        }
    }
    auto row = std::make_unique<BlockRow>();
    row->data = allocate(kRowBytes);
    return row.release();
}

void BlockMemory::leave(BlockRow* row) {
    if (row->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    {
        const std::lock_guard lock(mutex_);
        if (kept_bytes_ + kRowBytes <= keep_bytes_) {
            unused_rows_.push_back(row);
            kept_bytes_ += kRowBytes;
            return;
        }
    }
    deallocate(row->data, kRowBytes);
    delete row;
}

BlockMemory::~BlockMemory() {
    for (std::size_t index = 0; index < kClasses; ++index)
        for (std::byte* data : unused_[index]) deallocate(data, class_bytes(index));
    for (Lane& lane : lanes_)
        if (lane.row) unused_rows_.push_back(lane.row);
    for (BlockRow* row : unused_rows_) {
        deallocate(row->data, kRowBytes);
        delete row;
    }
}

} // namespace feedbench::feedfs
