// What results of training and of checkpoint runs begin with, and what each process tells rank 0 for it.
//
// Thread: main thread of every process, after the run. Owner: the caller. Units: as RunResult. Errors: none; both ends
// of a message are the same binary. Source: DESIGN sections 8 and 9; case T9 (host arrays hold each host's own values).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/accelerator/accelerator.hpp"
#include "harness/probes/cpu.hpp"
#include "storage/backend.hpp"
#include "workloads/workload_kind.hpp"

namespace feedbench::workloads {

// The first fields of a process' message.
struct ProcessFacts {
    probes::CpuMark cpu_start;
    std::uint32_t accelerator_count = 0;
    std::uint64_t bytes_delivered = 0;
    std::vector<Slice> slices;
};
inline constexpr std::size_t kProcessFields = 2;
std::vector<std::string> process_fields(const RunRequest& request, const ProcessFacts& facts);
// At rank 0, in the order of hosts and their ranks.
void merge_process_fields(const std::vector<std::string>& fields, bool first_of_host, std::vector<HostFacts>& hosts,
                          std::vector<Slice>& slices);

struct RunEnd {
    std::optional<Error> error;
    accelerator::StopReason stop = accelerator::kGoOn;
};
// What describes the run itself. Other ranks than 0 get the status alone, which is all that they answer.
RunResult begin_result(const RunRequest& request, const char* kind, const RunEnd& end, const Placement& placement,
                       const storage::Backend& backend);

} // namespace feedbench::workloads
