#include "workloads/cache_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/probes/page_cache.hpp"
#include "harness/types/units.hpp"
#include "workloads/host_limits.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::uint64_t kSampleFilesMost = 64; // of a host
constexpr std::uint32_t kSampleWindows = 16;   // of a file
constexpr std::uint64_t kSampleNsMost = 200 * kNsPerMs;
constexpr const char* kVirtual = "virtual time: there is no machine to ask";

const cluster::HostLayout& host_of(const cluster::Communicator& communicator) {
    return communicator.hosts()[static_cast<std::size_t>(communicator.host_index())];
}

// Why pages of this storage are not worth asking about.
std::string why_no_residency(const probes::DataSource& source, const storage::Capabilities& capabilities) {
    if (source.kind == "none") return source.reason;
    if (source.kind == "memory") return "memory is the storage: every page is resident";
    if (!capabilities.page_cached) return "O_DIRECT passes the page cache by";
    return {};
}

// A counter that went backwards was reset: it says nothing.
std::optional<double> growth(std::optional<std::uint64_t> start, std::optional<std::uint64_t> end) {
    if (!start || !end || *end < *start) return {};
    return static_cast<double>(*end - *start);
}

} // namespace

CacheWatch::CacheWatch(const RunRequest& request, const TrainingPlan& plan, storage::Backend& backend,
                       const loader::LoaderCounters& counters)
    : request_(request), plan_(plan), backend_(backend), counters_(counters),
      is_virtual_(request.reactor->clock().is_virtual()), counts_host_(request.communicator->local_rank() == 0),
      dropper_(*request.reactor, backend.cache_drop(),
               static_cast<std::uint64_t>(request.workload->reader.drop_cache_timeout_s * 1e9)) {
    if (is_virtual_)
        source_.reason = kVirtual;
    else
        source_ = find_data_source(machine_, backend);
    no_residency_ = is_virtual_ ? kVirtual : why_no_residency(source_, backend.capabilities());
}

void CacheWatch::begin(const Epoch& epoch) {
    mine_ = {};
    mine_.evidence.drop_outcome = dropped_.outcome;
    mine_.evidence.drop_s = dropped_.duration_s;
    if (no_residency_.empty())
        sample_residency(epoch);
    else
        mine_.evidence.residency_reason = no_residency_;
    delivered_start_ = counters_.bytes;
    read_counters(source_start_, process_start_);
}

engine::Task<void> CacheWatch::drop(const SetPlan& set, const bool& stopping) {
    const std::string& how = request_.workload->reader.drop_cache;
    if (how == "system" && !counts_host_) co_return; // the host's first rank does it for all
    CacheDropper::NextPath next;
    if (how == "system")
        next = [left = 1](std::string& path) mutable {
            path.clear();
            return left-- > 0;
        };
    else // each rank of a host asks for its part of the files; every host has a cache of its own
        next = [files = set.files.get(), end = set.used_file_count, step = host_of(*request_.communicator).ranks.size(),
                i = static_cast<std::uint64_t>(request_.communicator->local_rank())](std::string& path) mutable {
            if (i >= end) return false;
            files->name(i, path);
            i += step;
            return true;
        };
    dropped_ = co_await dropper_.drop(std::move(next), stopping);
}

