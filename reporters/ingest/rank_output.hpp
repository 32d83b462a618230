// The files of single ranks (N_output.json): read as a stream, for they hold every step, and put together by `dlio`.
//
// Thread: any. Owner: none. Units: s, samples/s, percent. Errors: storage (cannot be read), format (not JSON).
// Source: corpus README "Metric formulas": au = 100 * sum(compute[1:]) / (T - proc[0]), throughput = n * B / T; T is
// not stored and follows from throughput. Formulas: harness/metrics/editions.hpp, `dlio`.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "harness/types/error.hpp"
#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

struct RankBlock {
    double step_count = 0, compute_s = 0, compute_s_first = 0, first_step_s = 0; // first_step_s: proc[0]
    std::optional<double> samples_per_second;                                    // as the rank says
};

struct RankOutput {
    std::map<unsigned, std::map<std::string, RankBlock>> epochs; // by number from 1, by name of the block
};

Expected<RankOutput> read_rank_output(const std::filesystem::path& path);

// Mean length of the ranks' sleeps, over all steps; nothing without steps.
std::optional<double> mean_think_time_s(std::span<const RankOutput> ranks);
// Nothing to say without steps, or where the ranks' own rates are missing.
std::optional<RankFigures> combine_ranks(std::span<const RankOutput> ranks, double batch_size);

} // namespace feedbench::ingest
