// A result.json without the arrays that a comparison never looks at: reading hundreds of results stays a matter of
// seconds.
//
// Thread: any (pure functions). Owner: none. Units: bytes. Errors: storage and format, as reporters::read_result gives
// them. Source: reporters/schema/result.schema.json: slices, histograms, configuration and figures of single
// hosts and blocks are most of a file.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "harness/types/error.hpp"
#include "harness/types/run_result.hpp"

namespace feedbench::ingest {

// JSON text in which the arrays under these keys, at any depth, are empty; "epochs.hosts" is one called hosts in
// objects under epochs only. Text that is torn inside one stays as it is, so that the parser says so.
std::string without_arrays(std::string_view text, std::span<const std::string_view> keys);

Expected<RunResult> read_light_result(const std::filesystem::path& path);

} // namespace feedbench::ingest
