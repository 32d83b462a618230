// What is known of each storage that a run uses: looked at on every host before the run, counted by its library during
// it, gathered at rank 0 afterwards.
//
// Thread: main thread. Owner: run_training, run_checkpoint. Units: as StorageResult. Errors: none; what cannot be told
// is empty. Source: issue 6 (type, mount options, device, network go into the result; per endpoint requests and
// retries).
#pragma once

#include "harness/cluster/communicator.hpp"
#include "harness/types/run_result.hpp"
#include "storage/backend.hpp"

namespace feedbench::workloads {

// Its facts as this host sees them, no endpoints. Before the run: the room that is free is free then. Of a mount, also
// the server and the interface that leads there.
StorageResult look_at_storage(storage::Backend& backend, const std::string& use, const std::string& place,
                              bool virtual_time);

// Collective, after the run. Rank 0: hosts that see the same are one entry, with the counters of all their ranks;
// elsewhere empty. `seen`: what look_at_storage answered on this rank.
std::vector<StorageResult> gather_storage(cluster::Communicator& communicator, const storage::Backend& backend,
                                          StorageResult seen);

// A warning where requests had to be sent again or were given up.
void add_retry_findings(const std::vector<StorageResult>& storages, std::vector<Finding>& findings);
// "3 of 1200 requests to http://... were sent again (2 throttled, 1 connection_lost)"; empty where all went well.
std::string retry_words(const EndpointResult& endpoint);

} // namespace feedbench::workloads
