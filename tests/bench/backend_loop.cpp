// bench_backend_loop: engine and posix backend alone, without loaders and formats; beside bench_read_loop it shows what
// they cost.
//
//   bench_backend_loop --mode pread|open_pread|blocks --depth 4 --engine uring|threads [--odirect] [--unregistered]
//   --loops 5
//   --block 262144 DIRECTORY
// `depth` coroutines take files in turn and read each front to back; in the mode `blocks` they take the blocks of each
// file in turn, so that `depth` reads of one file are in flight. Prints the same JSON as bench_read_loop.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/engine/sync.hpp"
#include "harness/types/units.hpp"
#include "storage/registry.hpp"

namespace {

using namespace feedbench;
using engine::IoKind;
using engine::IoOp;

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "bench_backend_loop: %s\n", message.c_str());
    std::exit(2);
}

struct Bench {
    std::string mode = "pread";
    std::uint64_t loops = 1, block_bytes = 262144, depth = 4;
    bool odirect = false, registered = true;
    IoEngine io_engine = IoEngine::uring;
    std::map<std::string, std::string> options;
    std::string directory;

    engine::Reactor* reactor = nullptr;
    storage::Backend* backend = nullptr;
    engine::BufferPool* pool = nullptr;
    std::vector<std::string> files;
    std::vector<std::unique_ptr<engine::File>> opened; // not mode open_pread
    std::uint64_t next = 0, next_offset = 0, bytes = 0, reads = 0;
};

void check(const Bench& b, const IoOp& op, const std::string& path) {
    if (op.result < 0) fail(storage::operation_error(*b.backend, op, path).describe());
}

engine::Task<std::unique_ptr<engine::File>> open_file(Bench& b, const std::string& path) {
    IoOp op;
    op.kind = IoKind::open;
    op.path = path;
    co_await b.reactor->perform(*b.backend, op);
    check(b, op, path);
    co_return std::move(op.opened);
}

// How many bytes came.
engine::Task<std::uint64_t> read_block(Bench& b, engine::File* file, std::size_t index, std::uint64_t offset) {
    engine::BufferLease lease = b.pool->try_lease();
    IoOp op;
    op.kind = IoKind::read;
    op.file = file;
    op.offset = offset;
    op.data = lease.data();
    op.bytes = std::min(b.block_bytes, round_up(file->size_bytes - offset, file->alignment_bytes));
    op.buffer_index = b.registered ? lease.index() : -1;
    co_await b.reactor->perform(*b.backend, op);
    check(b, op, b.files[index]);
    if (op.result == 0) fail(b.files[index] + " is shorter than it was");
    b.bytes += static_cast<std::uint64_t>(op.result);
    ++b.reads;
    co_return static_cast<std::uint64_t>(op.result);
}

engine::Task<void> worker(Bench& b) {
    while (b.next < b.files.size() * b.loops) {
        const std::size_t index = b.next++ % b.files.size();
        std::unique_ptr<engine::File> mine;
        if (b.opened.empty()) mine = co_await open_file(b, b.files[index]);
        engine::File* file = mine ? mine.get() : b.opened[index].get();
        for (std::uint64_t offset = 0; offset < file->size_bytes;)
            offset += co_await read_block(b, file, index, offset);
        if (mine) {
            IoOp op;
            op.kind = IoKind::close;
            op.file = mine.get();
            co_await b.reactor->perform(*b.backend, op);
        }
    }
}

// Of the mode `blocks`.
engine::Task<void> block_worker(Bench& b) {
    while (b.next < b.files.size() * b.loops) {
        const std::size_t index = b.next % b.files.size();
        engine::File* file = b.opened[index].get();
        const std::uint64_t offset = b.next_offset;
        b.next_offset += b.block_bytes;
        if (b.next_offset >= file->size_bytes) {
            ++b.next;
            b.next_offset = 0;
        }
        const std::uint64_t expected = std::min(b.block_bytes, file->size_bytes - offset);
        if (co_await read_block(b, file, index, offset) < expected) fail(b.files[index] + ": a read was short");
    }
}

