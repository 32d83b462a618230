// When an operation at the modelled storage is answered: queues and latencies as arithmetic, without clock or reactor.
//
// Thread: one user. Owner: the model backend, or a test. Units: ns, bytes. Errors: none; parameters are checked before.
// Source: docs/simulate.md. Every stage serves in the order in which operations reach the storage, so that a time when
// it is free again is all that a stage needs to remember:
//   worked on (parallel) -> turn (iops) and pipe (bandwidth), side by side -> link of its host -> latency + jitter.
// Worked example: bandwidth 1 MB/s, latency 1 ms; two reads of 1000 bytes at 0 are answered at 2 ms and 3 ms.
#pragma once

#include <cstdint>
#include <queue>
#include <string_view>
#include <vector>

#include "harness/types/random.hpp"
#include "storage/model_parameters.hpp"

namespace feedbench::storage {

class ModelQueueing {
  public:
    ModelQueueing(const ModelParameters& parameters, std::uint64_t seed);

    struct Demand {
        bool opens = false; // an open or create; else a read or write of `bytes`
        bool cached = false;
        std::uint64_t bytes = 0;
        std::uint32_t client = 0;
    };
    // The host's processor is free for this operation's journey at ...; not before now. The same for all of no cost.
    std::uint64_t leaves_client_ns(std::uint64_t now_ns, std::uint32_t client);
    // When an operation that reaches the storage at now_ns is answered. Calls come in the order of now_ns.
    std::uint64_t answered_ns(std::uint64_t now_ns, const Demand& demand);
    // Whether the file of this name lies in memory: the same in every run.
    bool is_cached(std::string_view name) const;

  private:
    struct Host {
        double link_free_ns = 0, memory_free_ns = 0, processor_free_ns = 0;
    };
    struct Lognormal {
        double median_ns = 0, sigma = 0; // of the logarithm
    };
    static Lognormal lognormal(const ModelTime& time);
    Host& host_of(std::uint32_t client) { return hosts_[client % hosts_.size()]; }
    double through_storage(double start, const Demand& demand, double pieces, Host& host);
    double latency(const Lognormal& distribution, double pieces);
    double normal();

    ModelParameters parameters_;
    Lognormal latency_, open_latency_;
    Random random_;
    double turn_free_ns_ = 0, pipe_free_ns_ = 0;
    std::vector<Host> hosts_;
    // When each of the operations that are worked on is finished; only with a limit.
    std::priority_queue<double, std::vector<double>, std::greater<>> worked_on_;
};

} // namespace feedbench::storage
