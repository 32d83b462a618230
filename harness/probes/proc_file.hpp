// Small files of /proc and /sys as text.
//
// Thread: any. Owner: the caller. Units: bytes. Errors: nullopt where the file cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedbench::probes {

std::optional<std::string> read_proc_file(const std::string& path);
// The value behind "<key>:" at the start of a line, without blanks around it: MemTotal of meminfo, VmHWM of status.
std::optional<std::string> field(std::string_view content, std::string_view key);
// The same as a number of KiB, in bytes.
std::optional<std::uint64_t> field_kib_as_bytes(std::string_view content, std::string_view key);
// The numbers that a list like "0-3,8,10-11" names; nullopt when it is not such a list.
std::optional<std::vector<std::uint32_t>> numbers_of_list(std::string_view list);
// How many numbers a list like "0-3,8,10-11" names; nullopt when it is not such a list.
std::optional<std::uint32_t> count_of_list(std::string_view list);

} // namespace feedbench::probes
