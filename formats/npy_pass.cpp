#include "formats/npy_pass.hpp"

#include <algorithm>

#include "formats/checksums.hpp"

namespace feedbench::formats {

NpyPass::NpyPass(const ReadRequest& request, NpyPlace place, bool wants_crc)
    : request_(request), place_(std::move(place)), wants_crc_(wants_crc) {}

Status NpyPass::feed(std::span<const std::byte> bytes) {
    if (bytes.size() > place_.limit - seen_bytes_)
        return format_error(place_.path, "npy array of " + std::to_string(place_.limit) + " bytes expected, found more",
                            static_cast<std::int64_t>(place_.offset + seen_bytes_));
    if (wants_crc_) crc_ = crc32_zip(crc_, bytes);
    const std::uint64_t position = seen_bytes_;
    seen_bytes_ += bytes.size();
    if (header_) return feed_payload(bytes, position);

    // A header has some 128 bytes, so that one piece nearly always suffices.
    const std::size_t taken = std::min<std::size_t>(bytes.size(), kMaxNpyHeaderBytes - head_.size());
    head_.insert(head_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    auto header = parse_npy_header(head_, place_);
    if (!header) return header.error();
    if (!*header) return {};
    header_ = *std::move(*header);
    if (const Status status = check_npy_shape(*header_, request_.shape, place_); !status) return status;
    const std::size_t former = head_.size() - taken; // header bytes in former pieces; they alone did not complete it
    head_ = {};
    return feed_payload(bytes.subspan(header_->header_bytes - former), header_->header_bytes);
}

Status NpyPass::feed_payload(std::span<const std::byte> payload, std::uint64_t array_position) {
    if (!request_.on_payload || payload.empty()) return {};
    return request_.on_payload(array_position - header_->header_bytes, payload);
}

Status NpyPass::finish() {
    if (header_ && seen_bytes_ == place_.limit) return {};
    return format_error(place_.path,
                        "npy array of " + std::to_string(place_.limit) + " bytes expected, found " +
                            std::to_string(seen_bytes_),
                        static_cast<std::int64_t>(place_.offset + seen_bytes_));
}

} // namespace feedbench::formats
