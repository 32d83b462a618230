// Unit constants and conversions: the only place besides reporters where ns and bytes become s, MB or MiB.
//
// Thread: any (pure functions). Owner: none. Errors: none.
// Units: inside the harness everything is nanoseconds and bytes in 64-bit integers; MB = 10^6, MiB = 2^20.
// Source: DESIGN section 8 (rates), case T6: 1000 samples/s x 146,600,628 B = 146,600.6 MB/s = 139,809.3 MiB/s.
#pragma once

#include <cmath>
#include <cstdint>

namespace feedbench {

inline constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
inline constexpr std::uint64_t kMB = 1'000'000, kGB = 1'000'000'000;
inline constexpr std::uint64_t kNsPerUs = 1'000, kNsPerMs = 1'000'000, kNsPerS = 1'000'000'000;

constexpr double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }
constexpr double seconds_signed(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
inline std::uint64_t to_ns(double s) { return s <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(s * 1e9)); }
constexpr double to_MB(double bytes) { return bytes / 1e6; }
constexpr double to_MiB(double bytes) { return bytes / 1048576.0; }
constexpr double to_GiB(double bytes) { return bytes / 1073741824.0; }

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) { return value / unit * unit; }

} // namespace feedbench
