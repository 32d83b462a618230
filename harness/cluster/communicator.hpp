// The ranks of a run and how they agree. The only door to MPI (mpi.cpp); single.cpp is one process without it.
//
// Thread: reactor (main) thread. Owner: the cli. Units: none. Errors: MPI's own are fatal to the job, with a message.
// Source: DESIGN section 4 (polled barrier), 10 (stops are agreed). Every collective call here waits with naps, not by
// spinning: on a small machine a spinning rank takes the CPU of the rank that is measured.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/cluster/life_signs.hpp"

namespace feedbench::cluster {

struct HostLayout {
    std::string name;
    std::vector<int> ranks;
};

class Communicator {
  public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    // Hosts in order of their lowest rank; the same on every rank whatever the placement (case T9).
    virtual const std::vector<HostLayout>& hosts() const = 0;
    virtual int host_index() const = 0; // of this rank
    virtual int local_rank() const = 0; // position among the ranks of this host

    // Blocking collectives, outside measured time.
    virtual void barrier() = 0;
    virtual std::vector<std::string> gather(const std::string& bytes) = 0; // at rank 0: one a rank; elsewhere empty
    virtual std::string broadcast(const std::string& bytes) = 0;           // rank 0's
    virtual void sum(std::span<std::uint64_t> values) = 0;                 // element-wise, result everywhere; wraps
    virtual void sum(std::span<double> values) = 0;
    virtual void min(std::span<std::uint64_t> values) = 0;
    virtual void max(std::span<std::uint64_t> values) = 0;
    // Point to point, for streaming step records to rank 0 without collecting them.
    virtual void send(int to, const std::string& bytes) = 0;
    virtual std::string receive(int from) = 0;

    // Polled agreement: the largest of all ranks' values, known once every rank has started its own. One at a time.
    // It is the step barrier: value 0 = go on, larger = stop for that reason.
    virtual void start_agreement(std::uint64_t value) = 0;
    virtual bool test_agreement(std::uint64_t& result) = 0;

    // Out of band, for stops that cannot wait for the next step: tells every rank; the largest value told by any rank
    // (this one included) is heard everywhere soon after, without a collective. Cheap enough to ask in a heartbeat. 0 =
    // nothing was told.
    virtual void announce_stop(std::uint64_t value) = 0;
    virtual std::uint64_t announced_stop() = 0;

    // What this rank and the others of its host let each other see (stall_watch.hpp looks at it).
    LifeSigns& life() { return *life_; }
    // For loops outside the reactor that take long and get on: once a turn, cheap. Collectives do it while they wait.
    void tick() {
        life_->progress();
        exchange_signs();
    }
    // Signs between hosts, for the watching thread: how often host `host` has been heard of (0: never yet); how long
    // all ranks of this host have waited for others; how long those of all hosts have. Any thread.
    virtual std::uint64_t signs_heard(int host) const { return host == host_index() ? 1 : 0; }
    virtual void show_host_waits(std::uint64_t waited_ns) { (void)waited_ns; }
    virtual std::uint64_t all_hosts_wait_ns() const { return 0; }

    // Ends the job at once, all ranks (after a message): for watchdogs and for errors before agreement is possible.
    [[noreturn]] virtual void abort(int exit_code) = 0;

  protected:
    virtual void exchange_signs() {} // main thread
    std::unique_ptr<LifeSigns> life_ = LifeSigns::alone();
};

// MPI when started by mpirun, mpiexec or srun (or FEEDBENCH_MPI=1; never with FEEDBENCH_MPI=0), else one process, which
// does not touch the MPI runtime at all. Initialises MPI; the destructor finalises it: destroy it on every rank, or
// call abort().
std::unique_ptr<Communicator> make_communicator(int* argc, char*** argv);
std::unique_ptr<Communicator> make_single();
// What make_communicator goes by; `get` is getenv or a test's.
bool launched_by_mpi(const char* (*get)(const char* name));

} // namespace feedbench::cluster
