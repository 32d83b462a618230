// What the checkpoint rules read out of a result: where the ranks' time went, and where each host's bytes went to or
// came from.
//
// Thread: any (pure functions). Owner: the caller; references go into the result. Units: s, shares from 0 to 1. Errors:
// none; what the result does not say is nothing. Source: DESIGN section 8 (cache evidence); case C9.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench::verdict {

// Over all ranks and checkpoints of the run. Only of results of the kind "checkpoint": inside training a checkpoint has
// no verdict of its own.
struct RankTime {
    double duration_s = 0, transfer_s = 0, fsync_s = 0, commit_s = 0, content_s = 0;
    bool known() const { return duration_s > 0; }
    double share(double part_s) const { return known() ? part_s / duration_s : 0; }
};
RankTime rank_time(const RunResult& result);

// One host in one checkpoint.
struct HostCheckpoint {
    const CheckpointResult* checkpoint = nullptr;
    const CheckpointHostResult* part = nullptr;
    const HostFacts* host = nullptr; // nullptr: not in RunResult::hosts
    bool is_write() const { return checkpoint->kind == "write"; }
    bool is_watched() const;   // a device or interface below it is counted
    std::string where() const; // "write of global_epoch1_step0 on host h1"
    std::optional<double> source_share() const;
    std::optional<double> resident_share() const; // of a read
    std::optional<double> cpu_share() const;
};
std::vector<HostCheckpoint> host_checkpoints(const RunResult& result);

// The bytes stayed in, or came from, the page cache of the host (checkpoint_cached.cpp).
bool in_cache(const RunResult& result, const HostCheckpoint& one);

} // namespace feedbench::verdict
