#include "workloads/checkpoint_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/config/checkpoint_table.hpp"
#include "harness/types/units.hpp"

namespace feedbench::workloads {

namespace {

// Which host carries which rank: ranks are numbered process by process.
std::vector<std::uint32_t> hosts_of_ranks(std::uint32_t total, const cluster::Communicator& communicator) {
    std::vector<std::uint32_t> host_of_process(static_cast<std::size_t>(communicator.size())), processes;
    for (std::uint32_t h = 0; h < communicator.hosts().size(); ++h)
        for (const int process : communicator.hosts()[h].ranks) host_of_process[static_cast<std::size_t>(process)] = h;
    const auto per_host = total / static_cast<std::uint32_t>(communicator.hosts().size());
    std::vector<std::uint32_t> hosts;
    for (const std::uint32_t host : host_of_process) {
        const auto of_process = per_host / static_cast<std::uint32_t>(communicator.hosts()[host].ranks.size());
        hosts.insert(hosts.end(), of_process, host);
    }
    return hosts;
}

// Shifted by one host: the n-th rank of a host reads what the n-th rank of the next one wrote, the last host's from the
// first. With one host that is what it wrote itself.
std::vector<std::uint32_t> sources(const std::vector<std::uint32_t>& host_of_rank, std::size_t host_count, bool shift) {
    std::vector<std::uint32_t> source(host_of_rank.size());
    std::vector<std::vector<std::uint32_t>> of_host(host_count);
    for (std::uint32_t r = 0; r < host_of_rank.size(); ++r) of_host[host_of_rank[r]].push_back(r);
    std::vector<std::size_t> seen(host_count, 0);
    for (std::uint32_t r = 0; r < source.size(); ++r) {
        const std::uint32_t host = host_of_rank[r];
        source[r] = shift ? of_host[(host + 1) % host_count][seen[host]++] : r;
    }
    return source;
}

Status check_counts(const Workload& workload, const CheckpointPlan& plan) {
    const CheckpointSection& c = workload.checkpoint;
    if (plan.write_count == 0 && plan.read_count == 0)
        return config_error("0 checkpoints are to be written and 0 read: set checkpoint.num_checkpoints_write, "
                            "checkpoint.num_checkpoints_read, or both",
                            workload.source);
    if (plan.write_count > 0 && plan.read_count > plan.write_count)
        return config_error(
            fmt::format("{} checkpoints are to be read, {} are written", plan.read_count, plan.write_count),
            "checkpoint.num_checkpoints_read");
    if (plan.write_count > 0 && c.keep_last > 0 && plan.read_count > c.keep_last)
        return config_error(
            fmt::format("the last {} checkpoints are kept, {} are to be read", c.keep_last, plan.read_count),
            "checkpoint.keep_last");
    if (c.odirect && c.transfer_size % 4096 != 0)
        return config_error(fmt::format("{} bytes are not a multiple of 4096, as O_DIRECT needs them", c.transfer_size),
                            "checkpoint.transfer_size");
    return {};
}

Status check_readable(const CheckpointPlan& plan, const Workload& workload, const dataset::CheckpointEntry& entry,
                      const std::string& place) {
    const auto refused = [&](std::string why) { return config_error(std::move(why), place + "/" + entry.folder); };
    if (entry.rank_count != plan.placement.total)
        return refused(fmt::format("the checkpoint was written by {} ranks, {} are to read it: start as many",
                                   entry.rank_count, plan.placement.total));
    if (entry.bytes != plan.bytes || entry.file_count != plan.file_count)
        return refused(fmt::format("the checkpoint of {} has {} bytes in {} files, that of this workload ({}) {} in "
                                   "{}: read it with the model and the scale that it was written with",
                                   entry.model, entry.bytes, entry.file_count, workload.model.name, plan.bytes,
                                   plan.file_count));
    if (plan.settings.verifies && entry.content_version != generators::kContentVersion)
        return refused(fmt::format("the content is of version {}, this feedbench knows version {}: "
                                   "set reader.verify=off",
                                   entry.content_version, generators::kContentVersion));
    return {};
}

std::uint32_t count_of(std::int64_t asked) { return asked > 0 ? static_cast<std::uint32_t>(asked) : 0; }

} // namespace

std::string CheckpointPlan::folder_of(std::uint32_t checkpoint_index) {
    return config::checkpoint_folder_name(std::uint64_t{checkpoint_index} + 1, 0);
}

std::uint64_t CheckpointPlan::checkpoints_at_once(const Workload& workload) const {
    const std::uint64_t keep = workload.checkpoint.keep_last;
    return keep > 0 ? std::min<std::uint64_t>(write_count, keep + 1) : write_count;
}

CheckpointPart CheckpointPlan::part(std::uint32_t rank, const dataset::CheckpointEntry& entry) const {
    return {rank, entry.folder, sizes.files(rank), entry.content_seed};
}

Expected<CheckpointPlan> make_checkpoint_plan(const RunRequest& request) {
    const Workload& workload = *request.workload;
    CheckpointPlan plan;
    auto placement = place_accelerators(request.accelerator_count, *request.communicator);
    if (!placement) return placement.error();
    plan.placement = *placement;
    auto sizes = config::CheckpointSizes::of(workload, request.accelerator_count);
    if (!sizes) return sizes.error();
    if (auto status = config::check_accelerator_memory(workload, *sizes); !status) return status.error();
    plan.sizes = std::move(*sizes);
    plan.write_count = count_of(workload.checkpoint.num_checkpoints_write);
    plan.read_count = count_of(workload.checkpoint.num_checkpoints_read);
    if (auto status = check_counts(workload, plan); !status) return status.error();
    for (std::uint32_t r = 0; r < plan.placement.total; ++r)
        for (const config::CheckpointFile& file : plan.sizes.files(r)) {
            plan.bytes += file.bytes;
            ++plan.file_count;
        }
    if (plan.bytes == 0)
        return config_error("the model makes checkpoints of 0 bytes: set model.num_layers and model.transformer, or "
                            "model.model_size_bytes",
                            workload.source);
    plan.host_of_rank = hosts_of_ranks(plan.placement.total, *request.communicator);
    plan.source_of_rank =
        sources(plan.host_of_rank, request.communicator->hosts().size(), workload.checkpoint.recovery_rank_shift);
    const bool is_virtual = request.reactor->clock().is_virtual();
    plan.settings = CheckpointStream::settings_of(workload);
    plan.settings.makes_content = !is_virtual;
    plan.buffers = CheckpointStream::buffers_for(plan.settings, plan.placement.count, is_virtual);
    return plan;
}

std::uint64_t memory_bound_bytes(const CheckpointPlan& plan) {
    constexpr std::uint64_t kFixed = 64 * kMiB; // code, MPI's shared segments, histograms, ring
    const std::uint64_t frames = std::uint64_t{plan.placement.count} * plan.settings.queue_depth * kKiB;
    return kFixed + plan.buffers.total_bytes() + frames;
}

Expected<dataset::CheckpointIndex> choose_readable(const CheckpointPlan& plan, const Workload& workload,
                                                   dataset::CheckpointIndex index, const std::string& place) {
    std::vector<dataset::CheckpointEntry>& all = index.committed;
    if (all.size() < plan.read_count)
        return config_error(fmt::format("{} checkpoints are to be read, and {} committed: write them first, or set "
                                        "checkpoint.num_checkpoints_read",
                                        plan.read_count, all.empty() ? "none is" : fmt::format("{} are", all.size())),
                            place);
    all.erase(all.begin(), all.end() - plan.read_count);
    for (const dataset::CheckpointEntry& entry : all)
        if (auto fits = check_readable(plan, workload, entry, place); !fits) return fits.error();
    return index;
}

} // namespace feedbench::workloads
