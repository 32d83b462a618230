#include "harness/verdict/checkpoint_facts.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {

RankTime rank_time(const RunResult& r) {
    RankTime time;
    if (r.kind != "checkpoint") return time;
    for (const CheckpointResult& checkpoint : r.checkpoints)
        for (const CheckpointRankResult& rank : checkpoint.ranks) {
            time.duration_s += rank.duration_s;
            time.transfer_s += rank.transfer_s;
            time.fsync_s += rank.fsync_s;
            time.commit_s += rank.commit_s;
            time.content_s += rank.content_s;
        }
    return time;
}

bool HostCheckpoint::is_watched() const {
    return part->cache.source_kind == "block" || part->cache.source_kind == "network";
}

std::string HostCheckpoint::where() const {
    return fmt::format("{} of {} on host {}", checkpoint->kind, checkpoint->folder, part->host);
}

std::optional<double> HostCheckpoint::source_share() const {
    if (!part->cache.source_bytes || part->bytes == 0 || !is_watched()) return std::nullopt;
    return *part->cache.source_bytes / static_cast<double>(part->bytes);
}

std::optional<double> HostCheckpoint::resident_share() const {
    if (static_cast<double>(part->cache.sampled_page_count) < kSampledPages.value) return std::nullopt;
    return static_cast<double>(part->cache.resident_page_count) / static_cast<double>(part->cache.sampled_page_count);
}

std::optional<double> HostCheckpoint::cpu_share() const {
    if (host == nullptr || checkpoint->duration_s <= 0) return std::nullopt;
    std::optional<double> share;
    if (host->cpu_count > 0 && part->host_cpu_s > 0)
        share = part->host_cpu_s / (checkpoint->duration_s * host->cpu_count);
    if (host->cpu_allowed && *host->cpu_allowed > 0)
        share = std::max(share.value_or(0), part->process_cpu_s / (checkpoint->duration_s * *host->cpu_allowed));
    return share;
}

std::vector<HostCheckpoint> host_checkpoints(const RunResult& r) {
    std::vector<HostCheckpoint> all;
    if (r.kind != "checkpoint") return all;
    for (const CheckpointResult& checkpoint : r.checkpoints)
        for (const CheckpointHostResult& part : checkpoint.hosts) {
            HostCheckpoint one{&checkpoint, &part, nullptr};
            for (const HostFacts& host : r.hosts)
                if (host.name == part.host) one.host = &host;
            all.push_back(one);
        }
    return all;
}

} // namespace feedbench::verdict
