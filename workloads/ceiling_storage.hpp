// What stands in for the measured storage while the client's ceiling is measured: null:, whose reads are copied as a
// page cache's are, and looked at as reader.verify would have them looked at.
//
// Thread: reactor thread. Owner: the run. Units: bytes. Errors: memory that cannot be had. Content that differs from
// itself would be a fault of our own.
// Source: docs/ceiling.md: the same functions over as many bytes that lie in memory; framing is not parsed, compressed
// chunks are not inflated.
#pragma once

#include <memory>

#include "storage/backend.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

// `inner` is null:. `copies`: reads are copied into the buffer; else they land there by themselves.
Expected<std::unique_ptr<storage::Backend>> ceiling_storage(std::unique_ptr<storage::Backend> inner,
                                                            const RunRequest& request, bool copies);

} // namespace feedbench::workloads
