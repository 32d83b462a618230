// The header of an npy array: made as numpy makes it, read as numpy reads it, but nothing is evaluated.
//
// Thread: any. Owner: the caller. Units: bytes. Errors: format_error naming the offset in the file, found and expected.
// Source: numpy NEP 1: "\x93NUMPY", version, header length, a dictionary literal padded with spaces and a newline to a
// multiple of 64.
#pragma once

#include <optional>
#include <string>

#include "formats/format.hpp"

namespace feedbench::formats {

struct NpyHeader {
    std::uint64_t header_bytes = 0; // where the array's bytes start
    std::uint32_t element_bytes = 0;
    bool fortran_order = false;
    std::vector<std::uint64_t> dims; // as the file has them: those of a sample and one for the samples

    std::uint64_t array_bytes = 0; // product of the above, checked for overflow
};

// numpy refuses longer ones too (max_header_size); a legitimate header has about 128 bytes.
inline constexpr std::uint64_t kMaxNpyHeaderBytes = 10'000;

// Version 1.0, C order; descr is numpy's type text, for instance "|u1" or "<i8".
std::vector<std::byte> make_npy_header(std::string_view descr, const std::vector<std::uint64_t>& dims);
std::string_view unsigned_descr(std::uint32_t element_bytes); // "|u1", "<u2", "<u4", "<u8"

struct NpyPlace {
    std::string path;         // for messages
    std::uint64_t offset = 0; // of the header in the file, for messages
    std::uint64_t limit =
        0; // bytes that the array with its header has (file or zip member); nothing beyond is the array's
};

// `head` begins with the header and may hold more. Nothing = `head` is too short, ask again with more.
Expected<std::optional<NpyHeader>> parse_npy_header(std::span<const std::byte> head, const NpyPlace& place);

// The array has the expected samples: (dims..., samples), (samples, dims...) or, for one sample, (dims...). Expected
// dims may be empty.
Status check_npy_shape(const NpyHeader& header, const FileShape& expected, const NpyPlace& place);

// What the array holds when nobody knows: the axis (last, else first) that has `sample_count` entries counts the
// samples, and without one the array is a single sample.
FileShape split_npy_shape(const NpyHeader& header, std::uint64_t sample_count);

} // namespace feedbench::formats
