// Step records of all ranks into rank 0's steps.h5, streamed in pieces; nothing is collected.
//
// Thread: main thread of every rank (collective). Owner: none. Units: ns of rank 0's clock.
// Errors: of the spool or the file; the records of other ranks are drained all the same, so that nobody waits for ever.
// Source: DESIGN section 8 (the harness, not a reporter, writes steps.h5).
#pragma once

#include "harness/accelerator/step_log.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

Status gather_steps(const RunRequest& request, accelerator::StepLog& log, std::int64_t clock_offset_ns);

} // namespace feedbench::workloads
