// checkpoint_client and checkpoint_storage: what the ranks' time went into; checkpoint_gap: how long nobody wrote or
// read.
//
// The client is the limit where making the content (or comparing it) took most of the ranks' time, where no CPU was
// idle and it took a good part of it, or where the run came as near to its own ceiling at a storage that costs nothing
// as two runs come to each other. Else it was the storage: there is nothing else that a rank waits for.
#include <algorithm>
#include <fmt/format.h>

#include "harness/verdict/checkpoint_facts.hpp"
#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {
namespace {

struct Busy {
    double share = 0;
    std::string where;
};
Busy busiest(const RunResult& r) {
    Busy most;
    for (const HostCheckpoint& one : host_checkpoints(r))
        if (one.cpu_share().value_or(0) > most.share) most = {*one.cpu_share(), one.where()};
    return most;
}

bool is_clients(const RunResult& r, const RankTime& time) {
    if (r.virtual_time) return false;
    const double content = time.share(time.content_s);
    if (content >= kMainCause.value) return true;
    if (content >= kCauseWhenSaturated.value && busiest(r).share >= kCpuSaturated.value) return true;
    return metric(r, "achieved_over_ceiling").value_or(0) >= kNearCeiling.value;
}

void add_rest(const RunResult& r, Evidence& evidence) {
    if (const auto near = metric(r, "achieved_over_ceiling")) {
        evidence.words += fmt::format(" Writing reached {} of the client's own ceiling of {}.", percent(*near),
                                      rate(metric(r, "ceiling_MB_per_second").value_or(0) * 1e6));
        evidence.facts.push_back(fact("achieved_over_ceiling", "", *near));
    }
    if (const Busy busy = busiest(r); busy.share > 0) {
        evidence.words += fmt::format(" CPUs busy: {} at most ({}).", percent(std::min(1.0, busy.share)), busy.where);
        evidence.facts.push_back(fact("cpu_share", "", busy.share));
    }
}

} // namespace

std::optional<Evidence> checkpoint_client(const RunResult& r) {
    const RankTime time = rank_time(r);
    if (!time.known() || !is_clients(r, time)) return std::nullopt;
    Evidence evidence;
    const double content = time.share(time.content_s);
    evidence.words = fmt::format("CPU of the client: ranks spent {} of their time making content or comparing it.",
                                 percent(content));
    evidence.facts = {fact("content_share", "", content)};
    add_rest(r, evidence);
    evidence.words += " The storage was not what limited this run: free CPUs, or spread the ranks over more hosts, and "
                      "repeat before judging it.";
    return evidence;
}

std::optional<Evidence> checkpoint_storage(const RunResult& r) {
    const RankTime time = rank_time(r);
    if (!time.known() || is_clients(r, time)) return std::nullopt;
    for (const HostCheckpoint& one : host_checkpoints(r))
        if (!r.virtual_time && in_cache(r, one)) return std::nullopt;
    Evidence evidence;
    const double moving = time.share(time.transfer_s - time.content_s);
    evidence.words =
        fmt::format("Ranks waited for the storage: {} of their time for data in flight, {} for fsync, {} for files to "
                    "become visible; making content or comparing it took {}.",
                    percent(moving), percent(time.share(time.fsync_s)), percent(time.share(time.commit_s)),
                    percent(time.share(time.content_s)));
    evidence.facts = {fact("in_flight_share", "", moving), fact("fsync_share", "", time.share(time.fsync_s)),
                      fact("commit_share", "", time.share(time.commit_s)),
                      fact("content_share", "", time.share(time.content_s))};
    if (r.virtual_time)
        evidence.words += " The client costs nothing in virtual time.";
    else
        add_rest(r, evidence);
    for (const HostCheckpoint& one : host_checkpoints(r)) {
        if (r.virtual_time || one.part->bytes == 0 || one.source_share() || one.resident_share()) continue;
        if (one.part->cache.source_kind == "memory" || one.part->cache.source_kind == "none") continue;
        evidence.words += fmt::format(" Whether a cache helped is not known: {}: {}.", one.where(),
                                      one.part->cache.source_reason.empty() ? "nothing watched where the bytes went"
                                                                            : one.part->cache.source_reason);
        break;
    }
    return evidence;
}

std::optional<Evidence> checkpoint_gap(const RunResult& r) {
    if (!r.checkpoint_gap_s) return std::nullopt;
    const double gap_s = *r.checkpoint_gap_s;
    if (gap_s < 0)
        return Evidence{
            fmt::format("Reading began {:.1f} s before the write's end by the hosts' clocks: they differ, so "
                        "that the time in between is not known.",
                        -gap_s),
            {fact("checkpoint_gap_s", "s", gap_s)}};
    if (gap_s <= kCheckpointGap.value) return std::nullopt;
    return Evidence{fmt::format("{:.1f} s passed between the end of the last write and the start of reading; the rules "
                                "of checkpoint submissions allow {:g} s.",
                                gap_s, kCheckpointGap.value),
                    {fact("checkpoint_gap_s", "s", gap_s)}};
}

} // namespace feedbench::verdict
