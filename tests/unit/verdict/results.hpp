// RunResults built by hand for the rules: a run that says everything about itself, to be spoilt by each test.
#pragma once

#include <algorithm>
#include <string>

#include "harness/verdict/rule.hpp"
#include "harness/verdict/rules.hpp"

namespace feedbench::verdict::test {

// `au` goes into the row, the shares of the time in the blocks into the attribution (of 1000 accelerator-seconds).
struct Shares {
    double storage = 0, client = 0, barrier = 0;
};

inline void set_metric(RunResult& r, const std::string& key, std::optional<double> value, std::string reason = "") {
    for (Metric& row : r.metrics)
        if (row.key == key) {
            row.value = value;
            row.reason = reason;
            return;
        }
    r.metrics.push_back({key, "", value, reason, "test"});
}

inline void set_shares(RunResult& r, Shares s) {
    r.attribution = {.think_s = 1000 * (1 - s.storage - s.client - s.barrier),
                     .storage_wait_s = 1000 * s.storage,
                     .client_wait_s = 1000 * s.client,
                     .barrier_wait_s = 1000 * s.barrier,
                     .outside_s = 50,
                     .total_s = 1050};
}

// One host, two epochs of 10 s of 1 GB each, read from a block device; 4 accelerators, busy 99 % of the time.
inline RunResult honest() {
    RunResult r;
    r.status = "complete";
    r.valid = true;
    r.workload = "unet3d";
    r.backend = "posix";
    r.accelerator_count = 4;
    r.rank_count = 1;
    HostFacts host;
    host.name = "h1";
    host.cpu_count = 8;
    host.memory_bytes_per_second = 20e9;
    r.hosts = {host};
    for (std::uint32_t i = 0; i < 2; ++i) {
        EpochResult epoch;
        epoch.index = i;
        epoch.start_s = 11.0 * i;
        epoch.end_s = epoch.start_s + 10;
        epoch.samples_proved = true;
        epoch.sample_count = 1000;
        HostEpochResult part;
        part.host = "h1";
        part.bytes_delivered = part.cache.bytes_delivered = 1'000'000'000;
        part.process_cpu_s = 4;
        part.host_cpu_s = 8; // of 80
        part.cache.source_kind = "block";
        part.cache.source = "vda (ext4 on /data)";
        part.cache.source_bytes = 1'001'000'000;
        part.cache.sampled_page_count = 1000;
        part.cache.residency_method = "cachestat";
        part.cache.drop_outcome = "dropped";
        epoch.hosts = {part};
        r.epochs.push_back(epoch);
    }
    set_shares(r, {.storage = 0.006, .client = 0.002, .barrier = 0.002});
    set_metric(r, "au_mean_percentage", 99.2);
    set_metric(r, "delivered_MB_per_second", 100);
    set_metric(r, "needed_MB_per_second", 101);
    set_metric(r, "bytes_delivered", 2e9);
    set_metric(r, "planned_bytes", 1.99e9);
    set_metric(r, "sample_count", 2000);
    set_metric(r, "dropped_sample_count", 0);
    set_metric(r, "ceiling_MB_per_second", 4000);
    set_metric(r, "achieved_over_ceiling", 0.025);
    return r;
}

// The storage gives a quarter of what is needed; the client has room.
inline RunResult slow_storage() {
    RunResult r = honest();
    set_shares(r, {.storage = 0.6, .client = 0.01, .barrier = 0.14});
    set_metric(r, "au_mean_percentage", 25);
    set_metric(r, "needed_MB_per_second", 400);
    return r;
}

inline std::vector<std::string> fired(const RunResult& r) {
    std::vector<std::string> names;
    for (const Finding& one : judge(r, rules())) names.push_back(one.rule);
    return names;
}
inline std::string verdict_of(RunResult r) {
    conclude(r);
    return r.verdict;
}
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
inline double fact_of(const Evidence& evidence, const std::string& key) {
    const auto at =
        std::find_if(evidence.facts.begin(), evidence.facts.end(), [&](const Metric& one) { return one.key == key; });
    return at == evidence.facts.end() || !at->value ? -1 : *at->value;
}

} // namespace feedbench::verdict::test
