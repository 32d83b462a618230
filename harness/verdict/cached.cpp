// cached: what was delivered did not come from the storage.
//
// Two witnesses, either is enough. The device (or interface) gave less than was delivered: DESIGN section 8, case C1.
// Or the files lay in the page cache just before they were read (case C9): it also speaks where another reader of the
// same device hides the first. Direct reads pass the page cache by, whatever lies in it. Memory storage (tmpfs) is not
// cached, for nothing lies below it: memory_storage.cpp says so.
#include <algorithm>
#include <fmt/format.h>

#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {
namespace {

// Data that a filesystem may compress or share rightly comes from the device in fewer bytes.
double least_source_share(const RunResult& r) {
    const double kept = 1 - std::clamp(config_number(r, "dataset.compress_percent", 0), 0.0, 100.0) / 100;
    const double own = 1 - std::clamp(config_number(r, "dataset.dedupe_percent", 0), 0.0, 100.0) / 100;
    return kSourceShare.value * kept * own;
}

bool watched(const HostEpoch& one) { return one.by("block") || one.by("network"); }
bool short_of_source(const RunResult& r, const HostEpoch& one) {
    const auto share = one.source_share();
    return share && *share < least_source_share(r);
}
bool resident(const RunResult& r, const HostEpoch& one) {
    const auto share = one.resident_share();
    return !r.odirect && watched(one) && share && *share >= kResidentShare.value;
}

std::string words_of(const HostEpoch& one) {
    const CacheEvidence& cache = one.part->cache;
    std::string words = one.where() + ": ";
    if (const auto share = one.source_share())
        words += fmt::format("of {} delivered, {} came from {} ({})", MB(static_cast<double>(cache.bytes_delivered)),
                             MB(*cache.source_bytes), cache.source, percent(*share));
    else
        words += fmt::format("{} were delivered", MB(static_cast<double>(cache.bytes_delivered)));
    // The device is counted for whoever reads it; the ranks' own part shows it where others were busy.
    if (one.source_share().value_or(0) > 1.5 && cache.process_read_bytes)
        words += fmt::format(", {} of it for the ranks of this job", MB(*cache.process_read_bytes));
    if (cache.sampled_page_count > 0)
        words += fmt::format("; {} of {} sampled pages were in the page cache just before they were read",
                             cache.resident_page_count, cache.sampled_page_count);
    return words;
}

std::string way_out(const RunResult& r, const HostEpoch& one) {
    const std::string& drop = one.part->cache.drop_outcome;
    if (r.odirect) return "The reads were direct, so something below the page cache answered them.";
    if (drop.empty() || drop == "not asked")
        return "Ask for reader.drop_cache=fadvise or reader.odirect=True, or use a dataset larger than the memory of "
               "the hosts.";
    if (drop == "dropped")
        return "The cache was dropped before the epoch and filled again within it: something else reads these files, "
               "or "
               "each is read more than once an epoch. reader.odirect=True passes the cache by.";
    return "Dropping the cache was asked for and did not work (" + drop + "). reader.odirect=True passes it by.";
}

} // namespace

bool from_cache(const RunResult& r, const HostEpoch& one) {
    return one.part->cache.bytes_delivered > 0 && (short_of_source(r, one) || resident(r, one));
}

std::optional<Evidence> cached(const RunResult& r) {
    if (r.virtual_time) return std::nullopt;
    const std::vector<HostEpoch> all = host_epochs(r);
    const HostEpoch* worst = nullptr;
    std::size_t count = 0;
    const auto of_source = [](const HostEpoch& one) { return one.source_share().value_or(1); };
    for (const HostEpoch& one : all)
        if (from_cache(r, one)) {
            ++count;
            if (worst == nullptr || of_source(one) < of_source(*worst)) worst = &one;
        }
    if (worst == nullptr) return std::nullopt;

    Evidence evidence;
    evidence.words = fmt::format("The bytes came from a cache on the client, not from the storage, in {} of {} epochs "
                                 "and hosts. Worst, {}. {}",
                                 count, all.size(), words_of(*worst), way_out(r, *worst));
    const CacheEvidence& cache = worst->part->cache;
    evidence.facts = {fact("cached_host_epoch_count", "", static_cast<double>(count)),
                      fact("host_epoch_count", "", static_cast<double>(all.size())),
                      fact("bytes_delivered", "bytes", static_cast<double>(cache.bytes_delivered))};
    if (const auto share = worst->source_share()) {
        evidence.facts.push_back(fact("source_bytes", "bytes", *cache.source_bytes));
        evidence.facts.push_back(fact("source_bytes_over_delivered", "", *share));
    }
    if (cache.process_read_bytes)
        evidence.facts.push_back(fact("process_read_bytes", "bytes", *cache.process_read_bytes));
    if (cache.sampled_page_count > 0) {
        evidence.facts.push_back(fact("sampled_page_count", "", static_cast<double>(cache.sampled_page_count)));
        evidence.facts.push_back(fact("resident_page_count", "", static_cast<double>(cache.resident_page_count)));
    }
    return evidence;
}

} // namespace feedbench::verdict
