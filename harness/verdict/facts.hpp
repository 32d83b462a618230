// What the rules read out of a result: where the accelerators' time was lost, what each host carried, and where its
// bytes came from.
//
// Thread: any (pure functions). Owner: the caller; references go into the result. Units: s, bytes, bytes/s, shares
// from 0 to 1. Errors: none; what the result does not say is nothing. Source: DESIGN section 8 (attribution, cache
// evidence).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/run_result.hpp"

namespace feedbench::verdict {

// Of the training epochs, over all accelerators. The barrier is somebody else's stall: what the stalls of the others
// can explain of it is theirs; the rest is think times that differ or, where they do not, the barrier itself.
struct LostTime {
    double inside_s = 0; // in the blocks, the first step of each included
    double think_s = 0;
    double storage_s = 0, client_s = 0, imbalance_s = 0; // lost
    std::optional<double> au_percentage;                 // by the rules: without the first step of a block

    double lost_s() const { return storage_s + client_s + imbalance_s; }
    double busy() const { return inside_s > 0 ? think_s / inside_s : 0; } // share of the time in the blocks
    double share(double part_s) const { return lost_s() > 0 ? part_s / lost_s() : 0; }
    bool known() const { return inside_s > 0; }
    // Accelerators waited: AU below kBusyAu, or so much lost with the first steps that AU does not tell.
    bool waited() const;
};
LostTime lost_time(const RunResult& result);

// One host in one epoch, evaluation included.
struct HostEpoch {
    const EpochResult* epoch = nullptr;
    const HostEpochResult* part = nullptr;
    const HostFacts* host = nullptr; // nullptr: not in RunResult::hosts
    double wall_s() const { return epoch->end_s - epoch->start_s; }
    std::string where() const; // "epoch 2 on host h1", "evaluation of epoch 2 on host h1"
    // Bytes delivered a second of the epoch's wall time: less than within the blocks, never more than there was.
    double bytes_per_second() const;
    std::optional<double> source_share() const; // source bytes / delivered; nothing where no device was watched
    std::optional<double> resident_share() const;
    // Of all CPUs of the host, whoever used them, or of those that the job may use, by the job: whichever is nearer to
    // its end.
    std::optional<double> cpu_share() const;
    bool by(std::string_view source_kind) const { return part->cache.source_kind == source_kind; }
};
std::vector<HostEpoch> host_epochs(const RunResult& result);

// The page cache or something else on the client gave bytes that should have come from below (cached.cpp).
bool from_cache(const RunResult& result, const HostEpoch& one);
// For every host and epoch it is known that the bytes came from below, or there is no cache to come from. False: say
// why in `why`.
bool source_known(const RunResult& result, std::string& why);

std::optional<double> metric(const RunResult& result, std::string_view key);
double config_number(const RunResult& result, std::string_view key, double otherwise);
Metric fact(std::string_view key, std::string_view unit, double value);

// For the words of the evidence.
std::string percent(double share); // 0.0534: "5.3 %"
std::string MB(double bytes);      // "12.3 MB"
std::string rate(double bytes_per_second);

} // namespace feedbench::verdict
