#include "formats/tfrecord_pass.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/little_endian.hpp"

namespace feedbench::formats {

namespace {
constexpr std::size_t kFirstLookBytes = 64; // what our own Examples need is half of it
} // namespace

TfrecordPass::TfrecordPass(const ReadRequest& request, std::uint64_t offset, std::uint32_t record_index)
    : request_(request), expected_image_bytes_(request.shape.dims.empty() ? 0 : request.shape.sample_bytes()),
      position_(offset), record_at_(offset), record_index_(record_index),
      payload_base_(expected_image_bytes_ * record_index) {}

void TfrecordPass::advance(std::span<const std::byte>& bytes, std::size_t size) {
    bytes = bytes.subspan(size);
    position_ += size;
}

Status TfrecordPass::feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        Status status;
        switch (state_) {
        case State::head:
            status = take_head(bytes);
            break;
        case State::example:
            status = take_example(bytes);
            break;
        case State::rest:
            status = take_rest(bytes);
            break;
        case State::tail:
            status = take_tail(bytes);
            break;
        }
        if (!status) return status;
    }
    return {};
}

Status TfrecordPass::take_head(std::span<const std::byte>& bytes) {
    if (filled_ == 0) record_at_ = position_;
    const std::size_t size = std::min(bytes.size(), kRecordHeadBytes - filled_);
    std::copy_n(bytes.begin(), size, frame_ + filled_);
    filled_ += size;
    advance(bytes, size);
    if (filled_ < kRecordHeadBytes) return {};
    const auto data_bytes = parse_record_head(frame_, record_at_, request_.file_bytes, request_.path);
    if (!data_bytes) return data_bytes.error();
    data_bytes_ = *data_bytes;
    data_seen_ = filled_ = 0;
    crc_ = 0;
    image_ = {};
    example_.clear();
    state_ = data_bytes_ > 0 ? State::example : State::tail;
    return data_bytes_ > 0 ? Status() : place_image({}); // no data can hold no image
}

Status TfrecordPass::take_example(std::span<const std::byte>& bytes) {
    const std::uint64_t first = std::min<std::uint64_t>(kFirstLookBytes, data_bytes_);
    const std::uint64_t most = std::min<std::uint64_t>(kMaxExampleHeadBytes, data_bytes_);
    const std::uint64_t wanted = (example_.size() < first ? first : most) - example_.size();
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), wanted));
    example_.insert(example_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    if (request_.check == Check::checksum) crc_ = crc32c(crc_, bytes.first(size));
    advance(bytes, size);
    data_seen_ += size;
    if (size < wanted) return {};
    const auto place = find_image(example_, data_bytes_);
    if (!place) return {};
    state_ = data_seen_ < data_bytes_ ? State::rest : State::tail;
    if (const Status status = place_image(*place); !status) return status;
    return show(example_, 0);
}

Status TfrecordPass::place_image(const ImagePlace& place) {
    image_ = place;
    if (expected_image_bytes_ == 0 || (place.is_found && place.bytes == expected_image_bytes_)) return {};
    return format_error(request_.path,
                        "Example with an `image` of " + std::to_string(expected_image_bytes_) +
                            " bytes expected, found " +
                            (place.is_found ? std::to_string(place.bytes) + " bytes" : std::string("none")),
                        static_cast<std::int64_t>(record_at_ + kRecordHeadBytes));
}

Status TfrecordPass::take_rest(std::span<const std::byte>& bytes) {
    const std::span<const std::byte> data =
        bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), data_bytes_ - data_seen_)));
    if (request_.check == Check::checksum) crc_ = crc32c(crc_, data);
    if (const Status status = show(data, data_seen_); !status) return status;
    data_seen_ += data.size();
    advance(bytes, data.size());
    if (data_seen_ == data_bytes_) state_ = State::tail;
    return {};
}

Status TfrecordPass::show(std::span<const std::byte> data, std::uint64_t data_position) {
    if (!request_.on_payload) return {};
    const std::uint64_t begin = std::max(data_position, image_.offset);
    const std::uint64_t end = std::min(data_position + data.size(), image_.offset + image_.bytes);
    if (begin >= end) return {};
    return request_.on_payload(payload_base_ + begin - image_.offset, data.subspan(begin - data_position, end - begin));
}

Status TfrecordPass::take_tail(std::span<const std::byte>& bytes) {
    const std::size_t size = std::min(bytes.size(), kRecordTailBytes - filled_);
    std::copy_n(bytes.begin(), size, frame_ + filled_);
    filled_ += size;
    advance(bytes, size);
    if (filled_ < kRecordTailBytes) return {};
    const auto expected = load_le<std::uint32_t>(frame_, 0);
    if (request_.check == Check::checksum && expected != crc32c_mask(crc_))
        return format_error(request_.path,
                            "checksum of record " + std::to_string(record_index_) + ": " + std::to_string(expected) +
                                " expected, found " + std::to_string(crc32c_mask(crc_)),
                            static_cast<std::int64_t>(record_at_));
    filled_ = 0;
    state_ = State::head;
    ++record_index_;
    payload_base_ += image_.bytes;
    return {};
}

} // namespace feedbench::formats