// The files of this rank's accelerators, first those that are read first, then evenly over the epoch.
void CacheWatch::sample_residency(const Epoch& epoch) {
    const std::uint64_t ranks = host_of(*request_.communicator).ranks.size();
    const std::uint64_t local = static_cast<std::uint64_t>(request_.communicator->local_rank());
    const std::uint64_t files = kSampleFilesMost / ranks + (local < kSampleFilesMost % ranks ? 1 : 0);
    const std::uint64_t start_ns = request_.reactor->now_ns();
    std::set<std::uint64_t> seen;
    CacheEvidence& mine = mine_.evidence;
    std::string name;
    for (std::uint64_t i = 0; i < files && request_.reactor->now_ns() - start_ns < kSampleNsMost; ++i) {
        const auto accelerator = plan_.placement.first + static_cast<std::uint32_t>(i % plan_.placement.count);
        const std::uint64_t step = i * epoch.step_count / files;
        const auto position = static_cast<std::uint32_t>(i % epoch.plan->batch_size());
        const std::uint64_t file = epoch.plan->sample(accelerator, step, position).file_index;
        if (!seen.insert(file).second) continue;
        epoch.set->files->name(file, name);
        const probes::Residency found = probes::file_residency(backend_.local_path(name), kSampleWindows);
        mine.sampled_page_count += found.page_count;
        mine.resident_page_count += found.resident_count;
        if (!found.method.empty()) mine.residency_method = found.method;
        if (found.page_count == 0) mine.residency_reason = found.null_reason;
    }
}

void CacheWatch::read_counters(std::optional<std::uint64_t>& source, std::optional<std::uint64_t>& process) const {
    if (is_virtual_) return;
    source = counts_host_ ? probes::bytes_so_far(machine_, source_) : std::nullopt;
    process = probes::process_read_bytes(machine_);
}

std::vector<CacheEvidence> CacheWatch::end() {
    std::optional<std::uint64_t> source_end, process_end;
    read_counters(source_end, process_end);
    CacheEvidence& mine = mine_.evidence;
    mine.bytes_delivered = counters_.bytes - delivered_start_;
    mine.process_read_bytes = growth(process_start_, process_end);
    mine_.counts_host = counts_host_;
    if (counts_host_) {
        mine.source_kind = source_.kind;
        mine.source = source_.name;
        mine.source_reason = source_.reason;
        mine.source_bytes = growth(source_start_, source_end);
        if (!mine.source_bytes && mine.source_reason.empty())
            mine.source_reason = "the counter of " + source_.name + " could not be read, or was reset";
    }
    cluster::Communicator& communicator = *request_.communicator;
    const std::vector<std::string> all = communicator.gather(mine_.to_bytes());
    std::vector<CacheEvidence> hosts;
    if (communicator.rank() != 0) return hosts;
    for (const cluster::HostLayout& host : communicator.hosts()) {
        std::vector<RankEvidence> ranks;
        for (const int rank : host.ranks)
            ranks.push_back(RankEvidence::from_bytes(all[static_cast<std::size_t>(rank)]));
        hosts.push_back(merge_evidence(ranks));
    }
    return hosts;
}

std::optional<Finding> drop_warning(const CacheEvidence& evidence, const std::string& host, std::uint32_t first_epoch,
                                    std::uint32_t last_epoch) {
    const std::string& outcome = evidence.drop_outcome;
    if (outcome == "not asked" || outcome == "dropped") return {};
    const std::string when = first_epoch == last_epoch
                                 ? fmt::format("epoch {}", first_epoch + 1)
                                 : fmt::format("epochs {} to {}", first_epoch + 1, last_epoch + 1);
    return Finding{"drop_cache", "warning",
                   fmt::format("{}: the page cache of host {} was not dropped: {}{}", when, host,
                               outcome == "not offered" ? "not offered by this storage" : outcome,
                               outcome == "timeout"
                                   ? fmt::format(" after {:.3g} s (reader.drop_cache_timeout)", evidence.drop_s)
                                   : "")};
}

void DropWarnings::add(const CacheEvidence& evidence, const std::string& host, std::uint32_t epoch_index,
                       std::vector<Finding>& findings) {
    const bool goes_on = evidence.drop_outcome == outcome_ && epoch_index <= last_ + 1;
    if (!goes_on) first_ = epoch_index;
    last_ = epoch_index;
    auto warning = drop_warning(evidence, host, first_, last_);
    outcome_ = warning ? evidence.drop_outcome : std::string();
    if (!warning) return;
    if (goes_on) {
        findings[place_] = std::move(*warning);
    } else {
        place_ = findings.size();
        findings.push_back(std::move(*warning));
    }
}

} // namespace feedbench::workloads
