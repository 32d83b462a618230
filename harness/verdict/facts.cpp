#include "harness/verdict/facts.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "harness/types/units.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {

namespace {

// Whether think times differ from accelerator to accelerator and step to step; where the result does not say, they may.
bool think_varies(const RunResult& r) {
    bool constant = false;
    for (const ConfigValue& one : r.config) {
        char* end = nullptr;
        const double value = std::strtod(one.value.c_str(), &end);
        const bool number = end != one.value.c_str() && *end == '\0'; // a distribution is a mapping
        if (one.key == "train.computation_time") constant = number;
        if (one.key == "train.computation_time_stdev" && number && value > 0) return true;
    }
    return !constant;
}

} // namespace

bool LostTime::waited() const {
    if (!known()) return false;
    return (au_percentage ? *au_percentage < kBusyAu.value : busy() < kBusyAu.value / 100) ||
           busy() < kBusyWithStart.value;
}

// Example: 4 accelerators, lost: storage 40 s, client 5 s, barrier 90 s. Stalls of 45 s can keep the three others
// waiting 135 s, so all of the barrier is theirs, 8 to 1: storage 120 s, client 15 s. With storage 2 s and client 1 s
// they explain 9 s of it at most: storage 8 s, client 4 s, and 81 s are think times that differ.
LostTime lost_time(const RunResult& r) {
    const Attribution& a = r.attribution;
    LostTime lost;
    lost.inside_s = a.total_s - a.outside_s;
    lost.think_s = a.think_s;
    const double stalls = a.storage_wait_s + a.client_wait_s;
    const double others = r.accelerator_count > 1 ? r.accelerator_count - 1.0 : 0.0;
    const double explained = std::min(a.barrier_wait_s, others * stalls);
    lost.storage_s = a.storage_wait_s + (stalls > 0 ? explained * a.storage_wait_s / stalls : 0);
    lost.client_s = a.client_wait_s + (stalls > 0 ? explained * a.client_wait_s / stalls : 0);
    (think_varies(r) ? lost.imbalance_s : lost.client_s) += a.barrier_wait_s - explained;
    lost.au_percentage = metric(r, "au_mean_percentage");
    return lost;
}

std::string HostEpoch::where() const {
    return fmt::format("{} {} on host {}", epoch->evaluation ? "evaluation of epoch" : "epoch", epoch->index + 1,
                       part->host);
}
double HostEpoch::bytes_per_second() const {
    return wall_s() > 0 ? static_cast<double>(part->bytes_delivered) / wall_s() : 0;
}
std::optional<double> HostEpoch::source_share() const {
    if (!part->cache.source_bytes || part->cache.bytes_delivered == 0) return std::nullopt;
    if (!by("block") && !by("network")) return std::nullopt;
    return *part->cache.source_bytes / static_cast<double>(part->cache.bytes_delivered);
}
std::optional<double> HostEpoch::resident_share() const {
    if (static_cast<double>(part->cache.sampled_page_count) < kSampledPages.value) return std::nullopt;
    return static_cast<double>(part->cache.resident_page_count) / static_cast<double>(part->cache.sampled_page_count);
}
std::optional<double> HostEpoch::cpu_share() const {
    if (host == nullptr || wall_s() <= 0) return std::nullopt;
    std::optional<double> share;
    if (host->cpu_count > 0 && part->host_cpu_s > 0) share = part->host_cpu_s / (wall_s() * host->cpu_count);
    if (host->cpu_allowed && *host->cpu_allowed > 0)
        share = std::max(share.value_or(0), part->process_cpu_s / (wall_s() * *host->cpu_allowed));
    return share;
}

std::vector<HostEpoch> host_epochs(const RunResult& r) {
    std::vector<HostEpoch> all;
    for (const EpochResult& epoch : r.epochs)
        for (const HostEpochResult& part : epoch.hosts) {
            HostEpoch one{&epoch, &part, nullptr};
            for (const HostFacts& host : r.hosts)
                if (host.name == part.host) one.host = &host;
            all.push_back(one);
        }
    return all;
}

bool source_known(const RunResult& r, std::string& why) {
    if (r.virtual_time) return true; // its backends keep nothing
    const std::vector<HostEpoch> all = host_epochs(r);
    if (all.empty()) why = "the result holds no cache evidence";
    for (const HostEpoch& one : all) {
        const CacheEvidence& cache = one.part->cache;
        if (one.by("none") || one.by("memory") || one.part->bytes_delivered == 0 || one.source_share()) continue;
        if (!r.odirect && one.resident_share()) continue;
        why = fmt::format("{}: nothing watched where the bytes came from ({})", one.where(),
                          !cache.source_reason.empty() ? cache.source_reason : "no cache evidence");
        return false;
    }
    return !all.empty();
}

std::optional<double> metric(const RunResult& r, std::string_view key) {
    for (const Metric& row : r.metrics)
        if (row.key == key) return row.value;
    return std::nullopt;
}

double config_number(const RunResult& r, std::string_view key, double otherwise) {
    for (const ConfigValue& one : r.config)
        if (one.key == key) {
            char* end = nullptr;
            const double value = std::strtod(one.value.c_str(), &end);
            if (end != one.value.c_str()) return value;
        }
    return otherwise;
}

Metric fact(std::string_view key, std::string_view unit, double value) {
    return {std::string(key), std::string(unit), value, "", "verdict_fact"};
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string MB(double bytes) { return fmt::format("{:.{}f} MB", to_MB(bytes), to_MB(bytes) < 100 ? 1 : 0); }
std::string rate(double bytes_per_second) { return MB(bytes_per_second) + "/s"; }

} // namespace feedbench::verdict
