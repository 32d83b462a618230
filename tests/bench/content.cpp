// Speed of the content generator on one core, beside memset on the same memory in the same run.
//
// The buffer is larger than the last-level cache and its pages are resident, so that what is measured is what datagen
// has: bytes that end in DRAM. Turns of generator and memset alternate, so that a noisy machine disturbs both alike;
// the best turn counts.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "generators/content.hpp"

namespace {

double gigabytes_per_second(std::size_t bytes, std::chrono::steady_clock::duration taken) {
    return static_cast<double>(bytes) / 1e9 / std::chrono::duration<double>(taken).count();
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t buffer_bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 128) << 20,
                      piece_bytes = 1 << 20;
    const int turns = argc > 2 ? std::atoi(argv[2]) : 20;
    if (buffer_bytes == 0 || turns <= 0) {
        std::fprintf(stderr, "usage: bench_content [buffer_MiB] [turns]\n");
        return 2;
    }
    void* memory =
        mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("mmap");
        return 1;
    }
    const std::span<std::byte> buffer(static_cast<std::byte*>(memory), buffer_bytes);
    const feedbench::generators::Content content({.seed = 42});
    double generator = 0, checker = 0, fill = 0;
    std::size_t bad = 0;
    for (int turn = 0; turn < turns; ++turn) {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < buffer_bytes; at += piece_bytes)
            content.fill(static_cast<std::uint64_t>(turn), at, buffer.subspan(at, piece_bytes));
        const auto generated = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < buffer_bytes; at += piece_bytes)
            bad += content.first_difference(static_cast<std::uint64_t>(turn), at, buffer.subspan(at, piece_bytes)) !=
                   piece_bytes;
        const auto checked = std::chrono::steady_clock::now();
        for (std::size_t at = 0; at < buffer_bytes; at += piece_bytes) {
            std::memset(buffer.data() + at, turn, piece_bytes);
            __asm__ volatile("" ::"r"(buffer.data() + at) : "memory");
        }
        const auto set = std::chrono::steady_clock::now();
        generator = std::max(generator, gigabytes_per_second(buffer_bytes, generated - start));
        checker = std::max(checker, gigabytes_per_second(buffer_bytes, checked - generated));
        fill = std::max(fill, gigabytes_per_second(buffer_bytes, set - checked));
    }
    munmap(memory, buffer_bytes);
    std::printf(
        "content_GB_per_second %.2f\nmemset_GB_per_second %.2f\nratio_to_memset %.3f\nverify_GB_per_second %.2f\n",
        generator, fill, generator / fill, checker);
    return bad == 0 ? 0 : 1;
}
