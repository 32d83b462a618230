// What the client could write at most: the run's own parts, streamed to a storage that costs nothing.
//
// Thread: main thread of every process (collective). Owner: none. Units: s. Errors: the same on every process.
// Source: DESIGN section 8 (client ceiling): content is made as it will be made; what a page cache would copy is not in
// it.
#pragma once

#include "workloads/ceiling.hpp"
#include "workloads/checkpoint_setup.hpp"

namespace feedbench::workloads {

// For about `request.ceiling_s`. Not measured, with the reason: 0 s, virtual time, null: itself, nothing written.
Expected<Ceiling> measure_checkpoint_ceiling(const RunRequest& request, const CheckpointPlan& plan,
                                             const MeasuredStorage& storage);

} // namespace feedbench::workloads
