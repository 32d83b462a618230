// What the client can do at most: the run's own plan at a storage that costs nothing, for a moment before the run.
//
// Thread: main thread of every rank, all ranks (collective). Owner: none. Units: in the names. Errors: the same on
// every rank; after an interrupt or a failure this job runs nothing more. Source: DESIGN section 8 (client ceiling);
// docs/ceiling.md says what is in it and what is not.
#pragma once

#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

struct Ceiling {
    std::vector<HostCeiling> hosts; // on rank 0; empty elsewhere, or with the reason
    std::string reason;

    double MB_per_second() const { // of all hosts together
        double sum = 0;
        for (const HostCeiling& host : hosts) sum += host.MB_per_second;
        return sum;
    }
};

// The storage that the ceiling stands beside.
struct MeasuredStorage {
    std::string name;         // Capabilities::name
    bool page_cached = false; // its reads are copied into the buffer; else they land there by themselves
};

// About `seconds` in all: half without thinking (MB/s, steps/s, CPU), half with the workload's think time (AU) where
// that is short enough for three steps. Not measured, with the reason: seconds 0, virtual time, null: itself.
// request.made is used where the dataset was made otherwise than the workload says.
Expected<Ceiling> measure_ceiling(const RunRequest& request, const MeasuredStorage& storage, double seconds);

// Takes the ceiling into the result, with the rows ceiling_MB_per_second and achieved_over_ceiling.
void add_ceiling(RunResult& result, Ceiling ceiling);

} // namespace feedbench::workloads
