// bench_small_files: many small files, by the means that any program has; the yardstick of feedfs.
//
//   bench_small_files create  --files N --bytes B --threads T DIR     open, write, close; one syncfs at the end
//   bench_small_files threads --files N --bytes B --threads T [--odirect] DIR     open, read, close by T threads
//   bench_small_files chain   --files N --bytes B --depth D [--rings R] [--odirect] DIR   the same as linked io_uring
//                                                     requests, by R threads with a ring and D chains each
//   bench_small_files raw     --bytes B --depth D LIST     io_uring O_DIRECT reads of "path offset bytes" lines
// Files lie in DIR/<index / 1000>/<index>. Reads go in a random order of fixed seed. Prints JSON.
#include <fcntl.h>
#include <liburing.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/files_measured.hpp"

namespace {

using bench::measure;
using bench::random_order;

[[noreturn]] void fail(const std::string& what, int error) {
    std::fprintf(stderr, "bench_small_files: %s: %s\n", what.c_str(), std::strerror(error));
    std::exit(2);
}

struct Bench {
    std::string mode, place;
    std::uint64_t files = 1000, bytes = 10240;
    unsigned threads = 32, depth = 64, rings = 1;
    bool odirect = false;
};

std::string name_of(const Bench& b, std::uint64_t index) { return b.place + "/" + bench::file_name(index); }

std::byte* memory(std::uint64_t bytes) {
    void* data = nullptr;
    if (::posix_memalign(&data, 4096, bytes) != 0) fail("memory", ENOMEM);
    std::memset(data, 1, bytes); // touched before it is measured
    return static_cast<std::byte*>(data);
}

std::uint64_t padded(const Bench& b) { return (b.bytes + 4095) / 4096 * 4096; }

void by_threads(const Bench& b, const std::function<void(std::uint64_t, std::byte*)>& each) {
    std::atomic<std::uint64_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < b.threads; ++i)
        threads.emplace_back([&] {
            std::byte* const data = memory(padded(b));
            for (std::uint64_t n = next++; n < b.files; n = next++) each(n, data);
            std::free(data);
        });
    for (auto& thread : threads) thread.join();
}

void create(const Bench& b) {
    ::mkdir(b.place.c_str(), 0777);
    for (std::uint64_t i = 0; i <= (b.files - 1) / 1000; ++i)
        ::mkdir((b.place + "/" + std::to_string(i)).c_str(), 0777);
    measure(b.files, b.bytes, [&] {
        std::vector<std::byte> content(b.bytes); // does not compress: a disk that does would be read for nothing
        std::mt19937_64 random(42);
        for (std::byte& byte : content) byte = static_cast<std::byte>(random());
        by_threads(b, [&](std::uint64_t index, std::byte* data) {
            if (std::memcmp(data + sizeof index, content.data() + sizeof index, 8) != 0)
                std::memcpy(data, content.data(), b.bytes);
            std::memcpy(data, &index, sizeof index);
            const std::string name = name_of(b, index);
            const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
            if (fd < 0 || ::write(fd, data, b.bytes) != static_cast<ssize_t>(b.bytes)) fail(name, errno);
            ::close(fd);
        });
        const int fd = ::open(b.place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || ::syncfs(fd) != 0) fail("syncfs", errno);
        ::close(fd);
    });
}

void read_by_threads(const Bench& b) {
    const auto order = random_order(b.files);
    measure(b.files, b.bytes, [&] {
        by_threads(b, [&](std::uint64_t n, std::byte* data) {
            const std::string name = name_of(b, order[n]);
            const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | (b.odirect ? O_DIRECT : 0));
            if (fd < 0 || ::read(fd, data, padded(b)) != static_cast<ssize_t>(b.bytes)) fail(name, errno);
            ::close(fd);
        });
    });
}

