// What a FileShape must satisfy before a format lays it out, and how it is put in words; what a reader may be asked
// for.
//
// Thread: any. Owner: none. Units: bytes. Errors: config_error with the numbers; format_error of a file.
// Source: dataset_plan.hpp.
#pragma once

#include <string>
#include <string_view>

#include "formats/format.hpp"

namespace feedbench::formats {

// Sizes that no file has; keeps every later sum of sizes and headers within 64 bits.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 60;

// "2 samples of 3x4x1 bytes"
std::string describe(const FileShape& shape);
std::string describe_dims(const std::vector<std::uint64_t>& dims); // "(3, 4, 1)"
// Dims present and positive, at least one sample, an element of 1, 2, 4 or 8 bytes, no overflow.
Status check_dims(std::string_view format, const FileShape& shape);
// The same, and nothing that only hdf5 has (chunks, several datasets), and no compression.
Status check_plain_shape(std::string_view format, const FileShape& shape);

// The reader of this request is asked for a sample that the file has.
Status check_sample_index(const ReadRequest& request, std::uint32_t sample_index);

} // namespace feedbench::formats
