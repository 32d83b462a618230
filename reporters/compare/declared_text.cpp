#include "reporters/compare/declared_text.hpp"

#include <fmt/format.h>

#include "reporters/ingest/published_workloads.hpp"

namespace feedbench::compare {
namespace {

using ingest::IngestedRun;

// What is used for this run under the name of the declaration; empty: not known.
std::string used(const IngestedRun& run, const std::string& what) {
    if (what == "workload") return run.workload;
    if (what == "accelerator") return run.accelerator_model;
    if (what == "accelerators") return std::to_string(run.accelerator_count);
    return run.host_count > 0 ? std::to_string(run.host_count) : std::string();
}

} // namespace

std::string declared_text(const Row& row) {
    for (const IngestedRun& run : row.runs) {
        for (const ingest::Declared& one : run.declared) {
            const std::string found = used(run, one.what);
            if (found.empty() || found == one.value) continue;
            const bool count = one.what == "accelerators" || one.what == "hosts";
            return count ? fmt::format("{} says {} {}, the summary says {}", one.where, one.value, one.what, found)
                         : fmt::format("{} says {} '{}', used is '{}'", one.where, one.what, one.value, found);
        }
        if (!run.au_percentage || !run.samples_per_second || run.tool != ingest::Tool::reference) continue;
        const std::string_view implied = ingest::accelerator_of_figures(run.workload, *run.au_percentage,
                                                                        *run.samples_per_second, run.accelerator_count);
        if (!implied.empty() && !run.accelerator_model.empty() && implied != run.accelerator_model)
            return fmt::format("AU and samples/s fit {}, declared is {}", implied, run.accelerator_model);
    }
    return {};
}

} // namespace feedbench::compare
