// io_engine uring: reads, writes and fsync are operations of the ring; what the ring does no better than a system call
// is one.
//
// open: a ring open costs an SQE, a CQE and a turn of the loop, which is dear beside the open itself when the names are
// in the cache. So: openat2(RESOLVE_CACHED), which never waits for the disk, and only where it says EAGAIN the ring. On
// network filesystems always the ring, for there an open waits for a server even when the name is cached. close: a
// plain close(2) does not wait on local filesystems; elsewhere (NFS flushes at close) the ring does it. create, commit:
// the kernel hands O_CREAT and rename to a worker thread in any case; where they may wait, our pool does it.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

#include "harness/engine/reactor.hpp"
#include "storage/posix_base.hpp"
#include "storage/posix_memory_reads.hpp"

namespace feedbench::storage {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

namespace {

constexpr unsigned kJobThreads = 4; // read from tmpfs: see posix_memory_reads.hpp. Writes to it go to the ring and
                                    // there to a worker, beside the thread that generates.
// create, commit: durable commits of several files side by side

class PosixUring final : public PosixBackend {
  public:
    PosixUring(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor)
        : PosixBackend(std::move(settings), std::move(filesystem)), ring_(*reactor.uring()),
          jobs_(*this, reactor, kJobThreads), memory_reads_(*this, reactor) {}

    Submit submit(IoOp& op) override {
        switch (op.kind) {
        case IoKind::open:
            return open(op);
        case IoKind::read:
            if (!check_alignment(op)) return Submit::done;
            if (op.bytes == 0) {
                op.result = 0;
                return Submit::done;
            }
            if (filesystem_.is_memory) return memory_reads_.submit(op);
            op.result = 0; // bytes that have arrived
            return ring_.read(op, file_of(op).fd, 0, {read_done, this});
        case IoKind::write:
            if (!check_alignment(op)) return Submit::done;
            if (op.bytes == 0) {
                op.result = 0;
                return Submit::done;
            }
            op.result = 0;
            return ring_.write(op, file_of(op).fd, 0, {write_done, this});
        case IoKind::flush:
            return ring_.fsync(op, file_of(op).fd, {flush_done, this});
        case IoKind::create:
            return filesystem_.is_network ? jobs_.submit(op) : now(op);
        case IoKind::commit:
            return filesystem_.is_network || file_of(op).flushed ? jobs_.submit(op) : now(op);
        case IoKind::close:
            return close(op);
        }
        return Submit::done;
    }

  private:
    Submit now(IoOp& op) {
        perform_blocking(op);
        account(op);
        return Submit::done;
    }

    // -EAGAIN: would have to wait.
    int open_cached(const char* path) const {
        open_how how{};
        how.flags = static_cast<std::uint64_t>(O_RDONLY | open_flags());
        how.resolve = RESOLVE_CACHED;
        const long fd = ::syscall(SYS_openat2, root_.fd(), path, &how, sizeof how);
        return fd >= 0 ? static_cast<int>(fd) : -errno;
    }

    Submit open(IoOp& op) {
        // The name with its final zero lives in the file object that the open will hand out.
        auto file = std::make_unique<PosixFile>(root_, -1, op.path);
        if (!filesystem_.is_network) {
            const int fd = open_cached(file->path.c_str());
            if (fd >= 0) {
                finish_open(op, fd, std::move(file));
                return Submit::done;
            }
            // A name that is known not to exist is rare enough for the long way, which looks at the root folder again.
            if (fd != -EAGAIN && fd != -ENOSYS && fd != -EINVAL && fd != -EPERM) return now(op);
        }
        const Submit answer =
            ring_.open(op, root_.fd(), file->path.c_str(), O_RDONLY | open_flags(), 0, {open_done, this});
        if (answer == Submit::pending) op.opened = std::move(file);
        return answer;
    }

    Submit close(IoOp& op) {
        PosixFile& file = file_of(op);
        if (!filesystem_.is_network || file.fd < 0 || !file.temporary.empty()) return now(op);
        const int fd = std::exchange(file.fd, -1);
        const Submit answer = ring_.close(op, fd);
        if (answer == Submit::busy) file.fd = fd;
        return answer;
    }

    static PosixUring& self_of(void* backend) { return *static_cast<PosixUring*>(backend); }

    static void open_done(void* backend, IoOp& op, std::int64_t result) {
        PosixUring& self = self_of(backend);
        std::unique_ptr<PosixFile> file(static_cast<PosixFile*>(op.opened.release()));
        if (result >= 0)
            self.finish_open(op, static_cast<int>(result), std::move(file));
        else if (result == -ENOENT || result == -EBADF)
            self.perform_blocking(op); // perhaps the root folder was made since
        else
            self.fail_open(op, static_cast<int>(-result));
        op.sink->completed(op);
    }

    // A result that is not the end of the operation: interrupted, or short with more to come.
    static bool is_retry(std::int64_t result) { return result == -EINTR || result == -EAGAIN; }

    static void read_done(void* backend, IoOp& op, std::int64_t result) {
        PosixUring& self = self_of(backend);
        if (result > 0) op.result += result;
        const auto bytes = static_cast<std::uint64_t>(op.result);
        const bool more = is_retry(result) || (result > 0 && !self.read_is_complete(op, bytes));
        if (more) {
            const Submit again = self.ring_.read(op, file_of(op).fd, bytes, {read_done, backend});
            if (again == Submit::pending) return;
            op.result = -EAGAIN; // the slot of the finished one was free, so the kernel refuses entries at all
        } else if (result < 0)
            op.result = result;
        op.sink->completed(op);
    }

    static void write_done(void* backend, IoOp& op, std::int64_t result) {
        PosixUring& self = self_of(backend);
        if (result > 0) op.result += result;
        const auto bytes = static_cast<std::uint64_t>(op.result);
        if (is_retry(result) || (result > 0 && bytes < op.bytes)) {
            if (self.ring_.write(op, file_of(op).fd, bytes, {write_done, backend}) == Submit::pending) return;
            op.result = -EAGAIN;
        } else if (result <= 0)
            op.result = result < 0 ? result : -EIO;
        account(op);
        op.sink->completed(op);
    }

    static void flush_done(void*, IoOp& op, std::int64_t result) {
        op.result = result;
        account(op);
        op.sink->completed(op);
    }

    engine::Uring& ring_;
    PosixJobs jobs_;
    PosixMemoryReads memory_reads_;
};

} // namespace

std::unique_ptr<Backend> make_posix_uring(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor) {
    assert(reactor.uring());
    return std::make_unique<PosixUring>(std::move(settings), std::move(filesystem), reactor);
}

} // namespace feedbench::storage
