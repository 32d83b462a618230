// Calls of the mpiio backend that block, each on a thread of the reactor's pool. Internal to storage/mpiio.cpp.
//
// Where MPI was begun for several threads, data move by MPI_File_read_at and MPI_File_write_at here: the completion
// wakes the reactor, where a request of MPI has to be looked for, and Open MPI's requests are threads of the C
// library's aio in any case. fsync and rename are system calls, and need no such MPI.
//
// Thread: reactor thread; jobs run on the pool's. Owner: the backend. Units: bytes. Errors: op.result, op.message.
#pragma once

#include <memory>
#include <vector>

#include "harness/engine/reactor.hpp"
#include "storage/mpi_file.hpp"

namespace feedbench::storage {

class MpiJobs {
  public:
    // At most `most_threads` calls at once. `backend` and `reactor` stay the caller's.
    MpiJobs(PosixBackend& backend, engine::Reactor& reactor, unsigned most_threads);
    ~MpiJobs(); // nothing may be outstanding
    MpiJobs(const MpiJobs&) = delete;
    MpiJobs& operator=(const MpiJobs&) = delete;

    // A read or a write of an MpiFile; `op.result` counts the bytes.
    engine::Submit move_data(engine::IoOp& op, MPI_Info hints);
    // Flush or commit.
    engine::Submit on_posix(engine::IoOp& op);
    std::size_t moving() const { return moving_; } // reads and writes that have not ended

  private:
    struct MpiJob;
    MpiJob& take();
    engine::Submit begin(MpiJob& job, engine::IoOp& op);

    PosixBackend& backend_;
    engine::Reactor& reactor_;
    const unsigned most_threads_;
    std::size_t outstanding_ = 0, moving_ = 0;
    std::vector<std::unique_ptr<MpiJob>> all_;
    std::vector<MpiJob*> unused_;
};

} // namespace feedbench::storage
