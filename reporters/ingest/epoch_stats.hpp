// per_epoch_stats.json: how long the epochs took, and the measured blocks in them, into an IngestedRun.
//
// Thread: any. Owner: none. Units: s. Errors: a broken file is a Problem that is marked as used; the epochs' times stay
// unknown. Source: reference facts: per epoch start, end, duration (a string), blockK likewise.
#pragma once

#include <filesystem>
#include <string_view>

#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::ingest {

void read_epoch_stats(const std::filesystem::path& path, IngestedRun& run, std::vector<Problem>& problems);

// Seconds since 1970 of "2024-08-17T22:55:06.210629" (or with a space), as if it were UTC; nothing for other text.
std::optional<double> seconds_of_time(std::string_view text);

} // namespace feedbench::ingest
