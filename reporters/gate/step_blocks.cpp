#include "reporters/gate/step_blocks.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "harness/types/units.hpp"

namespace feedbench::gate {
namespace {

constexpr std::uint64_t kBlocks = 32; // of a run; epochs that do not divide evenly make some more, and shorter ones

} // namespace

StepBlocks::StepBlocks(std::uint64_t step_count) : steps_per_block_(std::max<std::uint64_t>(1, step_count / kBlocks)) {}

void StepBlocks::add(std::span<const StepRecord> records) {
    for (const StepRecord& r : records) {
        if ((r.block_index & kEvaluationBlock) != 0) continue;
        Block& block = blocks_[{r.epoch_index, r.block_index, r.step_index / steps_per_block_}];
        block.start_ns = std::min(block.start_ns, r.request_ns);
        block.end_ns = std::max(block.end_ns, r.barrier_end_ns);
        block.bytes += r.bytes_delivered;
        block.waits.add(r.ready_ns - r.request_ns);
        if (r.step_index == 0) continue;
        block.think_s += seconds(r.think_drawn_ns);
        block.wall_s += seconds(r.barrier_end_ns - r.request_ns);
    }
}

std::vector<Parts> StepBlocks::parts() const {
    const std::string source = fmt::format("blocks of {} step{}", steps_per_block_, steps_per_block_ == 1 ? "" : "s");
    Parts rate{"delivered_MB_per_second", source, {}}, au{"au_mean_percentage", source, {}},
        wait{"batch_wait_s_p99", source, {}};
    for (const auto& [place, block] : blocks_) {
        if (block.end_ns <= block.start_ns) continue;
        rate.parts.push_back({to_MB(static_cast<double>(block.bytes)), seconds(block.end_ns - block.start_ns)});
        if (block.wall_s > 0) au.parts.push_back({100 * block.think_s, block.wall_s});
        wait.parts.push_back({block.waits.quantile_ns(0.99) / 1e9, 1});
    }
    return {std::move(rate), std::move(au), std::move(wait)};
}

} // namespace feedbench::gate
