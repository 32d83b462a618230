#include "harness/engine/uring.hpp"

#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <vector>

#include "harness/types/units.hpp"

namespace feedbench::engine {

namespace {

constexpr std::uint64_t kWakeTag = ~std::uint64_t{0}, kReadableTag = kWakeTag - 1;
// One SQE carries a 32-bit length and the kernel cuts at 2 GiB - 4 KiB; the rest comes as a continuation of the short
// result.
constexpr std::uint64_t kMaxPieceBytes = kGiB;

struct Mode {
    unsigned flags;
    const char* name;
};
// Best first. The kernel answers EINVAL to flags that it does not know yet.
constexpr std::array kModes{
    Mode{IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "defer_taskrun"}, // 6.1
    Mode{IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "coop_taskrun"},   // 6.0
    Mode{IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "coop_taskrun"},                                // 5.19
    Mode{0, "plain"}};

Error setup_error(int error) {
    Error e;
    e.kind = ErrorKind::storage;
    e.operation = "io_uring_setup";
    e.errno_value = error;
    if (error == EPERM || error == EACCES)
        e.message =
            "io_uring is forbidden here: by sysctl kernel.io_uring_disabled (0 allows it) or by a seccomp profile, as "
            "containers have; allow it, or ask for reader.io_engine=threads";
    else if (error == ENOSYS)
        e.message = "this kernel offers no io_uring (not built in, older than 5.1, or hidden by a seccomp profile; see "
                    "also sysctl "
                    "kernel.io_uring_disabled); ask for reader.io_engine=threads";
    else if (error == ENOMEM)
        e.message = "no memory for the ring; kernels before 5.12 count it against `ulimit -l`";
    else
        e.message = "the kernel refused the ring";
    return e;
}

class UringImpl final : public Uring {
  public:
    explicit UringImpl(const Clock& clock) : clock_(clock) {}
    ~UringImpl() override {
        if (ring_made_) io_uring_queue_exit(&ring_);
        if (wake_fd_ >= 0) ::close(wake_fd_);
    }
    UringImpl(const UringImpl&) = delete;
    UringImpl& operator=(const UringImpl&) = delete;

    Status set_up(unsigned entries) {
        int error = -EINVAL;
        for (const Mode& mode : kModes) {
            io_uring_params params{};
            params.flags = mode.flags | IORING_SETUP_CQSIZE;
            params.cq_entries = entries * 4;
            error = io_uring_queue_init_params(entries, &ring_, &params);
            if (error == 0) mode_ = mode.name;
            if (error != -EINVAL) break;
        }
        if (error < 0) return setup_error(-error);
        ring_made_ = true;
        if (!(ring_.features & IORING_FEAT_EXT_ARG) || !(ring_.features & IORING_FEAT_NODROP))
            return storage_error(
                "io_uring_setup", "", EOPNOTSUPP,
                "the io_uring of this kernel is too old (5.15 or newer is needed); ask for reader.io_engine=threads");
        (void)io_uring_register_ring_fd(
            &ring_); // spares a file look-up at each enter; kernels before 5.18 know no such thing
        wake_fd_ = ::eventfd(0, EFD_CLOEXEC);
        if (wake_fd_ < 0) return storage_error("eventfd", "", errno);
        const unsigned slot_count = *ring_.cq.kring_entries - 1; // one is the wake-up's
        slots_.resize(slot_count);
        free_slots_.reserve(slot_count);
        for (unsigned i = slot_count; i > 0; --i) free_slots_.push_back(i - 1);
        return {};
    }

