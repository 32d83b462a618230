// Numbers as people read them, and options that people write as sizes.
//
// Thread: any. Owner: none. Units: bytes (shown in B, KiB, MiB, GiB, TiB), seconds, ns since 1970. Errors: an option
// that is no size is a CLI11 validation error, which becomes exit code 2.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace feedbench::feedfs::tool {

std::string size_text(std::uint64_t bytes);           // "4 MiB", "13.2 GiB", "312 B"
std::string count_text(std::uint64_t count);          // "1 234 567"
std::string duration_text(double seconds);            // "0.4 s", "52 s", "1:12", "3:07:09"
std::string time_text(std::int64_t ns);               // "2026-11-30 18:58:36 UTC"
std::string mode_text(char kind, std::uint32_t mode); // "-rw-r--r--"

// An option whose value is a size such as 64MiB; `into` keeps its default when the option is not given.
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& into, const std::string& help);

} // namespace feedbench::feedfs::tool
