#include "harness/config/checkpoint_sizes.hpp"

#include "harness/config/value.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace feedbench::config {

namespace {

constexpr std::uint64_t kMostRanks = 1'000'000; // each of them is looked at

std::uint64_t datatype_bytes(std::string_view type) {
    if (type == "fp64") return 8;
    if (type == "fp32") return 4;
    return type.ends_with("16") ? 2 : 1; // fp16, bf16; int8, uint8, fp8
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

// Attention width of keys and values.
std::uint64_t kv_hidden(const ModelSection& m) { return m.hidden_size / m.num_attention_heads * m.num_kv_heads; }

double parameter_count(const ModelSection& m) {
    const double h = static_cast<double>(m.hidden_size), ffn = static_cast<double>(m.ffn_hidden_size),
                 d = static_cast<double>(kv_hidden(m));
    return 2.0 * static_cast<double>(m.vocab_size) * h + h +
           static_cast<double>(m.num_layers) * (2 * h + h * (h + 2 * d) + h * h + 3 * h * ffn);
}

// The same, exact; parameter_count has shown that it fits.
std::uint64_t parameters(const ModelSection& m) {
    const std::uint64_t h = m.hidden_size, d = kv_hidden(m);
    return 2 * m.vocab_size * h + h + m.num_layers * (2 * h + h * (h + 2 * d) + h * h + 3 * h * m.ffn_hidden_size);
}

} // namespace

Expected<CheckpointSizes> CheckpointSizes::of(const Workload& workload, std::uint64_t rank_count) {
    CheckpointSizes sizes;
    const ModelSection& m = sizes.model_ = workload.model;
    sizes.rank_count_ = rank_count;
    sizes.tp_ = m.parallelism_tensor;
    sizes.pp_ = m.parallelism_pipeline;
    sizes.model_bytes_ = datatype_bytes(m.model_datatype);
    sizes.optimizer_bytes_ = datatype_bytes(m.optimizer_datatype);
    sizes.rank_zero_only_ = workload.checkpoint.type == CheckpointWriters::rank_zero;
    const std::uint64_t mp = sizes.tp_ * sizes.pp_;
    if (rank_count == 0) return config_error("0 ranks write no checkpoint; expected at least 1");
    if (rank_count > kMostRanks)
        return config_error(
            fmt::format("{} ranks are more than the {} that a checkpoint may have here", rank_count, kMostRanks));
    if (workload.checkpoint.mode == "subset" && m.parallelism_data > 0) {
        sizes.dp_ = static_cast<std::uint64_t>(m.parallelism_data);
        if (rank_count > sizes.dp_ * mp)
            return config_error(
                fmt::format("{} ranks are more than the whole job's {} (tensor {} x pipeline {} x data {})", rank_count,
                            sizes.dp_ * mp, sizes.tp_, sizes.pp_, sizes.dp_));
    } else {
        if (rank_count % mp != 0)
            return config_error(
                fmt::format("{} ranks are not a multiple of model.parallelism tensor {} x pipeline {} = {}", rank_count,
                            sizes.tp_, sizes.pp_, mp));
        sizes.dp_ = rank_count / mp;
    }
    // 2^58 values of 8 bytes, three times, would leave 64 bits.
    if (parameter_count(m) > 0x1p58 / 3)
        return config_error("model.transformer makes a model of more than 2^56 values");
    if (sizes.rank(0).total() == 0) // rank 0 writes whatever the parallelism
        return config_error(m.scale < 1 ? fmt::format("model.scale {:g} leaves no byte of the checkpoint", m.scale)
                                        : "model.model_size_bytes is 0: there is no checkpoint to write");
    return sizes;
}

CheckpointSizes::Layers CheckpointSizes::stage(std::uint64_t pp) const {
    const std::uint64_t each = model_.num_layers / pp_, more = model_.num_layers % pp_;
    const std::uint64_t before = pp * each + std::min(pp, more), count = each + (pp < more ? 1 : 0);
    return {.first = pp == 0 ? 0 : before + 1, .last = pp + 1 == pp_ ? model_.num_layers + 2 : before + count};
}

std::uint64_t CheckpointSizes::layer_bytes(std::uint64_t layer) const {
    const std::uint64_t h = model_.hidden_size, ffn = model_.ffn_hidden_size, d = kv_hidden(model_),
                        L = model_.num_layers;
    const std::uint64_t share = model_.zero_stage == 3 ? dp_ : 1;
    std::vector<std::uint64_t> tensors;
    if (!model_.layer_parameters.empty()) {
        for (const auto values : model_.layer_parameters) tensors.push_back(values / tp_);
    } else if (layer == 0 || layer == L + 1) {
        tensors = {h * model_.vocab_size / tp_ / share};
    } else if (layer == L + 2) {
        tensors = {h / share};
    } else {
        tensors = {h, h * (h + 2 * d) / tp_, h * h / tp_, h, h * 2 * ffn / tp_, h * ffn / tp_};
        for (auto& values : tensors) values /= share;
    }
    return scaled(sum(tensors) * model_bytes_);
}

std::uint64_t CheckpointSizes::optimizer_bytes(std::uint64_t rank_index) const {
    if (!model_.optimization_groups.empty()) // two tensors a group, and all of them combined
        return scaled(3 * sum(model_.optimization_groups) * optimizer_bytes_);
    if (model_.num_layers == 0) return 0;
    const std::uint64_t mp = tp_ * pp_;
    if (model_.zero_stage == 0 && rank_index >= mp) return 0;
    const std::uint64_t shared = parameters(model_) / (model_.zero_stage == 0 ? mp : dp_ * mp);
    return scaled(3 * (shared + 5 * model_.hidden_size) * optimizer_bytes_);
}

bool CheckpointSizes::writes_layers(std::uint64_t rank_index) const {
    if (model_.num_layers == 0) return false;
    return model_.zero_stage == 3 || rank_index / (tp_ * pp_) == 0;
}

std::uint64_t CheckpointSizes::scaled(std::uint64_t bytes) const {
    return model_.scale == 1.0 ? bytes
                               : static_cast<std::uint64_t>(std::floor(static_cast<double>(bytes) * model_.scale));
}

RankBytes CheckpointSizes::rank(std::uint64_t rank_index) const {
    RankBytes bytes{.model = 0, .optimizer = optimizer_bytes(rank_index)};
    if (writes_layers(rank_index)) {
        const auto [first, last] = stage(rank_index / tp_ % pp_);
        for (std::uint64_t layer = first; layer <= last; ++layer) bytes.model += layer_bytes(layer);
    } else if (model_.num_layers == 0 && (rank_index == 0 || !rank_zero_only_)) {
        bytes.model = scaled(model_.model_size_bytes);
    }
    return bytes;
}

RankBytes CheckpointSizes::total() const {
    RankBytes all;
    for (std::uint64_t r = 0; r < rank_count_; ++r) {
        const RankBytes bytes = rank(r);
        all.model += bytes.model;
        all.optimizer += bytes.optimizer;
    }
    return all;
}

std::vector<CheckpointFile> CheckpointSizes::files(std::uint64_t rank_index) const {
    std::vector<CheckpointFile> files;
    const std::uint64_t mp = rank_index % (tp_ * pp_), dp = rank_index / (tp_ * pp_);
    const RankBytes bytes = rank(rank_index);
    if (model_.num_layers == 0) {
        if (bytes.model > 0) files.push_back({fmt::format("model_states-{}.pt", rank_index), bytes.model});
    } else if (writes_layers(rank_index)) {
        if (model_.zero_stage == 3) {
            files.push_back({fmt::format("zero_pp_rank_{}_mp_rank_{}_model_states.pt", dp, mp), bytes.model});
        } else if (pp_ == 1) {
            files.push_back({fmt::format("model_{}_model_states.pt", mp), bytes.model});
        } else {
            const auto [first, last] = stage(rank_index / tp_ % pp_);
            for (std::uint64_t layer = first; layer <= last; ++layer)
                files.push_back({fmt::format("layer_{}-model_{}_model_states.pt", layer, mp), layer_bytes(layer)});
        }
    }
    if (bytes.optimizer > 0)
        files.push_back({fmt::format("zero_pp_rank_{}_mp_rank_{}_optim_states.pt", dp, mp), bytes.optimizer});
    return files;
}

std::string checkpoint_folder_name(std::uint64_t epoch, std::uint64_t step) {
    return fmt::format("global_epoch{}_step{}", epoch, step);
}

std::optional<std::uint64_t> closed_rank_count(std::string_view model_name) {
    std::string name;
    for (const char c : model_name)
        name += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    struct Row {
        std::string_view size;
        std::uint64_t ranks;
    };
    for (const auto& [size, ranks] : {Row{"8b", 8}, Row{"70b", 64}, Row{"405b", 512}, Row{"1t", 1024}})
        if (name == "llama3_" + std::string(size) || name == "llama_" + std::string(size)) return ranks;
    return std::nullopt;
}

Status check_closed_ranks(const Workload& workload, std::uint64_t rank_count) {
    const auto expected = closed_rank_count(workload.model.name);
    if (!expected)
        return config_error(workload.model.name +
                            " is not a checkpoint workload of the rules; CLOSED has llama3 8b, 70b, 405b and 1t");
    if (workload.checkpoint.mode == "subset") {
        if (*expected != 8)
            return config_error(workload.model.name + " in subset mode; CLOSED allows that for 8b only");
    }
    if (rank_count != *expected)
        return config_error(
            fmt::format("{} ranks; CLOSED asks for {} with {}", rank_count, *expected, workload.model.name));
    return {};
}

} // namespace feedbench::config
