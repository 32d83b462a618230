// A JPEG file that passes by in pieces of any size: segments followed by their lengths, scans up to the end of the
// image; against the file made anew where somebody wants its content checked. Nothing is decoded.
//
// Thread: any; one user an object. Owner: the reader; the request outlives it. Units: bytes.
// Errors: format_error naming the offset, found and expected.
// Source: ITU-T T.81, B.1 (markers: ff and a code; within entropy-coded data ff is followed by 00 or a restart marker).
#pragma once

#include <array>

#include "formats/format.hpp"

namespace feedbench::formats {

// Start of frame: the markers that hold an image's size (not DHT, JPG, DAC, which lie between them).
constexpr bool is_jpeg_frame(std::uint8_t code) {
    return code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc;
}
// Markers that stand alone: restarts, TEM.
constexpr bool is_jpeg_lone(std::uint8_t code) { return (code >= 0xd0 && code <= 0xd7) || code == 0x01; }

inline constexpr std::uint8_t kJpegStart = 0xd8, kJpegEnd = 0xd9, kJpegScan = 0xda;
inline constexpr std::size_t kJpegFrameBytes = 8; // of a frame's segment: length, bits, height, width, components

struct JpegFrame {
    std::uint32_t bits = 0, height = 0, width = 0, components = 0;
};
JpegFrame parse_jpeg_frame(std::span<const std::byte> segment); // its first kJpegFrameBytes

class JpegPass {
  public:
    explicit JpegPass(const ReadRequest& request) : request_(request) {}
    Status feed(std::span<const std::byte> bytes);
    Status finish() const; // after the file's last byte

  private:
    enum class State : std::uint8_t { start, marker, code, segment_head, segment, scan, scan_code, end };
    Status compare(std::span<const std::byte> bytes); // with the file made anew
    Status follow(std::span<const std::byte>& bytes);
    Status take_code(std::uint8_t code);
    Status take_segment_head();
    Error wrong(const std::string& words, std::uint64_t at) const;

    const ReadRequest& request_;
    State state_ = State::start;
    std::uint64_t position_ = 0, marker_at_ = 0;
    std::uint8_t code_ = 0;
    std::array<std::byte, kJpegFrameBytes> head_{};
    std::size_t head_filled_ = 0;
    std::uint64_t segment_rest_ = 0;
    bool has_frame_ = false, has_scan_ = false;
    std::vector<std::byte> anew_;
};

} // namespace feedbench::formats
