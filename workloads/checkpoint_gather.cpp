// What leaves a process after each checkpoint: what its ranks did, what it cost, where the bytes went; at rank 0 one
// CheckpointResult. Outside of what is measured.
//
// Source: rules of editions 2.0 and 3.0: a checkpoint takes as long as its slowest rank. Each rank's times are taken on
// its own clock, from the moment at which the barrier before the checkpoint let it go.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/metrics/checkpoint_metrics.hpp"
#include "harness/types/units.hpp"
#include "workloads/checkpoint_run.hpp"
#include "workloads/message.hpp"

namespace feedbench::workloads {

namespace {

struct Head { // plain memory: both ends are the same binary
    std::uint64_t start_ns = 0, visible_ns = 0;
    double process_cpu_s = 0, host_cpu_s = 0;
};

template <class T>
std::string bytes_of(const T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const char*>(items), count * sizeof(T)};
}
template <class T>
std::vector<T> items_of(const std::string& bytes) {
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!items.empty()) std::memcpy(items.data(), bytes.data(), bytes.size());
    return items;
}

double since(std::uint64_t start_ns, std::uint64_t ns) { return ns > start_ns ? seconds(ns - start_ns) : 0; }

CheckpointRankResult rank_result(const PartReport& part, const Head& head, std::string host, std::uint32_t rank) {
    CheckpointRankResult result;
    result.rank = rank;
    result.host = std::move(host);
    result.bytes = part.bytes;
    result.file_count = part.file_count;
    result.duration_s = since(part.start_ns, part.end_ns);
    result.first_byte_s = since(head.start_ns, part.first_byte_ns);
    result.transfer_s = seconds(part.transfer_ns);
    result.fsync_s = seconds(part.fsync_ns);
    result.commit_s = seconds(part.commit_ns);
    result.content_s = seconds(part.content_ns);
    return result;
}

void merge_part(CheckpointResult& result, const PartReport& part, const CheckpointRankResult& rank, const Head& head) {
    result.bytes += part.bytes;
    result.file_count += part.file_count;
    result.fsync_asked_count += part.fsync_asked;
    result.fsync_done_count += part.fsync_done;
    result.duration_s = std::max(result.duration_s, since(head.start_ns, part.end_ns));
    result.fsync_s = std::max(result.fsync_s, rank.fsync_s);
    result.first_byte_s = std::max(result.first_byte_s, rank.first_byte_s);
    result.data_s = std::max(result.data_s, since(head.start_ns, part.data_ns));
    result.synced_s = std::max(result.synced_s, since(head.start_ns, part.synced_ns));
    result.visible_s = std::max(result.visible_s, since(head.start_ns, head.visible_ns));
}

} // namespace

void CheckpointRun::gather(const dataset::CheckpointEntry& entry, bool is_write, std::uint32_t number, Moved& moved) {
    cluster::Communicator& communicator = *request_.communicator;
    const bool is_virtual = request_.reactor->clock().is_virtual();
    Head head{moved.start_ns, moved.visible_ns};
    if (!is_virtual) { // there is no machine then
        const probes::CpuMark now = probes::cpu_mark({});
        head.process_cpu_s = now.process_s - moved.cpu.process_s;
        if (communicator.local_rank() == 0 && now.host_s && moved.cpu.host_s)
            head.host_cpu_s = *now.host_s - *moved.cpu.host_s;
    }
    const std::vector<std::string> all = communicator.gather(pack_strings(
        {bytes_of(&head, 1), bytes_of(moved.parts.data(), moved.parts.size()), moved.tally.piece_latency.serialise(),
         moved.tally.fsync_latency.serialise(), cache_.end(moved.tally.bytes).to_bytes()}));
    if (!is_first()) return;

    CheckpointResult result;
    result.kind = is_write ? "write" : "read";
    result.epoch_index = number;
    result.folder = entry.folder;
    result.fsync = is_write && workload_.checkpoint.fsync;
    result.start_s = since(start_ns_, moved.start_ns);
    result.committed = true;
    result.content_verified = !is_write && plan_.settings.verifies && backend_.capabilities().has_content;
    Histogram pieces, fsyncs;
    std::uint32_t rank = 0; // processes are in the order of their ranks
    std::vector<std::vector<RankEvidence>> evidence(communicator.hosts().size());
    for (const cluster::HostLayout& host : communicator.hosts()) result.hosts.push_back({host.name, 0, 0, 0, {}});
    for (const std::string& message : all) {
        const std::vector<std::string> fields = unpack_strings(message);
        const Head of_process = items_of<Head>(fields[0]).front();
        const std::uint32_t host = plan_.host_of_rank[rank];
        for (const PartReport& part : items_of<PartReport>(fields[1])) {
            result.ranks.push_back(rank_result(part, of_process, result.hosts[host].host, rank++));
            merge_part(result, part, result.ranks.back(), of_process);
            result.hosts[host].bytes += part.bytes;
        }
        result.hosts[host].process_cpu_s += of_process.process_cpu_s;
        result.hosts[host].host_cpu_s += of_process.host_cpu_s;
        pieces.merge(Histogram::parse(fields[2]));
        fsyncs.merge(Histogram::parse(fields[3]));
        evidence[host].push_back(RankEvidence::from_bytes(fields[4]));
    }
    for (std::size_t h = 0; h < evidence.size(); ++h) result.hosts[h].cache = merge_evidence(evidence[h]);
    result.histograms = {pieces.data("piece_latency"), fsyncs.data("fsync_latency")};
    result.metrics = metrics::checkpoint_rows(result);
    (is_write ? written_ : read_).merge(pieces);
    synced_.merge(fsyncs);
    warn(result, number);
    results_.push_back(std::move(result));
}

void CheckpointRun::warn(const CheckpointResult& result, std::uint32_t number) {
    if (result.kind != "read") return;
    for (const CheckpointHostResult& host : result.hosts)
        if (auto warning = drop_warning(host.cache, host.host, number, number)) {
            const std::size_t colon = warning->evidence.find(':');
            warning->evidence = "checkpoint " + result.folder + warning->evidence.substr(colon);
            findings_.push_back(std::move(*warning));
        }
}

} // namespace feedbench::workloads
