// implausible: two numbers of the same result contradict each other. The words name both.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {
namespace {

void add(Evidence& all, const std::string& words, std::vector<Metric> facts) {
    all.words += (all.words.empty() ? "" : " ") + words;
    all.facts.insert(all.facts.end(), facts.begin(), facts.end());
}

void samples(const RunResult& r, Evidence& all) {
    for (const EpochResult& epoch : r.epochs)
        if (!epoch.samples_proved) {
            add(all,
                fmt::format("In {} {}, the samples that were read are not those of the plan (count {}, checksum of ids "
                            "differs or was not proved).",
                            epoch.evaluation ? "the evaluation of epoch" : "epoch", epoch.index + 1,
                            epoch.sample_count),
                {fact("sample_count", "", static_cast<double>(epoch.sample_count))});
            return;
        }
}

// Example: 100 samples of 1 MB planned, 50 MB delivered: 0.5.
void bytes(const RunResult& r, Evidence& all) {
    const auto planned = metric(r, "planned_bytes"), delivered = metric(r, "bytes_delivered");
    if (!planned || !delivered || *planned <= 0) return;
    const double used = metric(r, "sample_count").value_or(0), left = metric(r, "dropped_sample_count").value_or(0);
    const double left_share = used + left > 0 ? left / (used + left) : 0;
    const double least = std::max(0.0, kPlannedBytes.value - 3 * left_share);
    if (*delivered >= least * *planned) return;
    add(all,
        fmt::format("{} were delivered, but the samples that were read hold {} by the plan.", MB(*delivered),
                    MB(*planned)),
        {fact("bytes_delivered", "bytes", *delivered), fact("planned_bytes", "bytes", *planned)});
}

// For one constant think time the two are the same figure (case T7), each counted in its own way.
void identity(const RunResult& r, Evidence& all) {
    const auto deviation = metric(r, "au_identity_deviation");
    if (!deviation || *deviation <= kIdentity.value) return;
    const double au = metric(r, "au_mean_percentage").value_or(0);
    const double samples = metric(r, "samples_per_second_mean").value_or(0);
    add(all,
        fmt::format("AU is {:.2f} % and {:.1f} samples/s were counted, but at a constant think time each follows from "
                    "the other, and they differ by {}.",
                    au, samples, percent(*deviation)),
        {fact("au_identity_deviation", "", *deviation), fact("au_mean_percentage", "%", au),
         fact("samples_per_second_mean", "samples/s", samples)});
}

// A cache explains a rate above that of the line; then `cached` says so, and there is no contradiction.
void rates(const RunResult& r, Evidence& all) {
    if (r.virtual_time) return;
    const HostEpoch* beyond_line = nullptr;
    const HostEpoch* beyond_memory = nullptr;
    const std::vector<HostEpoch> every = host_epochs(r);
    const auto of_line = [](const HostEpoch& one) { return one.bytes_per_second() / *one.host->nic_bytes_per_second; };
    const auto of_memory = [](const HostEpoch& one) {
        return one.bytes_per_second() / *one.host->memory_bytes_per_second;
    };
    for (const HostEpoch& one : every) {
        if (one.host == nullptr || one.by("none") || one.by("")) continue;
        if (one.by("network") && one.host->nic_bytes_per_second && *one.host->nic_bytes_per_second > 0 &&
            !from_cache(r, one) && of_line(one) > kPossibleRate.value &&
            (beyond_line == nullptr || of_line(one) > of_line(*beyond_line)))
            beyond_line = &one;
        if (one.host->memory_bytes_per_second && *one.host->memory_bytes_per_second > 0 &&
            of_memory(one) > kPossibleRate.value &&
            (beyond_memory == nullptr || of_memory(one) > of_memory(*beyond_memory)))
            beyond_memory = &one;
    }
    if (beyond_line != nullptr)
        add(all,
            fmt::format("In {}, {} were delivered over {}, whose line rate is {}.", beyond_line->where(),
                        rate(beyond_line->bytes_per_second()), beyond_line->part->cache.source,
                        rate(*beyond_line->host->nic_bytes_per_second)),
            {fact("delivered_MB_per_second", "MB/s", beyond_line->bytes_per_second() / 1e6),
             fact("line_rate_MB_per_second", "MB/s", *beyond_line->host->nic_bytes_per_second / 1e6)});
    if (beyond_memory != nullptr)
        add(all,
            fmt::format("In {}, {} were delivered into a memory that was measured to give {}.", beyond_memory->where(),
                        rate(beyond_memory->bytes_per_second()), rate(*beyond_memory->host->memory_bytes_per_second)),
            {fact("delivered_MB_per_second", "MB/s", beyond_memory->bytes_per_second() / 1e6),
             fact("memory_MB_per_second", "MB/s", *beyond_memory->host->memory_bytes_per_second / 1e6)});
}

} // namespace

std::optional<Evidence> implausible(const RunResult& r) {
    Evidence all;
    samples(r, all);
    rates(r, all);
    identity(r, all);
    bytes(r, all);
    if (all.words.empty()) return std::nullopt;
    return all;
}

} // namespace feedbench::verdict