    Submit read(IoOp& op, int fd, std::uint64_t skip, UringThen then) override {
        io_uring_sqe* sqe = next_sqe(op, then);
        if (!sqe) return Submit::busy;
        const auto bytes = static_cast<unsigned>(std::min(op.bytes - skip, kMaxPieceBytes));
        if (op.buffer_index >= 0 && buffers_registered_)
            io_uring_prep_read_fixed(sqe, fd, op.data + skip, bytes, op.offset + skip, op.buffer_index);
        else
            io_uring_prep_read(sqe, fd, op.data + skip, bytes, op.offset + skip);
        return queue(sqe);
    }
    Submit write(IoOp& op, int fd, std::uint64_t skip, UringThen then) override {
        io_uring_sqe* sqe = next_sqe(op, then);
        if (!sqe) return Submit::busy;
        const auto bytes = static_cast<unsigned>(std::min(op.bytes - skip, kMaxPieceBytes));
        if (op.buffer_index >= 0 && buffers_registered_)
            io_uring_prep_write_fixed(sqe, fd, op.data + skip, bytes, op.offset + skip, op.buffer_index);
        else
            io_uring_prep_write(sqe, fd, op.data + skip, bytes, op.offset + skip);
        return queue(sqe);
    }
    Submit open(IoOp& op, int directory_fd, const char* path, int flags, unsigned mode, UringThen then) override {
        io_uring_sqe* sqe = next_sqe(op, then);
        if (!sqe) return Submit::busy;
        io_uring_prep_openat(sqe, directory_fd, path, flags, mode);
        return queue(sqe);
    }
    Submit close(IoOp& op, int fd, UringThen then) override {
        io_uring_sqe* sqe = next_sqe(op, then);
        if (!sqe) return Submit::busy;
        io_uring_prep_close(sqe, fd);
        return queue(sqe);
    }
    Submit fsync(IoOp& op, int fd, UringThen then) override {
        io_uring_sqe* sqe = next_sqe(op, then);
        if (!sqe) return Submit::busy;
        io_uring_prep_fsync(sqe, fd, 0);
        return queue(sqe);
    }

    Status register_buffers(std::span<const std::span<std::byte>> buffers) override {
        if (buffers_registered_) io_uring_unregister_buffers(&ring_);
        buffers_registered_ = false;
        if (buffers.empty()) return {};
        std::vector<iovec> vectors;
        vectors.reserve(buffers.size());
        for (const auto& b : buffers) vectors.push_back({b.data(), b.size()});
        const int error = io_uring_register_buffers(&ring_, vectors.data(), static_cast<unsigned>(vectors.size()));
        if (error < 0)
            return storage_error("io_uring_register_buffers", "", -error,
                                 std::to_string(buffers.size()) + " buffers; locked memory is bounded by `ulimit -l`");
        buffers_registered_ = true;
        return {};
    }
    bool has_registered_buffers() const override { return buffers_registered_; }

    bool poll() override {
        if (io_uring_sq_ready(&ring_) > 0)
            io_uring_submit_and_get_events(&ring_);                 // failed: they stay queued, next time
        else if (in_flight_ == 0 && io_uring_cq_ready(&ring_) == 0) // a wake-up may have left a CQE
            return false;
        else if (IO_URING_READ_ONCE(*ring_.sq.kflags) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW))
            io_uring_get_events(&ring_);
        return reap();
    }
    bool is_active() const override { return in_flight_ > 0; }

