#include "formats/png_pass.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/shape_check.hpp"

namespace feedbench::formats {

bool PngPass::collect(std::span<const std::byte>& bytes, std::size_t wanted) {
    const std::size_t size = std::min(bytes.size(), wanted - filled_);
    std::copy_n(bytes.begin(), size, frame_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += size;
    position_ += size;
    bytes = bytes.subspan(size);
    if (filled_ < wanted) return false;
    filled_ = 0;
    return true;
}

Status PngPass::feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        Status status;
        switch (state_) {
        case State::head:
            if (collect(bytes, kPngHeadBytes)) status = take_head();
            break;
        case State::chunk_head:
            if (filled_ == 0) chunk_at_ = position_;
            if (collect(bytes, 8)) status = take_chunk_head();
            break;
        case State::chunk_data:
            status = take_data(bytes);
            break;
        case State::chunk_tail:
            if (collect(bytes, 4)) status = take_chunk_tail();
            break;
        case State::end:
            return format_error(request_.path, "bytes after the image's end", static_cast<std::int64_t>(position_));
        }
        if (!status) return status;
    }
    return {};
}

Status PngPass::take_head() {
    const auto header = parse_png_head(frame_, request_.path);
    if (!header) return header.error();
    header_ = *header;
    state_ = State::chunk_head;
    const std::vector<std::uint64_t>& dims = request_.shape.dims;
    if (!dims.empty() && (!header_.is_plain_grey() || header_.height != dims[0] || header_.width != dims[1]))
        return format_error(request_.path,
                            "a grey image of " + describe_dims(dims) + " pixels of 8 bits expected, found " +
                                describe_dims({header_.height, header_.width}) + " of " +
                                std::to_string(header_.bit_depth) + " bits, colour type " +
                                std::to_string(header_.colour),
                            static_cast<std::int64_t>(kPngSignatureBytes));
    if (!request_.on_payload) return {};
    if (!header_.is_plain_grey())
        return format_error(request_.path, "content can be told only of a grey image of 8 bits, found colour type " +
                                               std::to_string(header_.colour));
    inflater_.emplace(Inflater::Container::zlib);
    return {};
}

Status PngPass::take_chunk_head() {
    const std::span<const std::byte> head(frame_);
    chunk_bytes_ = load_be32(head, 0);
    std::transform(head.begin() + 4, head.begin() + 8, type_.begin(), [](std::byte b) { return static_cast<char>(b); });
    const auto at = static_cast<std::int64_t>(chunk_at_);
    if (!is_png_chunk_type({type_.data(), type_.size()}))
        return format_error(request_.path, "the type of a PNG chunk expected, found other bytes", at);
    const std::uint64_t rest = request_.file_bytes - std::min(request_.file_bytes, position_);
    if (chunk_bytes_ > kMaxPngChunkBytes || rest < 4 || chunk_bytes_ > rest - 4)
        return format_error(request_.path,
                            "chunk " + chunk_name() + " of " + std::to_string(chunk_bytes_) +
                                " bytes and a checksum, found only " + std::to_string(rest) +
                                " bytes up to the file's end: truncated",
                            at);
    if (chunk_name() == "IDAT") has_pixels_ = has_pixels_ || chunk_bytes_ > 0;
    if (request_.check == Check::checksum) crc_ = crc32_zip(0, head.subspan(4, 4));
    chunk_seen_ = 0;
    state_ = chunk_bytes_ > 0 ? State::chunk_data : State::chunk_tail;
    return {};
}

Status PngPass::take_data(std::span<const std::byte>& bytes) {
    const std::span<const std::byte> data =
        bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), chunk_bytes_ - chunk_seen_)));
    if (request_.check == Check::checksum) crc_ = crc32_zip(crc_, data);
    if (inflater_ && chunk_name() == "IDAT")
        if (const Status status = inflater_->feed(
                data, [this](std::span<const std::byte> rows) { return show(rows); }, request_.path, position_);
            !status)
            return status;
    chunk_seen_ += data.size();
    position_ += data.size();
    bytes = bytes.subspan(data.size());
    if (chunk_seen_ == chunk_bytes_) state_ = State::chunk_tail;
    return {};
}

Status PngPass::take_chunk_tail() {
    const std::uint32_t expected = load_be32(frame_, 0);
    if (request_.check == Check::checksum && expected != crc_)
        return format_error(request_.path,
                            "checksum of chunk " + chunk_name() + ": " + std::to_string(expected) +
                                " expected, found " + std::to_string(crc_),
                            static_cast<std::int64_t>(chunk_at_));
    state_ = chunk_name() == "IEND" ? State::end : State::chunk_head;
    return {};
}

Status PngPass::show(std::span<const std::byte> rows) {
    const std::uint64_t row_bytes = header_.row_bytes() + 1; // with its filter byte
    while (!rows.empty()) {
        if (row_position_ == 0) {
            if (rows.front() != std::byte{0})
                return format_error(request_.path, "content can be told only of rows without filter, found filter " +
                                                       std::to_string(std::to_integer<int>(rows.front())));
            rows = rows.subspan(1);
            row_position_ = 1;
            continue;
        }
        const std::span<const std::byte> pixels =
            rows.first(static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), row_bytes - row_position_)));
        if (payload_bytes_ + pixels.size() > header_.row_bytes() * header_.height)
            return format_error(request_.path, "more pixels than the image's header says");
        if (const Status status = request_.on_payload(payload_bytes_, pixels); !status) return status;
        payload_bytes_ += pixels.size();
        row_position_ = (row_position_ + pixels.size()) % row_bytes;
        rows = rows.subspan(pixels.size());
    }
    return {};
}

Status PngPass::finish() const {
    const auto at = static_cast<std::int64_t>(position_);
    if (state_ != State::end)
        return format_error(request_.path, "chunk IEND expected, found the file's end: truncated", at);
    if (!has_pixels_) return format_error(request_.path, "chunk IDAT expected, found none", at);
    if (inflater_ && (!inflater_->is_finished() || payload_bytes_ != header_.row_bytes() * header_.height))
        return format_error(request_.path,
                            std::to_string(header_.row_bytes() * header_.height) + " pixels expected, found " +
                                std::to_string(payload_bytes_),
                            at);
    return {};
}

} // namespace feedbench::formats