struct Ring {
    io_uring ring{};
    std::vector<std::byte*>
        buffers; // in huge pages, as those of the pool that ours reads into: one piece of memory each
    Ring(unsigned entries, unsigned buffer_count, std::uint64_t bytes, unsigned direct_files)
        : mapped_(round_up_huge(buffer_count * bytes)) {
        io_uring_params params{};
        params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
        if (const int error = io_uring_queue_init_params(entries, &ring, &params); error < 0) fail("io_uring", -error);
        void* data = nullptr;
        if (::posix_memalign(&data, kHugeBytes, mapped_) != 0) fail("memory", ENOMEM);
        memory_ = static_cast<std::byte*>(data);
        ::madvise(memory_, mapped_, MADV_HUGEPAGE);
        std::memset(memory_, 1, mapped_); // touched before it is measured
        std::vector<iovec> vectors;
        for (unsigned i = 0; i < buffer_count; ++i) {
            buffers.push_back(memory_ + i * bytes);
            vectors.push_back({buffers.back(), bytes});
        }
        if (const int error = io_uring_register_buffers(&ring, vectors.data(), buffer_count); error < 0)
            fail("register buffers", -error);
        if (direct_files > 0)
            if (const int error = io_uring_register_files_sparse(&ring, direct_files); error < 0)
                fail("register files", -error);
    }
    ~Ring() {
        io_uring_queue_exit(&ring);
        std::free(memory_);
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

  private:
    static constexpr std::uint64_t kHugeBytes = 2 << 20;
    static std::uint64_t round_up_huge(std::uint64_t bytes) {
        return (bytes + kHugeBytes - 1) / kHugeBytes * kHugeBytes;
    }
    std::uint64_t mapped_;
    std::byte* memory_ = nullptr;
};

// openat into slot i, read of it, close of it: one chain a file, `depth` chains at once. Of `order` what is left of
// `first`, every `b.rings`th.
void read_chains(const Bench& b, const std::vector<std::uint64_t>& order, std::uint64_t first) {
    std::vector<std::string> names(b.depth);
    Ring r(b.depth * 4, b.depth, padded(b), b.depth);
    std::vector<unsigned> left(b.depth, 0), idle(b.depth);
    std::iota(idle.begin(), idle.end(), 0U);
    std::uint64_t next = first, in_flight = 0;
    while (next < b.files || in_flight > 0) {
        while (!idle.empty() && next < b.files) {
            const unsigned slot = idle.back();
            idle.pop_back();
            ++in_flight;
            names[slot] = name_of(b, order[next]);
            next += b.rings;
            io_uring_sqe* sqe = io_uring_get_sqe(&r.ring);
            io_uring_prep_openat_direct(sqe, AT_FDCWD, names[slot].c_str(), O_RDONLY | (b.odirect ? O_DIRECT : 0), 0,
                                        slot);
            sqe->flags |= IOSQE_IO_LINK;
            io_uring_sqe_set_data64(sqe, slot);
            sqe = io_uring_get_sqe(&r.ring);
            io_uring_prep_read_fixed(sqe, static_cast<int>(slot), r.buffers[slot], static_cast<unsigned>(padded(b)), 0,
                                     static_cast<int>(slot));
            sqe->flags |= IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK; // a short read is no error here
            io_uring_sqe_set_data64(sqe, slot | 1ULL << 32);
            sqe = io_uring_get_sqe(&r.ring);
            io_uring_prep_close_direct(sqe, slot);
            io_uring_sqe_set_data64(sqe, slot);
            left[slot] = 3;
        }
        io_uring_submit_and_wait(&r.ring, 1);
        io_uring_cqe* cqe = nullptr;
        while (io_uring_peek_cqe(&r.ring, &cqe) == 0) {
            const auto slot = static_cast<unsigned>(cqe->user_data);
            const bool is_read = (cqe->user_data >> 32) != 0;
            if (cqe->res < 0) fail(names[slot], -cqe->res);
            if (is_read && cqe->res != static_cast<int>(b.bytes)) fail(names[slot] + " is short", EIO);
            io_uring_cqe_seen(&r.ring, cqe);
            if (--left[slot] == 0) {
                idle.push_back(slot);
                --in_flight;
            }
        }
    }
}

void read_by_chains(const Bench& b) {
    const auto order = random_order(b.files);
    measure(b.files, b.bytes, [&] {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < b.rings; ++i) threads.emplace_back([&, i] { read_chains(b, order, i); });
        for (auto& thread : threads) thread.join();
    });
}

void read_raw(Bench b) {
    struct Place {
        int fd;
        std::uint64_t offset;
        unsigned bytes;
    };
    std::map<std::string, int> open_files;
    std::vector<Place> places;
    std::ifstream list(b.place);
    std::string path;
    Place place{};
    while (list >> path >> place.offset >> place.bytes) {
        auto [at, is_new] = open_files.try_emplace(path, -1);
        if (is_new) at->second = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
        if (at->second < 0) fail(path, errno);
        place.fd = at->second;
        places.push_back(place);
    }
    if (places.empty()) fail(b.place + " lists nothing", ENOENT);
    const auto order = random_order(places.size());
    std::uint64_t most = 0;
    for (const Place& p : places) most = std::max<std::uint64_t>(most, p.bytes);
    Ring r(b.depth, b.depth, most, 0);
    std::vector<unsigned> idle(b.depth);
    std::iota(idle.begin(), idle.end(), 0U);
    measure(places.size(), b.bytes, [&] {
        std::uint64_t next = 0, done = 0;
        while (done < places.size()) {
            while (!idle.empty() && next < places.size()) {
                const unsigned slot = idle.back();
                idle.pop_back();
                const Place& p = places[order[next++]];
                io_uring_sqe* sqe = io_uring_get_sqe(&r.ring);
                io_uring_prep_read_fixed(sqe, p.fd, r.buffers[slot], p.bytes, p.offset, static_cast<int>(slot));
                io_uring_sqe_set_data64(sqe, slot);
            }
            io_uring_submit_and_wait(&r.ring, 1);
            io_uring_cqe* cqe = nullptr;
            while (io_uring_peek_cqe(&r.ring, &cqe) == 0) {
                if (cqe->res <= 0) fail("read", cqe->res < 0 ? -cqe->res : EIO);
                idle.push_back(static_cast<unsigned>(cqe->user_data));
                io_uring_cqe_seen(&r.ring, cqe);
                ++done;
            }
        }
    });
}

} // namespace

int main(int argc, char** argv) {
    Bench b;
    if (argc > 1) b.mode = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] { return ++i < argc ? std::strtoull(argv[i], nullptr, 10) : 0ULL; };
        if (word == "--files")
            b.files = number();
        else if (word == "--bytes")
            b.bytes = number();
        else if (word == "--threads")
            b.threads = static_cast<unsigned>(number());
        else if (word == "--depth")
            b.depth = static_cast<unsigned>(number());
        else if (word == "--rings")
            b.rings = std::max(1U, static_cast<unsigned>(number()));
        else if (word == "--odirect")
            b.odirect = true;
        else
            b.place = word;
    }
    if (b.place.empty() || b.files == 0 || b.bytes == 0)
        fail("usage: see the comment at the top of its source", EINVAL);
    if (b.mode == "create")
        create(b);
    else if (b.mode == "threads")
        read_by_threads(b);
    else if (b.mode == "chain")
        read_by_chains(b);
    else if (b.mode == "raw")
        read_raw(b);
    else
        fail("mode '" + b.mode + "'", EINVAL);
}
