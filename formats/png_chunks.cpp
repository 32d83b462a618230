#include "formats/png_chunks.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/little_endian.hpp"

namespace feedbench::formats {

namespace {

constexpr std::array<unsigned char, kPngSignatureBytes> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

void append_be32(std::vector<std::byte>& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

} // namespace

std::uint32_t load_be32(std::span<const std::byte> bytes, std::size_t offset) {
    return __builtin_bswap32(load_le<std::uint32_t>(bytes, offset));
}

std::uint64_t PngHeader::row_bytes() const {
    const std::uint64_t channels = colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
    return (width * channels * bit_depth + 7) / 8;
}

bool is_png_chunk_type(std::string_view type) {
    return std::all_of(type.begin(), type.end(),
                       [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
}

std::vector<std::byte> make_png_chunk(std::string_view type, std::span<const std::byte> data) {
    std::vector<std::byte> chunk;
    chunk.reserve(kPngChunkFrameBytes + data.size());
    append_be32(chunk, static_cast<std::uint32_t>(data.size()));
    append_text(chunk, type);
    append_bytes(chunk, data);
    append_be32(chunk, crc32_zip(0, std::span(chunk).subspan(4)));
    return chunk;
}

std::vector<std::byte> make_png_head(const PngHeader& header) {
    std::vector<std::byte> data;
    append_be32(data, header.width);
    append_be32(data, header.height);
    for (const std::uint8_t one : {header.bit_depth, header.colour, std::uint8_t{0}, std::uint8_t{0}, header.interlace})
        data.push_back(static_cast<std::byte>(one));
    std::vector<std::byte> head;
    append_bytes(head, std::as_bytes(std::span(kSignature)));
    append_bytes(head, make_png_chunk("IHDR", data));
    return head;
}

std::vector<std::byte> make_png_end() { return make_png_chunk("IEND", {}); }

Expected<PngHeader> parse_png_head(std::span<const std::byte> head, const std::string& path) {
    if (!std::ranges::equal(head.first(kPngSignatureBytes), std::as_bytes(std::span(kSignature))))
        return format_error(path, "the signature of a PNG file expected, found other bytes", 0);
    const std::span<const std::byte> chunk = head.subspan(kPngSignatureBytes);
    if (load_be32(chunk, 0) != kPngHeaderBytes || as_text(chunk.subspan(4, 4)) != "IHDR")
        return format_error(path, "chunk IHDR of 13 bytes expected, found another",
                            static_cast<std::int64_t>(kPngSignatureBytes));
    const std::uint32_t expected = load_be32(chunk, 8 + kPngHeaderBytes);
    const std::uint32_t found = crc32_zip(0, chunk.subspan(4, 4 + kPngHeaderBytes));
    if (expected != found)
        return format_error(
            path, "checksum of chunk IHDR: " + std::to_string(expected) + " expected, found " + std::to_string(found),
            static_cast<std::int64_t>(kPngSignatureBytes));
    PngHeader header;
    header.width = load_be32(chunk, 8);
    header.height = load_be32(chunk, 12);
    header.bit_depth = std::to_integer<std::uint8_t>(chunk[16]);
    header.colour = std::to_integer<std::uint8_t>(chunk[17]);
    header.interlace = std::to_integer<std::uint8_t>(chunk[20]);
    if (header.width == 0 || header.height == 0 || header.width > kMaxPngDimension || header.height > kMaxPngDimension)
        return format_error(path,
                            "an image of 1 to 2^31-1 pixels each way expected, found " + std::to_string(header.height) +
                                " x " + std::to_string(header.width),
                            static_cast<std::int64_t>(kPngSignatureBytes));
    return header;
}

} // namespace feedbench::formats