engine::Task<void> run(Bench& b) {
    if (b.mode != "open_pread")
        for (const auto& path : b.files) b.opened.push_back(co_await open_file(b, path));
    engine::TaskGroup group(*b.reactor);
    const std::uint64_t begin_ns = engine::monotonic_ns(), begin_cpu_ns = engine::process_cpu_ns();
    for (std::uint64_t i = 0; i < b.depth; ++i) group.spawn(b.mode == "blocks" ? block_worker(b) : worker(b));
    co_await group.join();
    const double wall_s = static_cast<double>(engine::monotonic_ns() - begin_ns) / 1e9;
    const double cpu_s = static_cast<double>(engine::process_cpu_ns() - begin_cpu_ns) / 1e9;
    const auto bytes = static_cast<double>(b.bytes);
    std::printf(
        "{\"mode\": \"%s\", \"engine\": \"%s\", \"depth\": %llu, \"odirect\": %s, \"registered\": %s, \"bytes\": %llu, "
        "\"reads\": %llu, \"wall_s\": %.6f, \"cpu_s\": %.6f, \"rate_MB_per_second\": %.3f, \"cpu_s_per_GB\": %.6f}\n",
        b.mode.c_str(), b.io_engine == IoEngine::uring ? "uring" : "threads", static_cast<unsigned long long>(b.depth),
        b.odirect ? "true" : "false", b.registered ? "true" : "false", static_cast<unsigned long long>(b.bytes),
        static_cast<unsigned long long>(b.reads), wall_s, cpu_s, bytes / wall_s / 1e6, cpu_s / (bytes / 1e9));
}

void parse(Bench& b, int count, char** values) {
    for (int i = 1; i < count; ++i) {
        const std::string_view key = values[i];
        const auto next = [&]() -> std::string {
            return ++i < count ? values[i] : (fail(std::string(key) + " needs a value"), "");
        };
        if (key == "--mode")
            b.mode = next();
        else if (key == "--loops")
            b.loops = std::stoull(next());
        else if (key == "--block")
            b.block_bytes = std::stoull(next());
        else if (key == "--depth")
            b.depth = std::stoull(next());
        else if (key == "--engine")
            b.io_engine = next() == "threads" ? IoEngine::threads : IoEngine::uring;
        else if (key == "--odirect")
            b.odirect = true;
        else if (key == "--unregistered")
            b.registered = false;
        else if (key == "--option") {
            const std::string pair = next();
            const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
            b.options[pair.substr(0, equals)] = pair.substr(equals + 1);
        } else if (key.starts_with("--"))
            fail("unknown option " + std::string(key));
        else
            b.directory = key;
    }
    if (b.directory.empty()) fail("a folder of files is expected");
}

} // namespace

int main(int argument_count, char** arguments) {
    Bench b;
    parse(b, argument_count, arguments);
    const auto clock = engine::make_real_clock();
    auto reactor = engine::Reactor::make(*clock, {});
    if (!reactor) fail(reactor.error().describe());
    b.reactor = reactor->get();
    storage::BackendRequest request;
    request.uri = b.directory;
    request.options = b.options;
    request.odirect = b.odirect;
    request.io_engine = b.io_engine;
    request.io_threads = static_cast<std::uint32_t>(b.depth);
    request.reactor = b.reactor;
    auto backend = storage::make_backend(request);
    if (!backend) fail(backend.error().describe());
    b.backend = backend->get();
    const auto listed = b.backend->list("", [&](std::string_view name, bool is_directory) {
        if (!is_directory) b.files.emplace_back(name);
        return true;
    });
    if (!listed) fail(listed.error().describe());
    if (b.files.empty()) fail("no files in " + b.directory);
    std::sort(b.files.begin(), b.files.end());
    auto pool = engine::BufferPool::make(
        engine::BufferPool::layout_for(b.block_bytes, static_cast<std::uint32_t>(b.depth), std::uint64_t{64} * kMiB));
    if (!pool) fail(pool.error().describe());
    b.pool = pool->get();
    if (b.registered)
        if (auto status = b.reactor->uring()->register_buffers(b.pool->buffers()); !status)
            fail(status.error().describe());
    if (auto status = b.reactor->run(run(b)); !status) fail(status.error().describe());
    b.opened.clear();
    return 0;
}
