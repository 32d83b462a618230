#include "formats/jpeg_pass.hpp"

#include <algorithm>
#include <cstring>

#include "formats/jpeg_encode.hpp"
#include "formats/shape_check.hpp"

namespace feedbench::formats {

namespace {

std::uint32_t be16(std::span<const std::byte> bytes, std::size_t at) {
    return std::to_integer<std::uint32_t>(bytes[at]) << 8 | std::to_integer<std::uint32_t>(bytes[at + 1]);
}

} // namespace

JpegFrame parse_jpeg_frame(std::span<const std::byte> segment) {
    return {std::to_integer<std::uint32_t>(segment[2]), be16(segment, 3), be16(segment, 5),
            std::to_integer<std::uint32_t>(segment[7])};
}

Error JpegPass::wrong(const std::string& words, std::uint64_t at) const {
    return format_error(request_.path, words, static_cast<std::int64_t>(at));
}

Status JpegPass::feed(std::span<const std::byte> bytes) {
    if (request_.content)
        if (const Status status = compare(bytes); !status) return status;
    while (!bytes.empty())
        if (const Status status = follow(bytes); !status) return status;
    return {};
}

Status JpegPass::compare(std::span<const std::byte> bytes) {
    const std::vector<std::uint64_t>& dims = request_.shape.dims;
    if (anew_.empty()) {
        if (dims.size() != 2) return wrong("content can be told only of an image of planned size", 0);
        auto made =
            encode_jpeg({static_cast<std::uint32_t>(dims[0]), static_cast<std::uint32_t>(dims[1])}, request_.content);
        if (!made) return made.error();
        anew_ = std::move(*made);
    }
    const std::span<const std::byte> rest = std::span(anew_).subspan(std::min<std::uint64_t>(position_, anew_.size()));
    const auto [here, there] = std::mismatch(bytes.begin(), bytes.end(), rest.begin(), rest.end());
    if (here == bytes.end()) return {};
    return wrong("content differs from what was generated",
                 position_ + static_cast<std::uint64_t>(here - bytes.begin()));
}

Status JpegPass::follow(std::span<const std::byte>& bytes) {
    const auto byte = std::to_integer<std::uint8_t>(bytes.front());
    std::size_t taken = 1;
    Status status;
    switch (state_) {
    case State::start: // ff d8
        if (byte != (position_ == 0 ? 0xff : kJpegStart))
            return wrong("the start of a JPEG image (ff d8) expected, found other bytes", 0);
        if (position_ == 1) state_ = State::marker;
        break;
    case State::marker:
        if (byte != 0xff) return wrong("a JPEG marker (ff) expected, found byte " + std::to_string(byte), position_);
        marker_at_ = position_;
        state_ = State::code;
        break;
    case State::code:
        if (byte != 0xff) status = take_code(byte); // else a fill byte
        break;
    case State::segment_head: {
        taken = std::min<std::size_t>(bytes.size(), (is_jpeg_frame(code_) ? kJpegFrameBytes : 2) - head_filled_);
        std::copy_n(bytes.begin(), taken, head_.begin() + static_cast<std::ptrdiff_t>(head_filled_));
        head_filled_ += taken;
        if (head_filled_ == (is_jpeg_frame(code_) ? kJpegFrameBytes : 2)) status = take_segment_head();
        break;
    }
    case State::segment:
        taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), segment_rest_));
        segment_rest_ -= taken;
        break;
    case State::scan:
        if (const void* found = std::memchr(bytes.data(), 0xff, bytes.size())) {
            taken = static_cast<std::size_t>(static_cast<const std::byte*>(found) - bytes.data()) + 1;
            marker_at_ = position_ + taken - 1;
            state_ = State::scan_code;
        } else {
            taken = bytes.size();
        }
        break;
    case State::scan_code:
        if (byte == 0xff) break; // a fill byte
        if (byte == 0 || is_jpeg_lone(byte))
            state_ = State::scan;
        else
            status = take_code(byte);
        break;
    case State::end: // what others put behind an image is not read by decoders either
        taken = bytes.size();
        break;
    }
    position_ += taken;
    bytes = bytes.subspan(taken);
    if (state_ == State::segment && segment_rest_ == 0) state_ = code_ == kJpegScan ? State::scan : State::marker;
    return status;
}

Status JpegPass::take_code(std::uint8_t code) {
    code_ = code;
    head_filled_ = 0;
    if (code == kJpegEnd)
        state_ = State::end;
    else if (is_jpeg_lone(code))
        state_ = State::marker;
    else if (code == 0 || code == kJpegStart)
        return wrong("a JPEG marker expected, found ff and byte " + std::to_string(code), marker_at_);
    else
        state_ = State::segment_head;
    return {};
}

Status JpegPass::take_segment_head() {
    const std::uint64_t length = be16(head_, 0); // with itself
    if (length < head_filled_)
        return wrong("a JPEG segment of at least " + std::to_string(head_filled_) + " bytes expected, found " +
                         std::to_string(length),
                     marker_at_);
    const std::uint64_t end = marker_at_ + 2 + length;
    if (end > request_.file_bytes)
        return wrong("a JPEG segment of " + std::to_string(length) + " bytes, found the file's end after " +
                         std::to_string(request_.file_bytes) + " bytes: truncated",
                     marker_at_);
    if (is_jpeg_frame(code_)) {
        const JpegFrame frame = parse_jpeg_frame(head_);
        const std::vector<std::uint64_t>& dims = request_.shape.dims;
        if (!dims.empty() &&
            (frame.bits != 8 || frame.components != 1 || frame.height != dims[0] || frame.width != dims[1]))
            return wrong("a grey image of " + describe_dims(dims) + " pixels of 8 bits expected, found " +
                             describe_dims({frame.height, frame.width}) + " of " + std::to_string(frame.bits) +
                             " bits in " + std::to_string(frame.components) + " colours",
                         marker_at_);
        has_frame_ = true;
    }
    if (code_ == kJpegScan) {
        if (!has_frame_) return wrong("a frame header before the scan expected, found none", marker_at_);
        has_scan_ = true;
    }
    segment_rest_ = length - head_filled_;
    state_ = State::segment;
    return {};
}

Status JpegPass::finish() const {
    if (state_ != State::end)
        return wrong("the end of the image (ff d9) expected, found the file's end: truncated", position_);
    if (!has_scan_) return wrong("an image expected, found none before its end", position_);
    if (request_.content && anew_.size() != position_)
        return wrong("content differs from what was generated: " + std::to_string(anew_.size()) +
                         " bytes expected, found " + std::to_string(position_),
                     position_);
    return {};
}

} // namespace feedbench::formats
