#include "harness/config/checkpoint_table.hpp"

#include "harness/types/units.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace feedbench::config {

std::vector<RankClass> rank_classes(const CheckpointSizes& sizes) {
    std::vector<RankClass> classes;
    for (std::uint64_t rank = 0; rank < sizes.rank_count(); ++rank) {
        const RankBytes bytes = sizes.rank(rank);
        const std::vector<CheckpointFile> files = sizes.files(rank);
        const bool layers = !files.empty() && files.front().name.starts_with("layer_");
        auto known = std::find_if(classes.begin(), classes.end(), [&](const RankClass& one) {
            return one.bytes.model == bytes.model && one.bytes.optimizer == bytes.optimizer &&
                   one.file_count == files.size();
        });
        if (known == classes.end()) known = classes.insert(classes.end(), {{}, 0, files.size(), bytes, layers});
        ++known->rank_count;
        if (!known->ranges.empty() && known->ranges.back().second + 1 == rank)
            known->ranges.back().second = rank;
        else
            known->ranges.emplace_back(rank, rank);
    }
    return classes;
}

std::string ranges_text(const RankClass& one, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < one.ranges.size(); ++i) {
        if (i == most) return text + ", ...";
        const auto [first, last] = one.ranges[i];
        text += (i ? ", " : "") + (first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
    }
    return text;
}

Expected<HostShare> host_share(const CheckpointSizes& sizes, std::uint64_t host_count) {
    if (host_count == 0 || sizes.rank_count() % host_count != 0)
        return config_error(fmt::format("{} ranks do not lie evenly on {} hosts; the rules ask for the same number on "
                                        "every host",
                                        sizes.rank_count(), host_count));
    HostShare share{
        .host_count = host_count, .ranks_per_host = sizes.rank_count() / host_count, .bytes_least = ~std::uint64_t{0}};
    for (std::uint64_t host = 0, rank = 0; host < host_count; ++host) {
        std::uint64_t bytes = 0;
        for (std::uint64_t i = 0; i < share.ranks_per_host; ++i) bytes += sizes.rank(rank++).total();
        share.bytes_least = std::min(share.bytes_least, bytes);
        share.bytes_most = std::max(share.bytes_most, bytes);
    }
    return share;
}

std::uint64_t accelerator_state_bytes(const CheckpointSizes& sizes) {
    // The first data-parallel copy writes all that any copy holds.
    const std::uint64_t copy = sizes.tensor_parallelism() * sizes.pipeline_parallelism();
    std::uint64_t most = 0;
    for (std::uint64_t rank = 0; rank < std::min(copy, sizes.rank_count()); ++rank)
        most = std::max(most, sizes.rank(rank).total());
    return most;
}

std::optional<std::uint64_t> accelerator_memory_bytes(std::string_view accelerator) {
    struct Row {
        std::string_view name;
        std::uint64_t GiB;
    };
    // The largest that is sold under the name.
    for (const auto& [name, GiB] :
         {Row{"a100", 80}, Row{"h100", 80}, Row{"b200", 192}, Row{"v100", 32}, Row{"mi355", 288}})
        if (name == accelerator) return GiB * kGiB;
    return std::nullopt;
}

Status check_accelerator_memory(const Workload& workload, const CheckpointSizes& sizes) {
    const auto memory = accelerator_memory_bytes(workload.accelerator);
    const std::uint64_t needed = accelerator_state_bytes(sizes);
    if (!memory || needed <= *memory) return {};
    return config_error(
        fmt::format("a rank would save {:.1f} GiB, but an accelerator of type {} holds {:.0f} GiB: {} ranks (tensor {} "
                    "x pipeline {} x data {}) are too few for this model",
                    to_GiB(static_cast<double>(needed)), workload.accelerator, to_GiB(static_cast<double>(*memory)),
                    sizes.rank_count(), sizes.tensor_parallelism(), sizes.pipeline_parallelism(),
                    sizes.data_parallelism()),
        workload.source);
}

std::vector<ClosedDemand> closed_demands(const Workload& workload, std::uint64_t rank_count) {
    const auto ranks = closed_rank_count(workload.model.name);
    if (!ranks) return {};
    const CheckpointSection& c = workload.checkpoint;
    const auto times = [](std::int64_t count) { return count < 0 ? std::string("not said") : std::to_string(count); };
    // Writes and reads may be two invocations: each then has 10 of one kind and none of the other.
    const bool whole = c.num_checkpoints_write == 10 && c.num_checkpoints_read == 10;
    const bool write_only = c.num_checkpoints_write == 10 && c.num_checkpoints_read <= 0;
    const bool read_only = c.num_checkpoints_write <= 0 && c.num_checkpoints_read == 10;
    return {
        {"ranks", std::to_string(*ranks), std::to_string(rank_count), rank_count == *ranks},
        {"checkpoint.mode", *ranks == 8 ? "default, or subset on one host" : "default", c.mode,
         c.mode == "default" || *ranks == 8},
        {"checkpoints", "10 written, 10 read (in one invocation or two)",
         times(c.num_checkpoints_write) + " written, " + times(c.num_checkpoints_read) + " read",
         whole || write_only || read_only},
        {"checkpoint.fsync", "true", c.fsync ? "true" : "false", c.fsync},
        {"model.scale", "1", fmt::format("{:g}", workload.model.scale), workload.model.scale == 1.0},
    };
}

} // namespace feedbench::config
