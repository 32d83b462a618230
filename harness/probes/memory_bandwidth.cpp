#include "harness/probes/memory_bandwidth.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/engine/clock.hpp"
#include "harness/probes/proc_file.hpp"
#include "harness/types/units.hpp"

namespace feedbench::probes {
namespace {

constexpr std::uint64_t kPassBytes = 4 * kMiB; // between two looks at the clock

struct Buffer {
    explicit Buffer(std::uint64_t size) : bytes(size) {
        void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) return;
        data = static_cast<std::uint64_t*>(map);
        (void)madvise(map, bytes, MADV_HUGEPAGE);
        std::memset(map, 1, bytes); // pages that were never written are all the same page of zeros
    }
    ~Buffer() {
        if (data) munmap(data, bytes);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    std::uint64_t bytes;
    std::uint64_t* data = nullptr;
};

std::uint64_t sum_of(const std::uint64_t* data, std::uint64_t count) {
    std::uint64_t a = 0, b = 0, c = 0, d = 0; // independent, so that the additions do not wait for each other
    for (std::uint64_t i = 0; i + 4 <= count; i += 4) {
        a += data[i];
        b += data[i + 1];
        c += data[i + 2];
        d += data[i + 3];
    }
    return a + b + c + d;
}

struct Reader {
    double bytes_per_second = 0;
    std::uint64_t sum = 0; // keeps the compiler from leaving the reading out

    void run(const MemoryReading& reading) {
        const Buffer buffer(round_up(std::max(reading.buffer_bytes, kPassBytes), kPassBytes));
        if (!buffer.data) return;
        const std::uint64_t end_ns = engine::monotonic_ns() + reading.duration_ns;
        for (std::uint64_t at = 0, now_ns = engine::monotonic_ns(); now_ns < end_ns;) {
            sum += sum_of(buffer.data + at / sizeof(std::uint64_t), kPassBytes / sizeof(std::uint64_t));
            const std::uint64_t then_ns = std::exchange(now_ns, engine::monotonic_ns());
            if (now_ns > then_ns)
                bytes_per_second =
                    std::max(bytes_per_second, static_cast<double>(kPassBytes) / seconds(now_ns - then_ns));
            at = (at + kPassBytes) % buffer.bytes;
        }
    }
};

} // namespace

std::optional<double> memory_read_bytes_per_second(const MemoryReading& reading) {
    std::vector<Reader> readers(std::max(reading.thread_count, 1U));
    std::vector<std::thread> threads;
    try {
        for (std::size_t i = 1; i < readers.size(); ++i)
            threads.emplace_back([&readers, &reading, i] { readers[i].run(reading); });
    } catch (const std::system_error&) { // fewer threads then: a limit that is told too low is told of fewer CPUs
    }
    readers.front().run(reading);
    for (std::thread& thread : threads) thread.join();
    double sum = 0;
    for (const Reader& reader : readers) {
        sum += reader.bytes_per_second;
        const volatile std::uint64_t kept = reader.sum;
        (void)kept;
    }
    if (sum <= 0) return {};
    return sum;
}

std::optional<std::uint64_t> last_level_cache_bytes(const Machine& machine) {
    std::uint64_t largest = 0;
    for (int index = 0; index < 8; ++index) {
        const auto size = read_proc_file(machine.sys + "/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                                         "/size"); // "32768K"
        if (!size) break;
        char* unit = nullptr;
        std::uint64_t bytes = std::strtoull(size->c_str(), &unit, 10);
        if (*unit == 'K') bytes *= kKiB;
        if (*unit == 'M') bytes *= kMiB;
        largest = std::max(largest, bytes);
    }
    if (largest == 0) return {};
    return largest;
}

} // namespace feedbench::probes
