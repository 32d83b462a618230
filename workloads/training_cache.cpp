// Cache evidence of a run, epoch by epoch; outside the measured time. What is asked and how is cache_watch.hpp's.
#include <algorithm>

#include "workloads/training_run.hpp"

namespace feedbench::workloads {

engine::Task<void> TrainingRun::begin_evidence(const Phase& phase, const EpochPlan& plan) {
    CacheWatch::Epoch epoch{phase.set, &plan, plan.step_count()};
    if (!phase.evaluation) epoch.step_count = std::min(epoch.step_count, steps_total_ - steps_done_);
    if (workload_.reader.drop_cache != "off") {
        co_await cache_.drop(*phase.set, shared_.stopping);
        // What is asked about next may be another rank's to drop. (A stop that is agreed here lets nobody wait again.)
        co_await barrier_.arrive_for_all();
    }
    if (!stopped() && counters_.is_detailed) cache_.begin(epoch);
}

void TrainingRun::gather_evidence(const Phase& phase, std::uint32_t epoch_index) {
    const std::vector<CacheEvidence> all = cache_.end();
    const auto& hosts = request_.communicator->hosts();
    drop_warnings_.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) { // rank 0
        drop_warnings_[i].add(all[i], hosts[i].name, epoch_index, findings_);
        measurements_.cache_evidence.push_back({epoch_index, phase.evaluation, static_cast<std::uint32_t>(i), all[i]});
    }
}

} // namespace feedbench::workloads
