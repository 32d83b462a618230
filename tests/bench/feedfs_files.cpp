// bench_feedfs_files: the same small files as bench_small_files, in a feedfs volume.
//
//   create --files N --bytes B --group G --threads T VOLUME   by the library, G files a group commit; one sync
//   read --files N --depth D [--readers R] [--noverify] VOLUME   by the in-process backend, O_DIRECT: open, read,
//                                                             close by D coroutines in each of R processes
//   list --files N VOLUME                                     "path offset bytes" of every file's blocks
// Files are VOLUME/<index / 1000>/<index>; the random order is bench_small_files'. Prints JSON.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/sync.hpp"
#include "storage/feedfs/filesystem.hpp"
#include "storage/registry.hpp"
#include "tests/bench/files_measured.hpp"

namespace {

using namespace feedbench;
using engine::IoKind;
using engine::IoOp;

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "bench_feedfs_files: %s\n", message.c_str());
    std::exit(2);
}
template <class T>
T must(Expected<T> value) {
    if (!value) fail(value.error().describe());
    return std::move(*value);
}
void must(const Status& status) {
    if (!status) fail(status.error().describe());
}

struct Bench {
    std::string mode, volume;
    std::uint64_t files = 1000, bytes = 10240, depth = 64, group = 1024, threads = 2, readers = 1;
    bool verify = true;
};

// One thread's part: groups of files, published as they are full.
void create_some(const Bench& b, feedfs::FileSystem& fs, const std::vector<feedfs::InodeId>& folders,
                 std::atomic<std::uint64_t>& next) {
    std::vector<std::byte> content(b.bytes); // does not compress: a disk that does would be read for nothing
    std::mt19937_64 random(42);
    for (std::byte& byte : content) byte = static_cast<std::byte>(random());
    std::vector<std::unique_ptr<feedfs::Writer>> writers;
    std::vector<feedfs::Writer*> group;
    for (std::uint64_t first = next.fetch_add(b.group); first < b.files; first = next.fetch_add(b.group)) {
        for (std::uint64_t index = first; index < std::min(first + b.group, b.files); ++index) {
            std::memcpy(content.data(), &index, std::min<std::size_t>(sizeof index, content.size()));
            writers.push_back(must(fs.create(folders[index / 1000], std::to_string(index), {.size_hint = b.bytes})));
            must(writers.back()->append(content));
            group.push_back(writers.back().get());
        }
        for (const Status& status : fs.publish(group, feedfs::Publish::visible)) must(status);
        group.clear();
        writers.clear();
    }
}

void create(const Bench& b) {
    auto fs = must(feedfs::FileSystem::open(b.volume, {}));
    std::vector<feedfs::InodeId> folders;
    for (std::uint64_t i = 0; i <= (b.files - 1) / 1000; ++i)
        folders.push_back(must(fs->make_directory(feedfs::kRootInode, std::to_string(i), {.mode = 0755})).id);
    bench::measure(b.files, b.bytes, [&] {
        std::atomic<std::uint64_t> next{0};
        std::vector<std::thread> threads;
        for (std::uint64_t i = 0; i < b.threads; ++i) threads.emplace_back([&] { create_some(b, *fs, folders, next); });
        for (auto& thread : threads) thread.join();
        must(fs->sync());
    });
}

void list(const Bench& b) {
    auto fs = must(feedfs::FileSystem::open(b.volume, {.read_only = true}));
    if (fs->volume().targets.size() != 1) fail("a volume of one target is expected");
    std::vector<feedfs::Location> pieces;
    for (std::uint64_t index = 0; index < b.files; ++index) {
        auto file = must(fs->open_read(bench::file_name(index)));
        must(file->locate(0, file->inode().size_bytes, pieces));
        if (pieces.size() != 1) fail(bench::file_name(index) + " is not one record");
        std::printf("%s/%s %llu %llu\n", fs->volume().absolute_place(fs->volume().targets[0].place).c_str(),
                    feedfs::segment_name(pieces[0].segment).c_str(), static_cast<unsigned long long>(pieces[0].offset),
                    static_cast<unsigned long long>((pieces[0].bytes + 4095) / 4096 * 4096));
    }
}

struct Reading {
    engine::Reactor& reactor;
    storage::Backend& backend;
    engine::BufferPool& pool;
    const std::vector<std::uint64_t>& order;
    std::size_t next = 0;
};

