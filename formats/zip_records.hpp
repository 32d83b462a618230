// The parts of a zip archive that an npz has: local headers, central directory and its end, with zip64 where numpy uses
// it.
//
// Thread: any. Owner: the caller. Units: bytes. Errors: format_error naming the offset in the file, found and expected.
// Source: PKWARE APPNOTE 4.3 and 4.5.3 (zip64); what CPython's zipfile writes for numpy.savez, byte for byte.
#pragma once

#include <optional>
#include <string>

#include "formats/format.hpp"

namespace feedbench::formats {

struct ZipMember {
    std::string name;
    std::uint64_t header_offset = 0; // of the local header
    std::uint64_t data_bytes = 0;    // stored in the archive
    std::uint64_t content_bytes = 0; // after inflating; equal when stored
    std::uint32_t crc32 = 0;         // of the content
    bool is_deflated = false;
    bool sizes_known = true; // false in a local header whose sizes follow the data; the directory has them
};

// Writing.
std::vector<std::byte> zip_local_header(const ZipMember& member);
std::uint64_t zip_local_header_bytes(std::string_view name);
inline constexpr std::uint64_t kZipCrcOffset = 14; // of the CRC in a local header
// The directory of these members at `offset`, with its end record(s).
std::vector<std::byte> zip_directory(const std::vector<ZipMember>& members, std::uint64_t offset);

// Reading. `path` is for messages.
struct ZipLocalHeader {
    ZipMember member;
    std::uint64_t header_bytes = 0; // the member's data follow
};
// `bytes` begins at a local header, which lies at `offset`. Nothing = too few bytes.
Expected<std::optional<ZipLocalHeader>> parse_zip_local_header(std::span<const std::byte> bytes, std::uint64_t offset,
                                                               const std::string& path);

struct ZipDirectoryPlace {
    std::uint64_t offset = 0, bytes = 0;
    std::uint64_t member_count = 0;
};
// `tail` is the end of a file of `file_bytes` bytes: the last kZipTailBytes of it, or more, or all. Archives with a
// comment are not npz.
inline constexpr std::uint64_t kZipTailBytes = 22 + 20 + 56;
Expected<ZipDirectoryPlace> find_zip_directory(std::span<const std::byte> tail, std::uint64_t file_bytes,
                                               const std::string& path);
// `bytes` are the directory's.
Expected<std::vector<ZipMember>> parse_zip_directory(std::span<const std::byte> bytes, const ZipDirectoryPlace& place,
                                                     const std::string& path);

} // namespace feedbench::formats
