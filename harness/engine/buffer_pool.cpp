#include "harness/engine/buffer_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <fstream>
#include <string>

#include "harness/types/units.hpp"

namespace feedbench::engine {

namespace {

constexpr std::uint64_t kHugePageBytes = 2 * kMiB;

// 0 = not said. Asked before touching: the kernel promises more memory than it has and kills whoever takes it at its
// word.
std::uint64_t available_memory_bytes() {
    std::ifstream file("/proc/meminfo");
    for (std::string key, rest; file >> key; std::getline(file, rest))
        if (std::uint64_t kib; key == "MemAvailable:" && file >> kib) return kib * kKiB;
    return 0;
}

// "32768K" -> bytes; 0 where the line is something else.
std::uint64_t parse_cache_size(const std::string& text) {
    std::size_t used = 0;
    std::uint64_t value = 0;
    while (used < text.size() && text[used] >= '0' && text[used] <= '9' && used < 15)
        value = value * 10 + static_cast<std::uint64_t>(text[used++] - '0');
    if (used == text.size()) return value;
    return text[used] == 'K' ? value * kKiB : text[used] == 'M' ? value * kMiB : text[used] == 'G' ? value * kGiB : 0;
}

} // namespace

void BufferLease::release() {
    if (!pool_) return;
    pool_->give_back(index_);
    pool_ = nullptr;
    data_ = nullptr;
    size_ = 0;
    index_ = -1;
}

Expected<std::unique_ptr<BufferPool>> BufferPool::make(Layout layout) {
    const std::uint64_t align = std::max<std::uint64_t>(layout.alignment_bytes, 1);
    if (layout.buffer_bytes == 0 || layout.buffer_count == 0 || (align & (align - 1)) != 0 || align > kHugePageBytes)
        return internal_error(
            "a buffer pool needs buffers of at least one byte and an alignment that is a power of two up to 2 MiB");
    auto pool = std::unique_ptr<BufferPool>(new BufferPool(layout));
    const std::uint64_t distinct = layout.overlapping ? 1 : layout.buffer_count,
                        size = round_up(layout.buffer_bytes, align);
    pool->stride_bytes_ = layout.overlapping ? 0 : size;
    const std::uint64_t needed = size * distinct;
    const std::string what =
        std::to_string(layout.buffer_count) + " read buffers of " + std::to_string(layout.buffer_bytes) + " bytes";
    if (needed / distinct != size) return config_error(what + " are more than any machine has");
    const std::uint64_t available = available_memory_bytes();
    if (available != 0 && needed > available)
        return config_error(what + " need " + std::to_string(needed / kMiB) + " MiB, and this host has " +
                            std::to_string(available / kMiB) +
                            " MiB available; lower read_threads, prefetch_size or transfer_size");
    // Begins on a huge page, so that the whole pool can consist of them.
    pool->mapped_bytes_ = round_up(needed, kHugePageBytes) + kHugePageBytes;
    void* mapped = ::mmap(nullptr, pool->mapped_bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return storage_error("mmap", "", errno, what);
    pool->mapping_ = mapped;
    const auto address = reinterpret_cast<std::uintptr_t>(mapped);
    pool->memory_ = static_cast<std::byte*>(mapped) + (round_up(address, kHugePageBytes) - address);
    // Small pools stay on small pages: a huge page of which a corner is used would cost memory for nothing.
    if (layout.huge_pages && needed >= kHugePageBytes)
        ::madvise(pool->memory_, round_down(needed, kHugePageBytes), MADV_HUGEPAGE);
    // Resident before the first measured read: a page fault there would be charged to the storage. A simulation has
    // none.
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    for (std::uint64_t at = 0; at < needed && !layout.overlapping; at += page) pool->memory_[at] = std::byte{0};
    pool->free_.resize(layout.buffer_count);
    for (std::uint32_t i = 0; i < layout.buffer_count; ++i) pool->free_[i] = static_cast<int>(i);
    pool->free_count_ = layout.buffer_count;
    return pool;
}

BufferPool::~BufferPool() {
    assert(free_.empty() || free_count_ == layout_.buffer_count); // a lease outlives the pool
    if (mapping_) ::munmap(mapping_, mapped_bytes_);
}

BufferLease BufferPool::try_lease() {
    BufferLease lease;
    if (free_count_ == 0) return lease;
    lease.pool_ = this;
    lease.index_ = free_[first_free_];
    lease.data_ = memory_ + static_cast<std::uint64_t>(lease.index_) * stride_bytes_;
    lease.size_ = layout_.buffer_bytes;
    first_free_ = first_free_ + 1 == layout_.buffer_count ? 0 : first_free_ + 1;
    --free_count_;
    return lease;
}

void BufferPool::give_back(int index) {
    assert(free_count_ < layout_.buffer_count);
    std::uint32_t at = first_free_ + free_count_;
    if (at >= layout_.buffer_count) at -= layout_.buffer_count;
    free_[at] = index;
    ++free_count_;
}

std::vector<std::span<std::byte>> BufferPool::buffers() const {
    std::vector<std::span<std::byte>> all;
    all.reserve(layout_.buffer_count);
    for (std::uint32_t i = 0; i < layout_.buffer_count; ++i)
        all.emplace_back(memory_ + i * stride_bytes_, layout_.buffer_bytes);
    return all;
}

BufferPool::Layout BufferPool::layout_for(std::uint64_t buffer_bytes, std::uint32_t concurrent,
                                          std::uint64_t rotation_bytes) {
    if (rotation_bytes == 0) rotation_bytes = 2 * last_level_cache_bytes();
    Layout layout{.buffer_bytes = std::max<std::uint64_t>(buffer_bytes, 1), .buffer_count = 1};
    const std::uint64_t rotating = (rotation_bytes + layout.buffer_bytes - 1) / layout.buffer_bytes;
    const std::uint64_t count = std::max<std::uint64_t>({rotating, concurrent, 1});
    layout.buffer_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, ~std::uint32_t{0}));
    return layout;
}

std::uint64_t BufferPool::last_level_cache_bytes() {
    constexpr std::uint64_t kUnknown =
        32 * kMiB; // a common size; too large a guess costs memory, too small a one makes reads too fast
    std::uint64_t best_level = 0, bytes = 0;
    for (int index = 0; index < 16; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
        std::ifstream level_file(folder + "/level"), size_file(folder + "/size");
        std::uint64_t level = 0;
        std::string size;
        if (!(level_file >> level) || !(size_file >> size)) break;
        if (level <= best_level && bytes != 0) continue;
        best_level = level;
        bytes = parse_cache_size(size);
    }
    if (bytes == 0)
        if (const long said = ::sysconf(_SC_LEVEL3_CACHE_SIZE); said > 0) bytes = static_cast<std::uint64_t>(said);
    return bytes == 0 ? kUnknown : bytes;
}

} // namespace feedbench::engine