    void wait(std::uint64_t deadline_ns) override {
        arm_wake();
        arm_readable();
        sleeping_.store(true);
        const std::uint64_t now = deadline_ns == kNever ? 0 : clock_.now_ns();
        if (wake_requested_.load() || deadline_ns <= now) {
            if (io_uring_sq_ready(&ring_) > 0) io_uring_submit_and_get_events(&ring_);
        } else {
            io_uring_cqe* cqe = nullptr;
            if (deadline_ns == kNever) {
                // EINTR, EAGAIN, EBUSY: the loop looks around and comes back.
                io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, nullptr, nullptr);
            } else {
                __kernel_timespec timeout{};
                timeout.tv_sec = static_cast<long long>((deadline_ns - now) / kNsPerS);
                timeout.tv_nsec = static_cast<long long>((deadline_ns - now) % kNsPerS);
                io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &timeout, nullptr);
            }
        }
        sleeping_.store(false);
        // What the waker did before wake() is visible from here on, and the loop polls everything after a wait.
        wake_requested_.exchange(false);
    }

    void wake() override {
        if (wake_requested_.exchange(true)) return;
        if (!sleeping_.load()) return; // the next wait() sees the request
        const int saved = errno;       // a signal handler must not change it
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
        errno = saved;
    }
    void wake_when_readable(int fd) override { readable_fd_ = fd; }
    std::uint32_t in_flight() const override { return in_flight_; }
    const char* mode() const override { return mode_; }

  private:
    struct Slot {
        IoOp* op = nullptr;
        UringThen then;
    };

    io_uring_sqe* free_sqe() {
        io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
        if (sqe) return sqe;
        io_uring_submit(&ring_);
        return io_uring_get_sqe(&ring_);
    }
    io_uring_sqe* next_sqe(IoOp& op, UringThen then) {
        if (free_slots_.empty()) return nullptr;
        io_uring_sqe* sqe = free_sqe();
        if (!sqe) return nullptr;
        slots_[free_slots_.back()] = {&op, then};
        return sqe;
    }
    // io_uring_prep_* clears user_data in newer liburing, so it is set last.
    Submit queue(io_uring_sqe* sqe) {
        io_uring_sqe_set_data64(sqe, free_slots_.back());
        free_slots_.pop_back();
        ++in_flight_;
        return Submit::pending;
    }

    // A read of the eventfd stands in the ring while the loop sleeps. It is armed again only before the next sleep, so
    // that a wake-up that finds the loop awake costs no system call.
    void arm_wake() {
        if (wake_armed_) return;
        io_uring_sqe* sqe = free_sqe();
        if (!sqe) return; // the queue is full of operations: their completions end the wait
        io_uring_prep_read(sqe, wake_fd_, &wake_count_, sizeof wake_count_, 0);
        io_uring_sqe_set_data64(sqe, kWakeTag);
        wake_armed_ = true;
    }

    void arm_readable() {
        if (readable_armed_ || readable_fd_ < 0) return;
        io_uring_sqe* sqe = free_sqe();
        if (!sqe) return;
        io_uring_prep_poll_add(sqe, readable_fd_, POLLIN);
        io_uring_sqe_set_data64(sqe, kReadableTag);
        readable_armed_ = true;
    }

    bool reap() {
        std::array<io_uring_cqe*, 64> cqes;
        std::array<std::pair<std::uint64_t, int>, 64> batch;
        bool any = false;
        // Bounded: completions that cause new inline completions must not keep timers waiting.
        for (unsigned left = static_cast<unsigned>(slots_.size()) + 1; left > 0;) {
            const unsigned count = io_uring_peek_batch_cqe(&ring_, cqes.data(), std::min<unsigned>(left, cqes.size()));
            if (count == 0) break;
            for (unsigned i = 0; i < count; ++i) batch[i] = {cqes[i]->user_data, cqes[i]->res};
            io_uring_cq_advance(&ring_, count); // before the handlers, which may submit
            for (unsigned i = 0; i < count; ++i) any |= hand_on(batch[i].first, batch[i].second);
            left -= count;
        }
        return any;
    }
    bool hand_on(std::uint64_t tag, int result) {
        if (tag >= kReadableTag) {
            (tag == kWakeTag ? wake_armed_ : readable_armed_) = false;
            return false;
        }
        const Slot slot = slots_[tag];
        free_slots_.push_back(static_cast<std::uint32_t>(tag));
        --in_flight_;
        if (slot.then.handler)
            slot.then.handler(slot.then.backend, *slot.op, result);
        else {
            slot.op->result = result;
            slot.op->sink->completed(*slot.op);
        }
        return true;
    }

    const Clock& clock_;
    io_uring ring_{};
    bool ring_made_ = false, buffers_registered_ = false, wake_armed_ = false;
    const char* mode_ = "none";
    bool readable_armed_ = false;
    int wake_fd_ = -1, readable_fd_ = -1;
    std::uint64_t wake_count_ = 0; // target of the eventfd read
    std::atomic<bool> wake_requested_{false}, sleeping_{false};
    static_assert(std::atomic<bool>::is_always_lock_free); // wake() in signal handlers
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_slots_; // last freed first: its slot is warm
    std::uint32_t in_flight_ = 0;
};

} // namespace

Expected<std::unique_ptr<Uring>> Uring::make(unsigned entries, const Clock& clock) {
    assert(entries > 0 && (entries & (entries - 1)) == 0);
    assert(!clock.is_virtual());
    auto ring = std::make_unique<UringImpl>(clock);
    if (auto status = ring->set_up(entries); !status) return status.error();
    return std::unique_ptr<Uring>(std::move(ring));
}

} // namespace feedbench::engine
