// How large a checkpoint is: per rank, per file and in all, as the reference tool writes it.
//
// Thread: any (pure functions). Owner: the caller. Units: bytes.
// Errors: rank counts that the parallelism does not divide, CLOSED rank counts, sizes beyond 64 bits.
// Source: checkpoint rules of editions 2.0 and 3.0. With TP, PP, DP = tensor, pipeline, data parallelism, all divisions
// truncating:
//   rank r     tp = r mod TP, pp = (r / TP) mod PP, dp = r / (TP*PP), mp = r mod (TP*PP); d = hidden / heads * kv_heads
//   layers     0 and L+1: hidden*vocab/TP; L+2: hidden; 1..L: hidden, hidden*(hidden+2d)/TP, hidden*hidden/TP, hidden,
//              hidden*2*ffn/TP, hidden*ffn/TP; under ZeRO 3 each divided by DP; in values of model_datatype
//   stage pp   L/PP layers, the first L mod PP stages one more; the first stage also layer 0, the last also L+1 and L+2
//   model      below ZeRO 3 only the ranks of dp 0 write layers; under ZeRO 3 every rank writes its part of each
//   optimizer  3 x (P / (DP*TP*PP) + 5*hidden) values of optimizer_datatype, every rank; under ZeRO 0 3 x (P / (TP*PP)
//   +
//              5*hidden), ranks below TP*PP only; P = 2*vocab*hidden + hidden + L*(2*hidden + hidden*(hidden+2d) +
//              hidden^2 + 3*hidden*ffn)
// Worked examples (also tests): llama3 8b on 8 ranks 104.7045 GiB = 14.9575 model + 89.7470 optimizer; 405b on 512
// ranks 5292.2487 GiB = 756.0149 + 4536.2338.
#pragma once

#include "harness/types/error.hpp"
#include "harness/types/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedbench::config {

struct CheckpointFile {
    std::string name; // inside the checkpoint's folder: "zero_pp_rank_0_mp_rank_0_optim_states.pt"
    std::uint64_t bytes = 0;
};

struct RankBytes {
    std::uint64_t model = 0, optimizer = 0;
    std::uint64_t total() const { return model + optimizer; }
};

class CheckpointSizes {
  public:
    // `rank_count` ranks take part. In checkpoint.mode default they are the whole job and DP follows from their number;
    // in subset they are its first ones, and totals are what these write.
    static Expected<CheckpointSizes> of(const Workload& workload, std::uint64_t rank_count);

    std::uint64_t rank_count() const { return rank_count_; }
    std::uint64_t tensor_parallelism() const { return tp_; }
    std::uint64_t pipeline_parallelism() const { return pp_; }
    std::uint64_t data_parallelism() const { return dp_; }
    RankBytes rank(std::uint64_t rank_index) const;
    RankBytes total() const; // over all ranks that take part
    std::vector<CheckpointFile> files(std::uint64_t rank_index) const;

  private:
    struct Layers {
        std::uint64_t first, last;
    };
    Layers stage(std::uint64_t pp) const;
    std::uint64_t layer_bytes(std::uint64_t layer) const;
    std::uint64_t optimizer_bytes(std::uint64_t rank_index) const;
    bool writes_layers(std::uint64_t rank_index) const;
    std::uint64_t scaled(std::uint64_t bytes) const;

    ModelSection model_;
    bool rank_zero_only_ = false; // a model without layers, written by rank 0
    std::uint64_t rank_count_ = 0, tp_ = 1, pp_ = 1, dp_ = 1, model_bytes_ = 2, optimizer_bytes_ = 4;
};

// "global_epoch<E>_step<S>", the folder of a checkpoint.
std::string checkpoint_folder_name(std::uint64_t epoch, std::uint64_t step);
// Ranks of a CLOSED submission: 8b 8, 70b 64, 405b 512, 1t 1024; nothing for other models. Takes llama3_8b, llama_8b,
// llama3-8b.
std::optional<std::uint64_t> closed_rank_count(std::string_view model_name);
// Refuses what a CLOSED submission may not be: the rank count, and in subset mode anything but 8b on 8 ranks.
Status check_closed_ranks(const Workload& workload, std::uint64_t rank_count);

} // namespace feedbench::config
