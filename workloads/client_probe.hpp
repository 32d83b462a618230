// Everything that can be known of the client before a run: its ceiling, its hosts' limits, what lies below the data.
//
// Thread: main thread of every rank, all ranks (collective). Owner: none. Units: in the names. Errors: the same on
// every rank.
#pragma once

#include "harness/probes/data_source.hpp"
#include "storage/backend.hpp"
#include "workloads/ceiling.hpp"

namespace feedbench::workloads {

// On rank 0; elsewhere empty.
struct ClientProbe {
    Ceiling ceiling;
    std::vector<HostFacts> hosts;
    std::string backend; // of the data folder; empty: nobody asked about one
    storage::FilesystemFacts filesystem;
    std::string filesystem_reason; // why it says nothing of itself
    probes::DataSource source;     // on rank 0's host
};

// `asks_storage`: the workload's data folder is opened and asked; it need not hold a dataset. Else the ceiling is that
// of buffered reads, or of direct ones where reader.odirect says so.
Expected<ClientProbe> probe_client(const RunRequest& request, bool asks_storage, double seconds);

} // namespace feedbench::workloads
