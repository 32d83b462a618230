// The two checksums that file formats use: CRC-32 of zip and CRC-32C of TFRecord, both incremental.
//
// Thread: any. Owner: none. Units: bytes. Errors: none.
// Source: PKWARE APPNOTE 4.4.7 (CRC-32); TFRecord: RFC 3720 CRC-32C and its mask. Worked example: both are tests over
// "123456789".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedbench::formats {

// Start with 0; pass the former result to go on.
std::uint32_t crc32_zip(std::uint32_t crc, std::span<const std::byte> data);
std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> data);
// TFRecord stores CRCs rotated and shifted, so that a CRC over stored CRCs stays a good one.
constexpr std::uint32_t crc32c_mask(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

} // namespace feedbench::formats
