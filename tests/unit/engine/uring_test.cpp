#include "harness/engine/uring.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "harness/engine/buffer_pool.hpp"

namespace {

using namespace feedbench::engine;

struct Sink final : CompletionSink {
    void completed(IoOp& op) override { done.push_back(&op); }
    std::vector<IoOp*> done;
};

// A file of 64 KiB that is gone with its last descriptor.
struct ScratchFile {
    ScratchFile() {
        char name[] = "/tmp/feedbench_uring_XXXXXX";
        fd = ::mkstemp(name);
        ::unlink(name);
        std::vector<char> content(65536);
        for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 3);
        written = ::pwrite(fd, content.data(), content.size(), 0) == 65536;
    }
    ~ScratchFile() { ::close(fd); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    int fd = -1;
    bool written = false;
};

struct Ring {
    std::unique_ptr<Clock> clock = make_real_clock();
    std::unique_ptr<Uring> ring;
    Sink sink;
    explicit Ring(unsigned entries = 8) {
        auto made = Uring::make(entries, *clock);
        if (!made) FAIL(made.error().describe());
        ring = std::move(*made);
    }
    IoOp read_op(std::byte* data, std::uint64_t bytes, std::uint64_t offset) {
        IoOp op;
        op.data = data;
        op.bytes = bytes;
        op.offset = offset;
        op.sink = &sink;
        return op;
    }
    // Sleeps and polls until `count` ops are done; the bound is only there so that a bug does not hang.
    void finish(std::size_t count) {
        for (int turn = 0; turn < 10'000 && sink.done.size() < count; ++turn)
            if (!ring->poll()) ring->wait(clock->now_ns() + 10'000'000);
        REQUIRE(sink.done.size() == count);
    }
};

char expected_at(std::uint64_t place) { return static_cast<char>(place * 31 >> 3); }

TEST_CASE("uring: reads, writes and fsync complete with their result") {
    Ring r;
    ScratchFile file;
    REQUIRE(file.written);
    std::array<std::byte, 4096> data{};
    IoOp read = r.read_op(data.data(), data.size(), 8192);
    REQUIRE(r.ring->read(read, file.fd) == Submit::pending);
    CHECK(r.ring->is_active());
    CHECK(r.ring->in_flight() == 1);
    r.finish(1);
    CHECK(read.result == 4096);
    CHECK(static_cast<char>(data[100]) == expected_at(8292));
    CHECK_FALSE(r.ring->is_active());

    data.fill(std::byte{'z'});
    IoOp write = r.read_op(data.data(), 10, 65536), sync = r.read_op(nullptr, 0, 0),
         tail = r.read_op(data.data(), 4096, 65530);
    REQUIRE(r.ring->write(write, file.fd) == Submit::pending);
    r.finish(2);
    CHECK(write.result == 10);
    REQUIRE(r.ring->fsync(sync, file.fd) == Submit::pending);
    REQUIRE(r.ring->read(tail, file.fd) == Submit::pending);
    r.finish(4);
    CHECK(sync.result == 0);
    CHECK(tail.result == 16); // 6 old bytes, 10 new ones: a short read is the caller's
}

TEST_CASE("uring: an error is a negative errno, and open gives a descriptor") {
    Ring r;
    std::array<std::byte, 16> data{};
    IoOp bad = r.read_op(data.data(), 16, 0), missing = r.read_op(nullptr, 0, 0), open = r.read_op(nullptr, 0, 0);
    REQUIRE(r.ring->read(bad, -1) == Submit::pending);
    REQUIRE(r.ring->open(missing, AT_FDCWD, "/nonexistent/x", O_RDONLY, 0) == Submit::pending);
    REQUIRE(r.ring->open(open, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0) == Submit::pending);
    r.finish(3);
    CHECK(bad.result == -EBADF);
    CHECK(missing.result == -ENOENT);
    REQUIRE(open.result >= 0);
    IoOp close = r.read_op(nullptr, 0, 0);
    REQUIRE(r.ring->close(close, static_cast<int>(open.result)) == Submit::pending);
    r.finish(4);
    CHECK(close.result == 0);
    CHECK(::fcntl(static_cast<int>(open.result), F_GETFD) == -1);
}

struct Continued {
    Ring& r;
    int fd;
    int calls = 0;
    static void handler(void* self_pointer, IoOp& op, std::int64_t result) {
        auto& self = *static_cast<Continued*>(self_pointer);
        op.result += result;
        if (++self.calls < 3) {
            REQUIRE(self.r.ring->read(op, self.fd, static_cast<std::uint64_t>(op.result), {handler, self_pointer}) ==
                    Submit::pending);
            return;
        }
        op.sink->completed(op);
    }
};

TEST_CASE("uring: a handler may queue the rest of its operation although the ring is full") {
    Ring r(1); // CQ of 4: three operations and the wake-up
    ScratchFile file;
    std::vector<std::byte> data(3 * 65536);
    std::vector<IoOp> ops;
    std::vector<Continued> states;
    states.reserve(3);
    for (unsigned i = 0; i < 3; ++i) {
        ops.push_back(r.read_op(data.data() + i * 65536, 65536, 65536 - 1000)); // short: 1000 bytes, then 0, then 0
        states.push_back({r, file.fd});
    }
    for (unsigned i = 0; i < 3; ++i)
        REQUIRE(r.ring->read(ops[i], file.fd, 0, {Continued::handler, &states[i]}) == Submit::pending);
    IoOp one_too_many = r.read_op(data.data(), 1, 0);
    CHECK(r.ring->read(one_too_many, file.fd) == Submit::busy);
    CHECK(r.ring->in_flight() == 3);
    r.finish(3);
    for (const IoOp& op : ops) CHECK(op.result == 1000);
    for (const Continued& state : states) CHECK(state.calls == 3);
    CHECK(r.ring->read(one_too_many, file.fd) == Submit::pending);
    r.finish(4);
}

TEST_CASE("uring: many more operations than entries, all of them complete once") {
    Ring r(4);
    ScratchFile file;
    constexpr std::size_t kCount = 1000;
    std::vector<std::byte> data(kCount * 64);
    std::vector<IoOp> ops;
    for (std::size_t i = 0; i < kCount; ++i) ops.push_back(r.read_op(&data[i * 64], 64, i * 61));
    for (std::size_t i = 0; i < kCount; ++i)
        while (r.ring->read(ops[i], file.fd) == Submit::busy)
            if (!r.ring->poll()) r.ring->wait(r.clock->now_ns() + 10'000'000);
    r.finish(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        REQUIRE(ops[i].result == 64);
        REQUIRE(static_cast<char>(data[i * 64 + 63]) == expected_at(i * 61 + 63));
    }
}

TEST_CASE("uring: registered buffers are used, refused when there is none, and can be replaced") {
    Ring r;
    ScratchFile file;
    auto pool = BufferPool::make({.buffer_bytes = 4096, .buffer_count = 4});
    REQUIRE(pool);
    REQUIRE(r.ring->register_buffers((*pool)->buffers()));
    CHECK(r.ring->has_registered_buffers());
    BufferLease lease = (*pool)->try_lease();
    IoOp read = r.read_op(lease.data(), 4096, 4096);
    read.buffer_index = lease.index();
    REQUIRE(r.ring->read(read, file.fd) == Submit::pending);
    r.finish(1);
    CHECK(read.result == 4096);
    CHECK(static_cast<char>(lease.data()[5]) == expected_at(4101));
    std::array<std::byte, 16> elsewhere{};
    IoOp wrong = r.read_op(elsewhere.data(), 16, 0);
    wrong.buffer_index = 0; // memory that is not in buffer 0: the kernel must have been told of the buffers to notice
    REQUIRE(r.ring->read(wrong, file.fd) == Submit::pending);
    r.finish(2);
    CHECK(wrong.result == -EFAULT);
    REQUIRE(r.ring->register_buffers((*pool)->buffers()));
    REQUIRE(r.ring->register_buffers({}));
    CHECK_FALSE(r.ring->has_registered_buffers());
    wrong.buffer_index = 0; // nothing registered: an ordinary read
    REQUIRE(r.ring->read(wrong, file.fd) == Submit::pending);
    r.finish(3);
    CHECK(wrong.result == 16);
}

TEST_CASE("uring: wake ends a wait, from before it, from another thread and from a signal handler") {
    Ring r;
    constexpr std::uint64_t kLong = 60'000'000'000; // a lost wake-up would take that long
    const std::uint64_t begin = r.clock->now_ns();
    r.ring->wake();
    r.ring->wake();
    r.ring->wait(begin + kLong);
    for (int i = 0; i < 200; ++i) {
        std::thread waker([&] {
            if (i % 3 == 0) std::this_thread::yield();
            r.ring->wake();
        });
        r.ring->wait(begin + kLong);
        waker.join();
        while (r.ring->poll()) {
        }
    }
    static Uring* target = nullptr;
    target = r.ring.get();
    struct sigaction action {
    }, old{};
    action.sa_handler = [](int) { target->wake(); };
    REQUIRE(::sigaction(SIGUSR1, &action, &old) == 0);
    const auto thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
    std::thread sender([&] { ::syscall(SYS_tgkill, ::getpid(), thread_id, SIGUSR1); });
    r.ring->wait(begin + kLong);
    sender.join();
    ::sigaction(SIGUSR1, &old, nullptr);
    CHECK(r.clock->now_ns() - begin < kLong);
    CHECK(r.sink.done.empty());
    CHECK(r.ring->in_flight() == 0);
}

TEST_CASE("uring: wait keeps its deadline when nothing happens") {
    Ring r;
    while (r.ring->poll()) {
    }
    const std::uint64_t begin = r.clock->now_ns();
    r.ring->wait(begin + 2'000'000);
    CHECK(r.clock->now_ns() >= begin + 2'000'000); // never early, or the loop would spin
    r.ring->wait(begin);                           // past: returns
    r.ring->wait(0);
}

TEST_CASE("uring: a sleeping ring is woken by its completions") {
    Ring r;
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    std::array<std::byte, 4> data{};
    IoOp read = r.read_op(data.data(), 4, 0);
    REQUIRE(r.ring->read(read, ends[0]) == Submit::pending);
    std::thread writer([&] { CHECK(::write(ends[1], "abcd", 4) == 4); });
    r.finish(1);
    writer.join();
    CHECK(read.result == 4);
    ::close(ends[0]);
    ::close(ends[1]);
}

} // namespace
