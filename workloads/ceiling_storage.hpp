// What stands in for the measured storage while the client's ceiling is measured: null:, whose reads are looked at as
// reader.verify would have them looked at.
//
// Thread: reactor thread. Owner: the run. Units: bytes. Errors: memory that cannot be had. Content that differs from
// itself would be a fault of our own. Source: docs/ceiling.md: the same functions over as many bytes that lie in
// memory; framing is not parsed, compressed chunks are not inflated.
#pragma once

#include <memory>

#include "storage/backend.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

struct ContentOfReads {
    const RunRequest& request;
    std::uint64_t copy_bytes = 0; // reads copy into the buffer, from so much memory; 0: they do not
};

// reader.verify asks for more than framing, and the format (or content) offers it.
bool checks_reads(const RunRequest& request);
// Copies come from null:copy=..; else from the memory whose content is known.
bool copies_by_itself(const ContentOfReads& reads);
// `inner` is null:; `reads` outlives it.
Expected<std::unique_ptr<storage::Backend>> checked_storage(std::unique_ptr<storage::Backend> inner,
                                                            const ContentOfReads& reads);

} // namespace feedbench::workloads
