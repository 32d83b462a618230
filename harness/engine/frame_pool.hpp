// Memory of coroutine frames: a finished task's frame serves the next one of its size.
//
// Thread: each thread has its own lists; a frame goes back to those of the thread that frees it. Owner: the thread, to
// its end. Units: bytes. Errors: std::bad_alloc, as operator new. Source: DESIGN section 4 (thousands of small frames).
// A read costs some seven frames of 200 bytes to 2 KiB. The C library keeps seven blocks of a size at hand and merges
// and splits the rest: that was 40 % of a run of 10,000 accelerators under the virtual clock.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace feedbench::engine {

class FramePool {
  public:
    static void* take(std::size_t bytes) {
        const std::size_t size_class = class_of(bytes);
        if (!kKeeps || size_class >= kClassCount) return ::operator new(bytes);
        Block*& first = free_[size_class];
        if (first == nullptr) return carve((size_class + 1) * kGrainBytes);
        Block* taken = first;
        first = taken->next;
        return taken;
    }
    static void give_back(void* frame, std::size_t bytes) noexcept {
        const std::size_t size_class = class_of(bytes);
        if (!kKeeps || size_class >= kClassCount) {
            ::operator delete(frame);
            return;
        }
        free_[size_class] = ::new (frame) Block{free_[size_class]};
    }

  private:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static constexpr bool kKeeps = false; // a sanitizer wants to see every frame freed
#else
    static constexpr bool kKeeps = true;
#endif
    static constexpr std::size_t kGrainBytes = 64, kClassCount = 64; // frames up to 4 KiB
    struct Block {
        Block* next;
    };
    // New memory, cut from slabs that grow with what they are asked for: a few frames cost little, and 100,000 readers
    // lie in huge pages (their frames are touched in turn, and every page of 4 KiB was a miss of its own).
    static void* carve(std::size_t bytes);
    static std::size_t class_of(std::size_t bytes) { return (bytes - 1) / kGrainBytes; }
    static inline constinit thread_local std::array<Block*, kClassCount> free_{};
};

} // namespace feedbench::engine
