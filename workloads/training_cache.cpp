// Cache evidence of a run, epoch by epoch; outside the measured time. What is asked and how is cache_watch.hpp's.
#include <algorithm>

#include "workloads/training_run.hpp"

namespace feedbench::workloads {

engine::Task<void> TrainingRun::begin_evidence(const Phase& phase, const EpochPlan& plan) {
    CacheWatch::Epoch epoch{phase.set, &plan, plan.step_count()};
    if (!phase.evaluation) epoch.step_count = std::min(epoch.step_count, steps_total_ - steps_done_);
    co_await cache_.begin(epoch, shared_.stopping);
}

void TrainingRun::gather_evidence(const Phase& phase, std::uint32_t epoch_index) {
    const std::vector<CacheEvidence> all = cache_.end();
    const auto& hosts = request_.communicator->hosts();
    for (std::size_t i = 0; i < all.size(); ++i) { // rank 0
        if (auto warning = drop_warning(all[i], hosts[i].name, epoch_index)) findings_.push_back(std::move(*warning));
        measurements_.cache_evidence.push_back({epoch_index, phase.evaluation, static_cast<std::uint32_t>(i), all[i]});
    }
}

} // namespace feedbench::workloads
