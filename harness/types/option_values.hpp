// Reads what people type for sizes and durations: "262144", "256KiB", "1.5GB", "350us", "0.3" (seconds).
//
// Thread: any. Owner: none. Units: bytes; ns. Errors: config_error that names the text and what would be right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/types/error.hpp"

namespace feedbench {

// Plain number; k, M, G, T (10^3 ...) with or without "B"; KiB, MiB, GiB, TiB. Not negative.
Expected<std::uint64_t> parse_size_bytes(std::string_view text);
// ns, us, ms, s, m; a bare number is seconds. Not negative.
Expected<std::uint64_t> parse_duration_ns(std::string_view text);
Expected<double> parse_number(std::string_view text);

} // namespace feedbench
