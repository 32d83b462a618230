// checkpoint_cached: what was written stayed in the page cache, or what was read came from it.
//
// A read has the two witnesses of cached.cpp: the device gave less than was delivered, or the files lay in the page
// cache just before (case C9: written, synced, read back without a drop). A write has one: less reached the device by
// the time at which the last rank was done, as it is where nobody syncs.
#include <algorithm>
#include <fmt/format.h>

#include "harness/verdict/checkpoint_facts.hpp"
#include "harness/verdict/facts.hpp"
#include "harness/verdict/rules.hpp"
#include "harness/verdict/thresholds.hpp"

namespace feedbench::verdict {
namespace {

std::string words_of(const HostCheckpoint& one) {
    const CacheEvidence& cache = one.part->cache;
    const char* moved = one.is_write() ? "written" : "delivered";
    std::string words = one.where() + ": ";
    if (one.source_share())
        words += fmt::format("of {} {}, {} {} {}", MB(static_cast<double>(one.part->bytes)), moved,
                             MB(*cache.source_bytes), one.is_write() ? "had reached" : "came from", cache.source);
    else
        words += fmt::format("{} were {}", MB(static_cast<double>(one.part->bytes)), moved);
    if (cache.sampled_page_count > 0)
        words += fmt::format("; {} of {} sampled pages were in the page cache just before they were read",
                             cache.resident_page_count, cache.sampled_page_count);
    return words;
}

std::string way_out(const RunResult& r, const HostCheckpoint& one) {
    if (one.is_write())
        return one.checkpoint->fsync ? "Something below the page cache kept them back."
                                     : "Ask for checkpoint.fsync=True or checkpoint.odirect=True.";
    const std::string& drop = one.part->cache.drop_outcome;
    if (r.odirect) return "The reads were direct, so something below the page cache answered them.";
    if (!drop.empty() && drop != "not asked" && drop != "dropped")
        return "Dropping the cache was asked for and did not work (" + drop +
               "). checkpoint.odirect=True passes it by.";
    return "Ask for reader.drop_cache=fadvise or checkpoint.odirect=True, read on another host than the one that wrote "
           "(checkpoint.recovery_rank_shift), or write more than the memory of the hosts holds.";
}

} // namespace

bool in_cache(const RunResult& r, const HostCheckpoint& one) {
    if (one.part->bytes == 0) return false;
    const auto source = one.source_share(), resident = one.resident_share();
    if (source && *source < kSourceShare.value) return true;
    return !one.is_write() && !r.odirect && one.is_watched() && resident && *resident >= kResidentShare.value;
}

std::optional<Evidence> checkpoint_cached(const RunResult& r) {
    if (r.virtual_time) return std::nullopt;
    const std::vector<HostCheckpoint> all = host_checkpoints(r);
    const HostCheckpoint* worst = nullptr;
    std::size_t count = 0;
    const auto share = [](const HostCheckpoint& one) { return one.source_share().value_or(1); };
    for (const HostCheckpoint& one : all)
        if (in_cache(r, one)) {
            ++count;
            if (worst == nullptr || share(one) < share(*worst)) worst = &one;
        }
    if (worst == nullptr) return std::nullopt;
    Evidence evidence;
    evidence.words = fmt::format("The page cache of the client took the bytes or gave them, not the storage, in {} of "
                                 "{} checkpoints and hosts. Worst, {}. {}",
                                 count, all.size(), words_of(*worst), way_out(r, *worst));
    evidence.facts = {fact("cached_host_checkpoint_count", "", static_cast<double>(count)),
                      fact("host_checkpoint_count", "", static_cast<double>(all.size())),
                      fact("bytes_moved", "bytes", static_cast<double>(worst->part->bytes))};
    if (worst->source_share()) {
        evidence.facts.push_back(fact("source_bytes", "bytes", *worst->part->cache.source_bytes));
        evidence.facts.push_back(fact("source_bytes_over_moved", "", *worst->source_share()));
    }
    if (const auto resident = worst->resident_share()) evidence.facts.push_back(fact("resident_share", "", *resident));
    return evidence;
}

} // namespace feedbench::verdict
