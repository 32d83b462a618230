// Checksums in the form in which HTTP headers carry them.
//
// Thread: any. Owner: none. Units: bytes. Errors: none. Source: RFC 1864 (Content-MD5), Amazon S3
// x-amz-checksum-crc32c: base64 of the big-endian CRC-32C (Castagnoli).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedbench::storage::s3 {

// Continues a CRC-32C: 0 to begin.
std::uint32_t crc32c(std::uint32_t so_far, std::span<const std::byte> bytes);
std::string crc32c_base64(std::uint32_t crc);
std::string md5_hex(std::span<const std::byte> bytes);
std::string md5_base64(std::span<const std::byte> bytes);

} // namespace feedbench::storage::s3
