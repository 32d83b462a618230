// Reads that all ranks do together (MPI_File_read_at_all), and how they agree on when. Internal to storage/mpiio.cpp.
//
// Loaders do not read in step, and a rank that waits in a blocking collective could not bring what another one waits
// for. So a thread of its own takes part in rounds, whatever the rank does meanwhile. Before each round all ranks agree
// (MPI_Iallreduce, looked at with naps): the file of which somebody wants something, and whether anybody stays. Then
// each reads the piece that it wants next of that file, or nothing. The thread ends once all ranks have left, which may
// be after the backend: ranks that end early, fail or read less hold nobody up.
//
// Thread: reactor thread; the rounds have their own, and MPI is called on both (MPI_THREAD_MULTIPLE). Owner: the
// backend. Units: bytes. Errors: config_error where ranks cannot read together; of a read: op.result, op.message.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/engine/io_op.hpp"
#include "harness/types/error.hpp"
#include "storage/mpi_library.hpp"

namespace feedbench::engine {
class Reactor;
}

namespace feedbench::storage {

class CollectiveReads {
  public:
    // Of all ranks, at the same place: it makes a communicator. `hints` stays the caller's.
    static Expected<std::unique_ptr<CollectiveReads>> make(engine::Reactor& reactor, MPI_Info hints,
                                                           const std::string& uri);
    ~CollectiveReads(); // does not wait for the other ranks; nothing may be outstanding
    CollectiveReads(const CollectiveReads&) = delete;
    CollectiveReads& operator=(const CollectiveReads&) = delete;

    // op of an MpiFile, whose path is the same on all ranks; `op.result` counts the bytes. The reactor is woken once it
    // is done.
    void submit(engine::IoOp& op);
    // What was done since the last call: results are set, sinks not told.
    void take_ended(std::vector<engine::IoOp*>& ended);
    // What is in no round yet ends with -ECANCELED.
    void cancel();
    std::size_t outstanding() const { return outstanding_; }

  private:
    struct Rounds;
    explicit CollectiveReads(std::shared_ptr<Rounds> rounds) : rounds_(std::move(rounds)) {}
    std::shared_ptr<Rounds> rounds_;
    std::size_t outstanding_ = 0; // reactor thread
};

} // namespace feedbench::storage
