#include "storage/feedfs/mount/request_loop.hpp"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "storage/feedfs/mount/cold_metadata.hpp"
#include "storage/feedfs/mount/ring_reads.hpp"

namespace feedbench::feedfs::mount {

namespace {

constexpr unsigned kRingEntries = 256;
constexpr int kHighestPriority = -20;
constexpr std::uint64_t kSleepMostNs = 500'000'000;
// Requests, before the reads of theirs begin, all by one system call, and a look at what has arrived. Each such call
// rings the disk's bell, which in a virtual machine costs more than a read does.
constexpr unsigned kTakenAtOnce = 32;

// Of a read-only mount on local metadata.
bool is_answered_at_once(std::uint32_t opcode) {
    switch (opcode) {
    case FUSE_LOOKUP:
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_GETATTR:
    case FUSE_READLINK:
    case FUSE_OPEN: // refused, once: the kernel then opens by itself
    case FUSE_FLUSH:
    case FUSE_READ: // begun
    case FUSE_INTERRUPT:
    case FUSE_INIT:
        return true;
    default:
        return false;
    }
}

std::uint64_t major_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_majflt);
}

class RequestLoop {
  public:
    RequestLoop(fuse_session* session, Door& door, Workers& workers, std::unique_ptr<engine::Uring> ring,
                const engine::Clock& clock)
        : session_(session), door_(door), workers_(workers), ring_(std::move(ring)), clock_(clock) {
        ring_->wake_when_readable(fuse_session_fd(session));
    }
    ~RequestLoop() { std::free(buffer_.mem); }
    RequestLoop(const RequestLoop&) = delete;
    RequestLoop& operator=(const RequestLoop&) = delete;

    // 0, or the errno that the connection broke with.
    int run() {
        // Many programs wait for this thread, and none is served while it waits for one of them. Of root alone; the
        // kernel gives its own workers for block I/O the same.
        (void)::setpriority(PRIO_PROCESS, 0, kHighestPriority);
        RingReads reads(door_, *ring_, workers_);
        int broken = 0;
        while (!fuse_session_exited(session_)) {
            bool any = false;
            for (unsigned i = 0; i < kTakenAtOnce; ++i) {
                const int got = fuse_session_receive_buf(session_, &buffer_);
                if (got == -EAGAIN || got == -EINTR) break;
                if (got <= 0) {
                    broken = -got;
                    fuse_session_exit(session_);
                    break;
                }
                any = true;
                take();
            }
            any |= ring_->poll();
            any |= reads.answer_some();
            if (fuse_session_exited(session_)) break;
            // Not for ever: a signal to end may come between the look at the session and the sleep.
            if (!any) ring_->wait(clock_.now_ns() + kSleepMostNs);
        }
        while (ring_->in_flight() > 0)
            if (!ring_->poll()) ring_->wait(engine::kNever);
        while (reads.answer_some()) {
        }
        return broken;
    }
    void wake() { ring_->wake(); }

  private:
    void take() {
        fuse_in_header header;
        std::memcpy(&header, buffer_.mem, sizeof header);
        const bool waits =
            header.opcode == FUSE_LOOKUP && cold_metadata_.gives_away(major_faults, [this] { return clock_.now_ns(); });
        if (!waits && is_answered_at_once(header.opcode)) return fuse_session_process_buf(session_, &buffer_);
        workers_.run([session = session_, request = std::string(static_cast<const char*>(buffer_.mem), buffer_.size)] {
            fuse_buf buffer{};
            buffer.size = request.size();
            buffer.mem = const_cast<char*>(request.data());
            fuse_session_process_buf(session, &buffer);
        });
    }

    fuse_session* const session_;
    Door& door_;
    Workers& workers_;
    const std::unique_ptr<engine::Uring> ring_;
    const engine::Clock& clock_;
    ColdMetadata cold_metadata_;
    fuse_buf buffer_{}; // libfuse allocates it, once
};

} // namespace

bool can_be_served_by_loops(FileSystem& files) {
    return files.read_only() && !files.metadata().properties().several_hosts &&
           std::ranges::none_of(files.volume().targets,
                                [](const TargetConfig& target) { return target.tier == Tier::object; });
}

Status serve_by_loops(fuse_session* session, Door& door, LoopOptions options) {
    const int device = fuse_session_fd(session);
    const int flags = ::fcntl(device, F_GETFL);
    if (flags < 0 || ::fcntl(device, F_SETFL, flags | O_NONBLOCK) != 0)
        return storage_error("fcntl", "/dev/fuse", errno);
    const std::unique_ptr<engine::Clock> clock = engine::make_real_clock();
    Workers workers(options.workers);
    std::mutex mutex;
    std::vector<RequestLoop*> loops;
    std::atomic<int> broken{0};
    // A ring belongs to the thread that makes it.
    const auto run = [&]() -> Status {
        Expected<std::unique_ptr<engine::Uring>> ring = engine::Uring::make(kRingEntries, *clock);
        if (!ring) return ring.error();
        RequestLoop loop(session, door, workers, std::move(*ring), *clock);
        {
            const std::lock_guard lock(mutex);
            loops.push_back(&loop);
        }
        if (const int error = loop.run()) broken = error;
        const std::lock_guard lock(mutex);
        std::erase(loops, &loop);
        for (RequestLoop* other : loops) other->wake();
        return {};
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < options.loops; ++i)
        threads.emplace_back([&] { (void)run(); }); // without a ring it is one loop less
    const Status first = run();
    if (!first && threads.empty()) {
        ::fcntl(device, F_SETFL, flags);
        return first;
    }
    for (std::thread& thread : threads) thread.join();
    if (broken != 0) return storage_error("read", "/dev/fuse", broken, "the connection to the kernel broke");
    return {};
}

} // namespace feedbench::feedfs::mount
