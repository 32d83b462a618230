// The visible table of reporters, and the writing of their files.
//
// Thread: any. Owner: none (constant table). Units: none. Errors: storage errors of the results folder.
// Source: DESIGN section 9: files are written to a temporary name and renamed.
#pragma once

#include <filesystem>
#include <span>

#include "harness/types/error.hpp"
#include "reporters/reporter.hpp"

namespace feedbench::reporters {

std::span<const Reporter> reporters();
const Reporter* find_reporter(std::string_view name); // nullptr: unknown

// Renders and writes folder/file_name; the folder exists. Nothing half-written is ever visible under the final name.
Status write_report(const Reporter& reporter, const RunResult& result, const std::filesystem::path& folder);
// Every reporter that has a file.
Status write_all_reports(const RunResult& result, const std::filesystem::path& folder);

} // namespace feedbench::reporters
