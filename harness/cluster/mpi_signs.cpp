#include "harness/cluster/mpi_signs.hpp"

#include <algorithm>

#include "harness/engine/clock.hpp"
#include "harness/types/units.hpp"

namespace feedbench::cluster {

namespace {
constexpr int kSignTag = 3; // mpi.cpp has the others
}

void forget(MPI_Request& receive) {
    if (receive == MPI_REQUEST_NULL) return;
    MPI_Cancel(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

void HostSigns::begin(MPI_Comm comm, std::size_t host_count, bool takes_part) {
    comm_ = comm;
    counts_ = std::make_unique<std::atomic<std::uint64_t>[]>(host_count);
    waits_ns = std::make_unique<std::atomic<std::uint64_t>[]>(host_count);
    sends_.assign(host_count, MPI_REQUEST_NULL);
    interval_ns_ = std::max<std::uint64_t>(kNsPerS, host_count * 20 * kNsPerMs); // rank 0 hears them all
    if (takes_part) listen();
}

void HostSigns::exchange(const std::vector<HostLayout>& hosts, int host_index) {
    int done = 0;
    while (MPI_Test(&receive_, &done, MPI_STATUS_IGNORE), done) {
        ++counts_[received_.host];
        waits_ns[received_.host] = received_.waited_ns;
        listen();
    }
    const std::uint64_t now = engine::monotonic_ns();
    if (now - sent_ns_ < interval_ns_) return;
    sent_ns_ = now;
    const auto mine = static_cast<std::size_t>(host_index);
    sent_ = {mine, waits_ns[mine]}; // what is still under way may carry the newer value
    for (std::size_t h = mine == 0 ? 1 : 0; h < (mine == 0 ? hosts.size() : 1); ++h) {
        if (MPI_Test(&sends_[h], &done, MPI_STATUS_IGNORE), !done) continue; // nobody has taken the last one
        MPI_Isend(&sent_, sizeof sent_, MPI_BYTE, hosts[h].ranks.front(), kSignTag, comm_, &sends_[h]);
    }
}

void HostSigns::end() {
    forget(receive_);
    for (auto& request : sends_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void HostSigns::listen() {
    MPI_Irecv(&received_, sizeof received_, MPI_BYTE, MPI_ANY_SOURCE, kSignTag, comm_, &receive_);
}

} // namespace feedbench::cluster
