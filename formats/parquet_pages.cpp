#include "formats/parquet_pages.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/little_endian.hpp"
#include "formats/thrift_compact.hpp"

namespace feedbench::formats::parquet {

namespace {

using thrift::Reader;
using thrift::Type;

constexpr std::size_t kLook = 64;             // bytes in which a header is looked for first: most have fewer than 40
constexpr std::size_t kHeaderMost = 16 << 20; // statistics may hold whole values

enum : std::int64_t { kDataPage = 0, kIndexPage = 1, kDictionaryPage = 2, kDataPageV2 = 3 };

struct Header {
    std::int64_t type = -1, plain_bytes = -1, bytes = -1, value_count = -1;
    bool has_crc = false;
    std::uint32_t crc = 0;
};

// DataPageHeader and DataPageHeaderV2 both begin with the count of values.
std::int64_t read_value_count(Reader& in) {
    std::int64_t count = -1;
    in.begin_struct();
    for (auto field = in.next_field(); field.type != Type::stop; field = in.next_field()) {
        if (field.id == 1)
            count = in.integer(field.type);
        else
            in.skip(field.type);
    }
    return count;
}

Header read_header(Reader& in) {
    Header header;
    for (auto field = in.next_field(); field.type != Type::stop; field = in.next_field()) {
        switch (field.id) {
        case 1:
            header.type = in.integer(field.type);
            break;
        case 2:
            header.plain_bytes = in.integer(field.type);
            break;
        case 3:
            header.bytes = in.integer(field.type);
            break;
        case 4:
            header.crc = static_cast<std::uint32_t>(in.integer(field.type));
            header.has_crc = true;
            break;
        case 5:
        case 8:
            if (field.type == Type::struct_)
                header.value_count = read_value_count(in);
            else
                in.skip(field.type);
            break;
        default:
            in.skip(field.type);
        }
    }
    return header;
}

} // namespace

PageWalk::PageWalk(const ReadRequest& request)
    : path_(request.path), checks_crc_(request.check == Check::checksum), visitor_(request.on_payload) {}

Error PageWalk::wrong(const std::string& what) const {
    return format_error(path_, "parquet: column '" + chunk_.column->name + "': " + what,
                        static_cast<std::int64_t>(page_begin_));
}

void PageWalk::begin(const ChunkToCome& chunk) {
    chunk_ = chunk;
    position_ = page_begin_ = chunk.place.offset;
    header_.clear();
    in_page_ = false;
    values_ = 0;
    payload_ = chunk.payload_offset;
}

Status PageWalk::feed(std::span<const std::byte> data) {
    while (!data.empty()) {
        if (!in_page_) {
            if (const Status status = take_header(data); !status) return status;
            continue;
        }
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), page_left_));
        const auto part = data.first(size);
        if (has_crc_) crc_ = crc32_zip(crc_, part);
        if (is_data_ && chunk_.has_payload) {
            if (visitor_)
                if (const Status status = visitor_(payload_, part); !status) return placed(status.error(), part);
            payload_ += size;
        }
        position_ += size;
        page_left_ -= size;
        data = data.subspan(size);
        if (page_left_ == 0)
            if (const Status status = end_page(); !status) return status;
    }
    return position_ == chunk_.place.offset + chunk_.place.bytes ? end_chunk() : Status{};
}

// Whoever compares knows where in the piece that it was read a byte lies; what comes from the kept tail is in none.
Error PageWalk::placed(Error error, std::span<const std::byte> part) const {
    for (std::size_t i = 0; error.offset < 0 && i < part.size(); ++i)
        if (!visitor_(payload_ + i, part.subspan(i, 1))) error.offset = static_cast<std::int64_t>(position_ + i);
    return error;
}

// A header may lie in several pieces: it is kept until it is whole.
Status PageWalk::take_header(std::span<const std::byte>& data) {
    for (;;) {
        const std::size_t kept = header_.size();
        const std::size_t more = std::min(data.size(), kept < kLook ? kLook - kept : kept);
        append_bytes(header_, data.first(more));
        Reader in(header_);
        const Header header = read_header(in);
        if (in.is_short() && header_.size() < kHeaderMost) {
            position_ += more;
            data = data.subspan(more);
            if (!data.empty()) continue;
            if (position_ < chunk_.place.offset + chunk_.place.bytes) return {};
            return wrong("the chunk ends within a page's header");
        }
        if (in.has_failed()) return wrong("what stands here is no page header");
        if (in.position() < kept) return wrong("a page's header ends before the bytes that were too few for it");
        const std::size_t used = in.position() - kept;
        position_ += used;
        data = data.subspan(used);
        header_.clear();
        const std::uint64_t left = chunk_.place.offset + chunk_.place.bytes - position_;
        if (header.type < kDataPage || header.type > kDataPageV2 || header.bytes < 0 || header.plain_bytes < 0)
            return wrong("a page of type " + std::to_string(header.type) + " and " + std::to_string(header.bytes) +
                         " bytes");
        if (static_cast<std::uint64_t>(header.bytes) > left)
            return wrong("a page of " + std::to_string(header.bytes) + " bytes, the chunk has " + std::to_string(left) +
                         " left");
        is_data_ = header.type == kDataPage || header.type == kDataPageV2;
        if (is_data_ && header.value_count < 0) return wrong("a data page does not say how many values it has");
        if (is_data_) values_ += static_cast<std::uint64_t>(header.value_count);
        if (is_data_ && chunk_.column->value_bytes > 0 &&
            static_cast<std::uint64_t>(header.value_count) * chunk_.column->value_bytes !=
                static_cast<std::uint64_t>(header.bytes))
            return wrong("a page of " + std::to_string(header.value_count) + " values of " +
                         std::to_string(chunk_.column->value_bytes) + " bytes has " + std::to_string(header.bytes) +
                         " bytes");
        has_crc_ = header.has_crc && checks_crc_;
        expected_crc_ = header.crc;
        crc_ = 0;
        page_left_ = static_cast<std::uint64_t>(header.bytes);
        in_page_ = true;
        return page_left_ == 0 ? end_page() : Status{};
    }
}

Status PageWalk::end_page() {
    if (has_crc_ && crc_ != expected_crc_) return wrong("the page's CRC-32 does not match its bytes");
    in_page_ = false;
    page_begin_ = position_;
    return {};
}

Status PageWalk::end_chunk() const {
    if (in_page_) return wrong("the chunk ends within a page");
    if (!chunk_.column->is_flat || values_ == chunk_.row_count) return {};
    return wrong("its pages hold " + std::to_string(values_) + " values, the row group has " +
                 std::to_string(chunk_.row_count) + " rows");
}

} // namespace feedbench::formats::parquet
