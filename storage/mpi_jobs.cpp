#include "storage/mpi_jobs.hpp"

#include <algorithm>
#include <cerrno>

namespace feedbench::storage {

using engine::IoKind;
using engine::IoOp;
using engine::Submit;

struct MpiJobs::MpiJob final : engine::Job {
    static constexpr std::size_t kNoLane = ~std::size_t{0};
    MpiJobs* jobs = nullptr;
    IoOp* op = nullptr;
    std::size_t lane = kNoLane;
    MPI_File file = MPI_FILE_NULL; // of that lane: the vector of lanes may grow meanwhile

    void run() override {
        if (lane == kNoLane) return perform_on_posix(jobs->backend_, *op);
        for (int left = next_piece_bytes(*op); left > 0; left = next_piece_bytes(*op)) {
            MPI_Status status;
            const auto done = static_cast<std::uint64_t>(op->result);
            const auto place = static_cast<MPI_Offset>(op->offset + done);
            const int code = op->kind == IoKind::read
                                 ? MPI_File_read_at(file, place, op->data + done, left, MPI_BYTE, &status)
                                 : MPI_File_write_at(file, place, op->data + done, left, MPI_BYTE, &status);
            if (take_piece(*op, status, code) == 0) return;
        }
    }
    void finished() override {
        IoOp& done = *op;
        --jobs->outstanding_;
        if (lane == kNoLane) {
            done.file->size_bytes = mpi_file_of(done).posix->size_bytes;
        } else {
            --jobs->moving_;
            --mpi_file_of(done).lanes[lane].in_flight;
            account_write(done);
        }
        jobs->unused_.push_back(this); // first: the completion may submit the next operation
        const std::uint64_t started = start_ns, ended = end_ns;
        done.sink->completed(done);
        done.submit_ns = started; // before, it waited for a thread; after, for the loop
        done.complete_ns = ended;
    }
};

MpiJobs::MpiJobs(PosixBackend& backend, engine::Reactor& reactor, unsigned most_threads)
    : backend_(backend), reactor_(reactor), most_threads_(most_threads) {}
MpiJobs::~MpiJobs() = default;

MpiJobs::MpiJob& MpiJobs::take() {
    if (unused_.empty()) {
        all_.push_back(std::make_unique<MpiJob>());
        all_.back()->jobs = this;
        unused_.push_back(all_.back().get());
    }
    MpiJob& job = *unused_.back();
    unused_.pop_back();
    return job;
}

Submit MpiJobs::begin(MpiJob& job, IoOp& op) {
    job.op = &op;
    ++outstanding_;
    reactor_.thread_pool(static_cast<unsigned>(std::min<std::size_t>(outstanding_, most_threads_))).submit(job);
    return Submit::pending;
}

Submit MpiJobs::move_data(IoOp& op, MPI_Info hints) {
    MpiJob& job = take();
    MpiFile& file = mpi_file_of(op);
    job.lane = file.lane_for(op.kind, hints);
    job.file = file.lanes[job.lane].file;
    ++file.lanes[job.lane].in_flight;
    ++moving_;
    return begin(job, op);
}

Submit MpiJobs::on_posix(IoOp& op) {
    MpiJob& job = take();
    job.lane = MpiJob::kNoLane;
    return begin(job, op);
}

} // namespace feedbench::storage
