#include "formats/npz_pass.hpp"

#include <algorithm>

#include "formats/little_endian.hpp"

namespace feedbench::formats {

namespace {

constexpr std::size_t kMaxLocalHeaderBytes = 4096;      // numpy's has 55 bytes
constexpr std::size_t kMaxDirectoryBytes = 1024 * 1024; // two members have 124 bytes
constexpr std::uint32_t kLocalSignature = 0x04034b50;

} // namespace

Status NpzPass::feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        std::size_t taken = 0;
        if (state_ == State::array || state_ == State::skip) {
            taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), member_remaining_));
            if (state_ == State::array)
                if (const Status status = feed_array(bytes.first(taken)); !status) return status;
            member_remaining_ -= taken;
            position_ += taken;
            if (member_remaining_ == 0) {
                if (state_ == State::array)
                    if (const Status status = finish_array(); !status) return status;
                state_ = State::header;
            }
        } else if (state_ == State::directory) {
            if (collected_.size() + bytes.size() > kMaxDirectoryBytes)
                return format_error(request_.path, "zip directory of at most 1 MiB expected",
                                    static_cast<std::int64_t>(position_));
            collected_.insert(collected_.end(), bytes.begin(), bytes.end());
            taken = bytes.size();
            position_ += taken;
        } else {
            const std::uint64_t header_at = position_ - collected_.size();
            const std::size_t former = collected_.size();
            taken = std::min(bytes.size(), kMaxLocalHeaderBytes - former);
            collected_.insert(collected_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
            if (is_array_complete_ && collected_.size() >= 4 &&
                load_le<std::uint32_t>(collected_, 0) != kLocalSignature) {
                state_ = State::directory; // its own check comes with the file's end
                position_ += taken;
                bytes = bytes.subspan(taken);
                continue;
            }
            auto header = parse_zip_local_header(collected_, header_at, request_.path);
            if (!header) return header.error();
            if (*header) {
                taken = static_cast<std::size_t>((*header)->header_bytes) - former;
                position_ += taken;
                collected_.clear();
                if (const Status status = begin_member(*std::move(*header)); !status) return status;
            } else if (collected_.size() == kMaxLocalHeaderBytes) {
                return format_error(request_.path, "zip archive: local header of at most 4096 bytes expected",
                                    static_cast<std::int64_t>(header_at));
            } else {
                position_ += taken;
            }
        }
        bytes = bytes.subspan(taken);
    }
    return {};
}

Status NpzPass::begin_member(ZipLocalHeader header) {
    ZipMember& member = header.member;
    const bool is_array = !is_array_complete_ && member.name == kArrayMember;
    if (!member.sizes_known)
        return format_error(request_.path,
                            "zip archive: member sizes expected in the local header, they follow the data",
                            static_cast<std::int64_t>(member.header_offset + 6));
    if (member.data_bytes > request_.file_bytes - std::min(position_, request_.file_bytes))
        return format_error(request_.path,
                            "zip archive: member of " + std::to_string(member.data_bytes) + " bytes in a file of " +
                                std::to_string(request_.file_bytes) + " bytes: truncated",
                            static_cast<std::int64_t>(position_));
    member_remaining_ = member.data_bytes;
    state_ = is_array ? State::array : State::skip;
    if (is_array) {
        array_member_ = std::move(member);
        array_.emplace(request_, NpyPlace{request_.path, position_, array_member_->content_bytes},
                       request_.check == Check::checksum);
        if (array_member_->is_deflated) inflater_.emplace();
    }
    if (member_remaining_ > 0) return {};
    const Status status = is_array ? finish_array() : Status(); // no data will come to finish it
    state_ = State::header;
    return status;
}

Status NpzPass::feed_array(std::span<const std::byte> data) {
    if (!inflater_) return array_->feed(data);
    // Nobody looks at the payload: the header alone is inflated.
    if (array_->is_header_known() && request_.check == Check::framing && !request_.on_payload) return {};
    return inflater_->feed(
        data, [this](std::span<const std::byte> content) { return array_->feed(content); }, request_.path, position_);
}

Status NpzPass::finish_array() {
    is_array_complete_ = true;
    const bool was_inflated = inflater_ && (request_.check == Check::checksum || request_.on_payload);
    if (was_inflated && !inflater_->is_finished())
        return format_error(request_.path, "deflated member ends before its deflate stream does",
                            static_cast<std::int64_t>(position_));
    if (!inflater_ || was_inflated) {
        if (const Status status = array_->finish(); !status) return status;
    } else if (!array_->is_header_known()) {
        return format_error(request_.path, "deflated member without an npy header",
                            static_cast<std::int64_t>(position_));
    }
    inflater_.reset(); // it holds 64 KiB
    if (request_.check == Check::checksum && array_->crc() != array_member_->crc32)
        return format_error(request_.path,
                            "checksum of x.npy: " + std::to_string(array_member_->crc32) + " expected, found " +
                                std::to_string(array_->crc()),
                            static_cast<std::int64_t>(array_member_->header_offset));
    return {};
}

Status NpzPass::check_against(const ZipMember& entry) const {
    const ZipMember& local = *array_member_;
    if (entry.name == local.name && entry.header_offset == local.header_offset && entry.crc32 == local.crc32 &&
        entry.data_bytes == local.data_bytes && entry.content_bytes == local.content_bytes &&
        entry.is_deflated == local.is_deflated)
        return {};
    return format_error(request_.path, "zip archive: local header and directory do not agree about x.npy",
                        static_cast<std::int64_t>(local.header_offset));
}

Status NpzPass::finish_file() {
    if (!is_array_complete_)
        return format_error(request_.path, "zip archive: no complete member x.npy",
                            static_cast<std::int64_t>(position_));
    if (state_ != State::directory)
        return format_error(request_.path, "zip archive: the file ends before its directory: truncated",
                            static_cast<std::int64_t>(position_));
    const auto place = find_zip_directory(collected_, request_.file_bytes, request_.path);
    if (!place) return place.error();
    const std::uint64_t collected_at = request_.file_bytes - collected_.size();
    if (place->offset != collected_at)
        return format_error(request_.path,
                            "zip archive: directory at " + std::to_string(collected_at) + " expected, found " +
                                std::to_string(place->offset),
                            static_cast<std::int64_t>(request_.file_bytes - 6));
    const auto members = parse_zip_directory(std::span(collected_).first(place->bytes), *place, request_.path);
    if (!members) return members.error();
    for (const ZipMember& member : *members)
        if (member.name == kArrayMember) return check_against(member);
    return format_error(request_.path, "zip archive: the directory has no x.npy",
                        static_cast<std::int64_t>(collected_at));
}

} // namespace feedbench::formats
