// TFRecords that pass by in pieces of any size: borders found, framing and checksums checked, images shown to the
// visitor.
//
// Thread: any; one user an object. Owner: the reader; the request outlives it. Units: bytes.
// Errors: format_error naming the offset, found and expected; the visitor's own.
// Source: tfrecord_framing.hpp.
#pragma once

#include "formats/tfrecord_framing.hpp"

namespace feedbench::formats {

class TfrecordPass {
  public:
    // Starts at the record that lies at `offset` and is number `record_index` of the file.
    TfrecordPass(const ReadRequest& request, std::uint64_t offset, std::uint32_t record_index);
    Status feed(std::span<const std::byte> bytes);
    std::uint32_t completed() const { return record_index_; } // records before the current one
    std::uint64_t position() const { return position_; }
    bool is_at_border() const { return state_ == State::head && filled_ == 0; }

  private:
    enum class State : std::uint8_t { head, example, rest, tail };
    Status take_head(std::span<const std::byte>& bytes);
    Status take_example(std::span<const std::byte>& bytes);
    Status take_rest(std::span<const std::byte>& bytes);
    Status take_tail(std::span<const std::byte>& bytes);
    Status place_image(const ImagePlace& place);
    Status show(std::span<const std::byte> data, std::uint64_t data_position);
    void advance(std::span<const std::byte>& bytes, std::size_t size);

    const ReadRequest& request_;
    std::uint64_t expected_image_bytes_; // 0 = only the file knows
    std::uint64_t position_, record_at_;
    std::uint32_t record_index_;
    std::uint64_t payload_base_; // of the current record's image in the file's content
    State state_ = State::head;
    std::byte frame_[kRecordHeadBytes] = {};
    std::size_t filled_ = 0;         // of frame_
    std::vector<std::byte> example_; // the data's first bytes, until the image is found
    std::uint64_t data_bytes_ = 0, data_seen_ = 0;
    ImagePlace image_;
    std::uint32_t crc_ = 0;
};

} // namespace feedbench::formats
