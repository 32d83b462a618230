// Signs of life between hosts: the first rank of each tells rank 0 now and then, and rank 0 tells them; for watchdogs.
//
// Thread: begin(), exchange(), end(): the main thread; heard() and waits: also the watching thread. Owner: mpi.cpp, of
// which this is a part. Units: counts, ns. Errors: none: what does not arrive is what the watchdog looks for.
// Source: DESIGN section 10; stall_watch.hpp.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/cluster/communicator.hpp"

namespace feedbench::cluster {

// Ends a receive that nothing will answer.
void forget(MPI_Request& receive);

class HostSigns {
  public:
    void begin(MPI_Comm comm, std::size_t host_count, bool takes_part);
    // Takes what has come, and says that this host lives; cheap where neither is due.
    void exchange(const std::vector<HostLayout>& hosts, int host_index);
    void end();
    // How often that host has been heard of; how long all its ranks have waited for others, as it said last.
    std::uint64_t heard(int host) const { return counts_[static_cast<std::size_t>(host)]; }
    std::unique_ptr<std::atomic<std::uint64_t>[]> waits_ns;

  private:
    struct Message {
        std::uint64_t host, waited_ns;
    };
    void listen();
    std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Request receive_ = MPI_REQUEST_NULL;
    std::vector<MPI_Request> sends_;
    Message received_{}, sent_{};
    std::uint64_t interval_ns_ = 0, sent_ns_ = 0;
};

} // namespace feedbench::cluster
