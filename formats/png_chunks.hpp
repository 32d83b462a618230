// The pieces of a PNG file: signature, header, and how grey pixels lie in it where nothing is compressed.
//
// Thread: any (pure functions). Owner: the caller. Units: bytes, pixels. Errors: format_error with the offset.
// Source: W3C PNG (third edition), RFC 1950, RFC 1951 section 3.2.4. A chunk is length (4, big endian), type (4), data,
// CRC-32 of type and data (4). IHDR comes first, IEND last; the data of all IDAT chunks together are one zlib stream
// over the rows, each of a filter byte and its pixels.
#pragma once

#include <array>
#include <optional>

#include "formats/format.hpp"

namespace feedbench::formats {

inline constexpr std::uint64_t kPngSignatureBytes = 8, kPngChunkFrameBytes = 12, kPngHeaderBytes = 13;
inline constexpr std::uint64_t kPngHeadBytes = kPngSignatureBytes + kPngChunkFrameBytes + kPngHeaderBytes;
inline constexpr std::uint64_t kMaxPngDimension = 0x7fffffffU;
inline constexpr std::uint64_t kMaxPngChunkBytes = 0x7fffffffU;

struct PngHeader {
    std::uint32_t width = 0, height = 0;
    std::uint8_t bit_depth = 8, colour = 0, interlace = 0;
    bool is_plain_grey() const { return bit_depth == 8 && colour == 0 && interlace == 0; }
    std::uint64_t row_bytes() const; // of the decoded image, without the filter byte
};

std::vector<std::byte> make_png_head(const PngHeader& header); // signature and IHDR
std::vector<std::byte> make_png_end();                         // IEND
// A chunk around `data`.
std::vector<std::byte> make_png_chunk(std::string_view type, std::span<const std::byte> data);
// The first kPngHeadBytes of a file.
Expected<PngHeader> parse_png_head(std::span<const std::byte> head, const std::string& path);

std::uint32_t load_be32(std::span<const std::byte> bytes, std::size_t offset);
bool is_png_chunk_type(std::string_view type); // four letters

} // namespace feedbench::formats
