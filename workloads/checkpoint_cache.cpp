#include "workloads/checkpoint_cache.hpp"

#include <algorithm>

#include "harness/probes/page_cache.hpp"
#include "harness/types/units.hpp"
#include "workloads/host_limits.hpp"

namespace feedbench::workloads {

namespace {

constexpr std::size_t kSampleFilesMost = 16; // of a process
constexpr std::uint32_t kSampleWindows = 16; // of a file
constexpr const char* kVirtual = "virtual time: there is no machine to ask";

std::optional<double> growth(std::optional<std::uint64_t> start, std::optional<std::uint64_t> end) {
    if (!start || !end || *end < *start) return {}; // one that went backwards was reset
    return static_cast<double>(*end - *start);
}

} // namespace

CheckpointCache::CheckpointCache(const RunRequest& request, storage::Backend& backend)
    : request_(request), backend_(backend), is_virtual_(request.reactor->clock().is_virtual()),
      counts_host_(request.communicator->local_rank() == 0),
      dropper_(*request.reactor, backend.cache_drop(), to_ns(request.workload->reader.drop_cache_timeout_s)) {
    if (is_virtual_)
        source_.reason = kVirtual;
    else
        source_ = find_data_source(machine_, backend);
}

engine::Task<void> CheckpointCache::drop(std::vector<CheckpointPart> parts, const bool& stopping) {
    const bool whole_host = request_.workload->reader.drop_cache == "system";
    if (whole_host && !counts_host_) co_return; // the host's first process does it for all
    std::vector<std::string> paths;
    if (whole_host)
        paths.emplace_back(); // everything
    else
        for (const CheckpointPart& part : parts)
            for (const config::CheckpointFile& file : part.files) paths.push_back(part.folder + "/" + file.name);
    CacheDropper::NextPath next = [paths = std::move(paths), i = std::size_t{0}](std::string& path) mutable {
        if (i >= paths.size()) return false;
        path = paths[i++];
        return true;
    };
    dropped_ = co_await dropper_.drop(std::move(next), stopping);
}

std::optional<std::uint64_t> CheckpointCache::counter() const {
    if (is_virtual_ || !counts_host_) return {};
    return is_write_ ? probes::bytes_out_so_far(machine_, source_) : probes::bytes_so_far(machine_, source_);
}

void CheckpointCache::begin(const std::vector<CheckpointPart>& parts, bool is_write) {
    mine_ = {};
    is_write_ = is_write;
    CacheEvidence& mine = mine_.evidence;
    mine.drop_outcome = "not asked";
    if (is_write) {
        mine.residency_reason = "written, not read";
    } else {
        mine.drop_outcome = dropped_.outcome;
        mine.drop_s = dropped_.duration_s;
        if (is_virtual_)
            mine.residency_reason = kVirtual;
        else if (source_.kind == "none")
            mine.residency_reason = source_.reason;
        else if (source_.kind == "memory")
            mine.residency_reason = "memory is the storage: every page is resident";
        else if (!backend_.capabilities().page_cached)
            mine.residency_reason = "O_DIRECT passes the page cache by";
        else
            sample_residency(parts);
    }
    source_start_ = counter();
    process_start_ = is_virtual_ || is_write ? std::nullopt : probes::process_read_bytes(machine_);
}

void CheckpointCache::sample_residency(const std::vector<CheckpointPart>& parts) {
    CacheEvidence& mine = mine_.evidence;
    std::size_t sampled = 0;
    for (const CheckpointPart& part : parts)
        for (const config::CheckpointFile& file : part.files) {
            if (sampled++ == kSampleFilesMost) return;
            const probes::Residency found =
                probes::file_residency(backend_.local_path(part.folder + "/" + file.name), kSampleWindows);
            mine.sampled_page_count += found.page_count;
            mine.resident_page_count += found.resident_count;
            if (!found.method.empty()) mine.residency_method = found.method;
            if (found.page_count == 0) mine.residency_reason = found.null_reason;
        }
}

RankEvidence CheckpointCache::end(std::uint64_t bytes) {
    CacheEvidence& mine = mine_.evidence;
    mine.bytes_delivered = bytes;
    if (!is_virtual_ && !is_write_)
        mine.process_read_bytes = growth(process_start_, probes::process_read_bytes(machine_));
    mine_.counts_host = counts_host_;
    if (counts_host_) {
        mine.source_kind = source_.kind;
        mine.source = source_.name;
        mine.source_reason = source_.reason;
        mine.source_bytes = growth(source_start_, counter());
        if (!mine.source_bytes && mine.source_reason.empty())
            mine.source_reason = "the counter of " + source_.name + " could not be read, or was reset";
    }
    return mine_;
}

} // namespace feedbench::workloads
