// Files that appear whole or not at all.
//
// Thread: any. Owner: none. Units: none. Errors: storage; usage where there is one already. Source: DESIGN section 6
// (nothing half-written is ever visible).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/types/error.hpp"

namespace feedbench::submission {

Status write_new(const std::filesystem::path& path, const std::string& text);
Status write_over(const std::filesystem::path& path, const std::string& text);
// A file that somebody named on the command line: one that cannot be read is a wrong command line (usage).
Expected<std::string> read_named(const std::filesystem::path& path,
                                 std::uintmax_t limit_bytes = std::uintmax_t{64} << 20);
Status make_folders(const std::filesystem::path& path);

} // namespace feedbench::submission
