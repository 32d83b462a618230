#include "harness/engine/frame_pool.hpp"

#include <algorithm>
#include <sys/mman.h>

namespace feedbench::engine {

namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct Slab {
    std::byte* next = nullptr;
    std::size_t left = 0, size = std::size_t{16} << 10;
};
constinit thread_local Slab slab;

} // namespace

void* FramePool::carve(std::size_t bytes) {
    if (slab.left < bytes) { // what is left is less than one frame: given up
        slab.size = std::min(slab.size * 2, 4 * kHugePageBytes);
        const std::size_t alignment = slab.size >= kHugePageBytes ? kHugePageBytes : 4096;
        slab.next = static_cast<std::byte*>(::operator new (slab.size, std::align_val_t{alignment}));
        slab.left = slab.size;
        if (slab.size >= kHugePageBytes) (void)::madvise(slab.next, slab.size, MADV_HUGEPAGE);
    }
    std::byte* taken = slab.next;
    slab.next += bytes;
    slab.left -= bytes;
    return taken;
}

} // namespace feedbench::engine
