// An npy array that passes by in pieces: its header is collected and checked, its payload shown to the visitor, its CRC
// kept.
//
// Thread: any; one user an object. Owner: the reader; the request outlives it. Units: bytes.
// Errors: format_error naming the offset, found and expected; the visitor's own.
// Source: npy_header.hpp.
#pragma once

#include "formats/npy_header.hpp"

namespace feedbench::formats {

class NpyPass {
  public:
    // `wants_crc`: of all bytes, header included, as zip counts.
    NpyPass(const ReadRequest& request, NpyPlace place, bool wants_crc);
    Status feed(std::span<const std::byte> bytes);
    Status finish(); // the array is complete
    bool is_header_known() const { return header_.has_value(); }
    const NpyHeader& header() const { return *header_; }
    std::uint64_t seen_bytes() const { return seen_bytes_; }
    std::uint32_t crc() const { return crc_; }

  private:
    Status feed_payload(std::span<const std::byte> payload, std::uint64_t array_position);
    const ReadRequest& request_;
    NpyPlace place_;
    bool wants_crc_;
    std::vector<std::byte> head_; // until the header is known
    std::optional<NpyHeader> header_;
    std::uint64_t seen_bytes_ = 0;
    std::uint32_t crc_ = 0;
};

} // namespace feedbench::formats
