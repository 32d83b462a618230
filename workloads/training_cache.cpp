// Dropping the page cache before an epoch, where reader.drop_cache asks for it; outside the measured time.
//
// Source: DESIGN section 8 (cache evidence is a later concern; the outcome is recorded here); case C2: a drop that ran
// out of time is `timeout`, not `not permitted`, and is tried again next epoch.
#include <fmt/format.h>

#include "workloads/training_run.hpp"

namespace feedbench::workloads {

namespace {
const char* outcome_name(storage::DropOutcome outcome) {
    switch (outcome) {
    case storage::DropOutcome::dropped:
        return "dropped";
    case storage::DropOutcome::not_permitted:
        return "not permitted";
    case storage::DropOutcome::timeout:
        return "timeout";
    case storage::DropOutcome::not_offered:
        return "not offered by this storage";
    }
    return "?";
}
} // namespace

void TrainingRun::drop_caches(std::uint32_t epoch_index, const SetPlan& set) {
    const std::string& how = workload_.reader.drop_cache;
    if (how == "off") return;
    const cluster::Communicator& communicator = *request_.communicator;
    storage::DropOutcome outcome = storage::DropOutcome::dropped;
    if (how == "system") {
        if (communicator.local_rank() == 0) outcome = backend_.drop_cache("");
    } else {
        // Each rank of a host asks for its part of the files; every host has a cache of its own.
        const std::uint64_t step =
            communicator.hosts()[static_cast<std::size_t>(communicator.host_index())].ranks.size();
        std::string name;
        for (auto i = static_cast<std::uint64_t>(communicator.local_rank()); i < set.files->file_count(); i += step) {
            set.files->name(i, name);
            const storage::DropOutcome one = backend_.drop_cache(name);
            if (one != storage::DropOutcome::dropped) outcome = one;
        }
    }
    if (outcome != storage::DropOutcome::dropped)
        findings_.push_back({"drop_cache", "warning",
                             fmt::format("epoch {}: the page cache of host {} was not dropped: {}", epoch_index + 1,
                                         communicator.hosts()[static_cast<std::size_t>(communicator.host_index())].name,
                                         outcome_name(outcome))});
}

} // namespace feedbench::workloads
