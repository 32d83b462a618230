// The pieces of a TFRecord file: framing of a record, and the Example that it holds.
//
// Thread: any. Owner: the caller. Units: bytes. Errors: format_error naming the offset, found and expected.
// Source: reference.md section 1. A record is length (8), masked crc32c of it (4), data, masked crc32c of the data (4);
// the data are a tf.train.Example (protobuf) with features `image` (bytes) and `size` (integer).
#pragma once

#include <optional>

#include "formats/format.hpp"

namespace feedbench::formats {

inline constexpr std::uint64_t kRecordHeadBytes = 12, kRecordTailBytes = 4;

std::vector<std::byte> record_head(std::uint64_t data_bytes);
// Checks the length's CRC and that the record ends within the file. Returns the bytes of its data.
Expected<std::uint64_t> parse_record_head(std::span<const std::byte> head, std::uint64_t offset,
                                          std::uint64_t file_bytes, const std::string& path);

// The Example around an image of so many bytes: what stands before and after the image.
struct ExampleFrame {
    std::vector<std::byte> before, after;
};
ExampleFrame example_frame(std::uint64_t image_bytes, std::uint64_t size_value);

// Where the image lies in an Example.
struct ImagePlace {
    bool is_found = false; // false: these data are no Example, or one without a single `image`
    std::uint64_t offset = 0, bytes = 0;
};
inline constexpr std::size_t kMaxExampleHeadBytes = 4096; // an image that starts later is not looked for
// `head` are the first bytes of the data. Nothing = more of them are needed to tell.
std::optional<ImagePlace> find_image(std::span<const std::byte> head, std::uint64_t data_bytes);

} // namespace feedbench::formats
