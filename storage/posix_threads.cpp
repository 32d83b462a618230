// io_engine threads: each operation is system calls (pread, pwrite, ...) on a thread of the reactor's pool.
#include "harness/engine/reactor.hpp"
#include "storage/posix_base.hpp"

namespace feedbench::storage {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

struct PosixJobs::OpJob final : engine::Job {
    PosixJobs* jobs = nullptr;
    IoOp* op = nullptr;
    OpJob* next_unused = nullptr;

    void run() override { jobs->backend_.perform_blocking(*op); }
    void finished() override {
        IoOp& done = *op;
        jobs->give_back(*this); // first: the completion may submit the next operation
        PosixBackend::account(done);
        const std::uint64_t started = start_ns, ended = end_ns; // the completion may reuse this job
        done.sink->completed(done);
        done.submit_ns = started; // before, it waited for a thread; after, for the loop
        done.complete_ns = ended;
    }
};

PosixJobs::PosixJobs(PosixBackend& backend, engine::Reactor& reactor, unsigned thread_count)
    : backend_(backend), reactor_(reactor), thread_count_(thread_count) {}
PosixJobs::~PosixJobs() = default;

void PosixJobs::give_back(OpJob& job) {
    job.next_unused = unused_;
    unused_ = &job;
}

Submit PosixJobs::submit(IoOp& op) {
    if (!unused_) {
        all_.push_back(std::make_unique<OpJob>());
        all_.back()->jobs = this;
        give_back(*all_.back());
    }
    OpJob& job = *unused_;
    unused_ = job.next_unused;
    job.op = &op;
    reactor_.thread_pool(thread_count_).submit(job);
    return Submit::pending;
}

namespace {

class PosixThreads final : public PosixBackend {
  public:
    PosixThreads(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor, unsigned thread_count)
        : PosixBackend(std::move(settings), std::move(filesystem)), jobs_(*this, reactor, thread_count) {}

    Submit submit(IoOp& op) override {
        const bool moves_data = op.kind == IoKind::read || op.kind == IoKind::write;
        if (moves_data && !check_alignment(op)) return Submit::done;
        return jobs_.submit(op);
    }

  private:
    PosixJobs jobs_;
};

} // namespace

std::unique_ptr<Backend> make_posix_threads(PosixSettings settings, Filesystem filesystem, engine::Reactor& reactor,
                                            unsigned thread_count) {
    (void)reactor.thread_pool(thread_count); // started now, not in the first measured read
    return std::make_unique<PosixThreads>(std::move(settings), std::move(filesystem), reactor, thread_count);
}

} // namespace feedbench::storage