engine::Task<void> worker(Reading& r) {
    engine::BufferLease lease = r.pool.try_lease();
    std::string path;
    std::uint64_t now_ns = 0; // as the operation before has left it: closing and opening take no time of the disk's
    while (r.next < r.order.size()) {
        path = bench::file_name(r.order[r.next++]);
        IoOp open;
        open.kind = IoKind::open;
        open.path = path;
        co_await r.reactor.perform(r.backend, open, now_ns);
        if (open.result < 0) fail(storage::operation_error(r.backend, open, path).describe());
        IoOp read;
        read.kind = IoKind::read;
        read.file = open.opened.get();
        read.data = lease.data();
        read.bytes = (open.opened->size_bytes + 4095) / 4096 * 4096;
        read.buffer_index = lease.index();
        co_await r.reactor.perform(r.backend, read);
        if (read.result != static_cast<std::int64_t>(open.opened->size_bytes))
            fail(storage::operation_error(r.backend, read, path).describe());
        IoOp close;
        close.kind = IoKind::close;
        close.file = open.opened.get();
        co_await r.reactor.perform(r.backend, close, read.resume_ns);
        now_ns = close.resume_ns;
    }
}

engine::Task<void> read_all(Reading& r, std::uint64_t depth) {
    engine::TaskGroup group(r.reactor);
    for (std::uint64_t i = 0; i < depth; ++i) group.spawn(worker(r));
    co_await group.join();
}

// Of the random order what is left of `first`, every `b.readers`th. `measured` is what it is called with the work.
template <class Measured>
void read_part(const Bench& b, std::uint64_t first, Measured measured) {
    const std::vector<std::uint64_t> all = bench::random_order(b.files);
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = first; i < b.files; i += b.readers) order.push_back(all[i]);
    const auto clock = engine::make_real_clock();
    auto reactor = must(engine::Reactor::make(*clock, {.use_uring = true, .ring_entries = 256}));
    storage::BackendRequest request;
    request.uri = "feedfs:" + b.volume;
    request.odirect = true;
    request.reactor = reactor.get();
    request.options["verify"] = b.verify ? "true" : "false";
    const std::uint64_t pool_least = 2 << 20; // as much as the pool asks for huge pages for
    auto pool =
        must(engine::BufferPool::make({.buffer_bytes = std::max((b.bytes + 4095) / 4096 * 4096, pool_least / b.depth),
                                       .buffer_count = static_cast<std::uint32_t>(b.depth)}));
    must(reactor->uring()->register_buffers(pool->buffers()));
    std::unique_ptr<storage::Backend> backend;
    measured([&] { // with the opening of the volume, whose metadata is cold, too
        backend = must(storage::make_backend(request));
        Reading reading{*reactor, *backend, *pool, order};
        must(reactor->run(read_all(reading, b.depth)));
    });
}

// Processes, as ranks are: each is ready, says so, waits until all are, reads, and says what it took.
void read_by_processes(const Bench& b) {
    int ready[2], start[2], ended[2];
    if (::pipe(ready) != 0 || ::pipe(start) != 0 || ::pipe(ended) != 0) fail("pipe");
    std::vector<pid_t> children;
    for (std::uint64_t i = 0; i < b.readers; ++i) {
        const pid_t child = ::fork();
        if (child < 0) fail("fork");
        if (child > 0) {
            children.push_back(child);
            continue;
        }
        read_part(b, i, [&](auto work) {
            char byte = 0;
            if (::write(ready[1], &byte, 1) != 1 || ::read(start[0], &byte, 1) != 1) fail("pipe");
            const double before = bench::cpu_s();
            work();
            const double cpu = bench::cpu_s() - before;
            if (::write(ended[1], &cpu, sizeof cpu) != sizeof cpu) fail("pipe");
        });
        std::exit(0);
    }
    ::close(ready[1]);
    ::close(ended[1]); // a child that failed is the end of the pipe
    std::string bytes(b.readers, '\0');
    for (std::uint64_t i = 0; i < b.readers; ++i)
        if (::read(ready[0], bytes.data(), 1) != 1) fail("a reader ended early");
    const auto began = std::chrono::steady_clock::now();
    if (::write(start[1], bytes.data(), b.readers) != static_cast<ssize_t>(b.readers)) fail("pipe");
    double cpu = 0, one = 0;
    for (std::uint64_t i = 0; i < b.readers; ++i) {
        if (::read(ended[0], &one, sizeof one) != sizeof one) fail("a reader failed");
        cpu += one;
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    for (const pid_t child : children)
        if (int status = 0; ::waitpid(child, &status, 0) != child || status != 0) fail("a reader failed");
    bench::say(b.files, b.bytes, wall, cpu);
}

void read(const Bench& b) {
    if (b.readers > 1) return read_by_processes(b);
    read_part(b, 0, [&](auto work) { bench::measure(b.files, b.bytes, work); });
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
        else if (word == "--depth")
            b.depth = number();
        else if (word == "--group")
            b.group = number();
        else if (word == "--threads")
            b.threads = number();
        else if (word == "--readers")
            b.readers = std::max<std::uint64_t>(1, number());
        else if (word == "--noverify")
            b.verify = false;
        else
            b.volume = word;
    }
    if (b.volume.empty() || b.files == 0) fail("usage: see the comment at the top of its source");
    if (b.mode == "create")
        create(b);
    else if (b.mode == "read")
        read(b);
    else if (b.mode == "list")
        list(b);
    else
        fail("mode '" + b.mode + "'");
}
