// A reactor, a backend and a folder to try them in, for tests of storage. Coroutines below use CHECK only: REQUIRE
// throws.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "harness/engine/buffer_pool.hpp"
#include "harness/engine/reactor.hpp"
#include "harness/engine/sync.hpp"
#include "storage/registry.hpp"

namespace feedbench::test {

using engine::IoKind;
using engine::IoOp;
using engine::Task;

// CHECK(co_await x == y) must not be written: Catch mentions the expression a second time behind `false &&`, and GCC 12
// runs it there.
#define CHECK_RESULT(call, comparison)                                                                                 \
    do {                                                                                                               \
        const std::int64_t result_of_call = co_await call;                                                             \
        CHECK(result_of_call comparison);                                                                              \
    } while (false)

// Gone with everything in it at the end of its scope.
struct TemporaryFolder {
    explicit TemporaryFolder(const std::string& parent = "/tmp") {
        std::string pattern = parent + "/feedbench_test_XXXXXX";
        if (char* made = ::mkdtemp(pattern.data())) path = made;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path.empty()) std::filesystem::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string path;
};

// Everything below a folder that is a file, temporaries included, relative and sorted.
inline std::vector<std::string> files_below(const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (!entry.is_directory()) found.push_back(entry.path().lexically_relative(folder).string());
    std::sort(found.begin(), found.end());
    return found;
}

// The byte that test files have at a place.
inline std::byte pattern_at(std::uint64_t place) { return static_cast<std::byte>((place * 2654435761U) >> 13); }

struct Rig {
    std::unique_ptr<engine::Clock> clock;
    std::unique_ptr<engine::Reactor> reactor;
    std::unique_ptr<storage::Backend> backend;
    std::unique_ptr<engine::BufferPool> pool; // aligned memory

    explicit Rig(storage::BackendRequest request, unsigned ring_entries = 64, bool virtual_time = false) {
        clock = virtual_time ? engine::make_virtual_clock() : engine::make_real_clock();
        auto made_reactor = engine::Reactor::make(*clock, {.use_uring = true, .ring_entries = ring_entries});
        REQUIRE(made_reactor);
        reactor = std::move(*made_reactor);
        request.reactor = reactor.get();
        auto made = storage::make_backend(request);
        if (!made) FAIL(made.error().describe());
        backend = std::move(*made);
        auto buffers = engine::BufferPool::make({.buffer_bytes = 65536, .buffer_count = 128});
        REQUIRE(buffers);
        pool = std::move(*buffers);
    }

    void run(Task<void> task) {
        const Status status = reactor->run(std::move(task));
        if (!status) FAIL(status.error().describe());
        CHECK(reactor->in_flight() == 0);
        CHECK(pool->free_count() == 128);
    }

    Task<std::int64_t> perform(IoOp& op) {
        co_await reactor->perform(*backend, op);
        co_return op.result;
    }
    Task<std::int64_t> open(std::string path, std::unique_ptr<engine::File>& file, std::uint64_t size_hint = 0,
                            IoKind kind = IoKind::open) {
        IoOp op;
        op.kind = kind;
        op.path = path;
        op.size_hint = size_hint;
        co_await reactor->perform(*backend, op);
        CHECK((op.opened != nullptr) == (op.result >= 0));
        file = std::move(op.opened);
        co_return op.result;
    }
    // flush, commit, close
    Task<std::int64_t> finish(IoKind kind, engine::File& file, std::uint64_t size = 0) {
        IoOp op;
        op.kind = kind;
        op.file = &file;
        op.size_hint = size;
        co_await reactor->perform(*backend, op);
        co_return op.result;
    }
    // The result; what was read or written lies in `lease`.
    Task<std::int64_t> move(IoKind kind, engine::File& file, std::uint64_t offset, std::uint64_t bytes,
                            engine::BufferLease& lease) {
        IoOp op;
        op.kind = kind;
        op.file = &file;
        op.offset = offset;
        op.data = lease.data();
        op.bytes = bytes;
        co_await reactor->perform(*backend, op);
        if (op.result < 0) last_message = op.message;
        co_return op.result;
    }
    // Writes `size` pattern bytes (padded to the alignment) and leaves the file uncommitted.
    Task<void> fill(engine::File& file, std::uint64_t size) {
        const std::uint64_t unit = file.alignment_bytes;
        for (std::uint64_t offset = 0; offset < size; offset += 65536) {
            engine::BufferLease lease = pool->try_lease();
            const std::uint64_t wanted = std::min<std::uint64_t>(65536, size - offset),
                                padded = (wanted + unit - 1) / unit * unit;
            for (std::uint64_t i = 0; i < padded; ++i) lease.data()[i] = pattern_at(offset + i);
            CHECK_RESULT(move(IoKind::write, file, offset, padded, lease), == static_cast<std::int64_t>(padded));
        }
    }
    // A committed file of `size` pattern bytes.
    Task<void> make_file(std::string path, std::uint64_t size) {
        std::unique_ptr<engine::File> file;
        CHECK_RESULT(open(path, file, size, IoKind::create), == 0);
        if (!file) co_return;
        co_await fill(*file, size);
        CHECK_RESULT(finish(IoKind::commit, *file, size), == 0);
        CHECK_RESULT(finish(IoKind::close, *file), == 0);
    }
    std::string last_message;
};

inline bool has_pattern(const std::byte* data, std::uint64_t place, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i)
        if (data[i] != pattern_at(place + i)) return false;
    return true;
}

} // namespace feedbench::test
