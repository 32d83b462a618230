#include "formats/tfrecord_framing.hpp"

#include <algorithm>

#include "formats/checksums.hpp"
#include "formats/little_endian.hpp"

namespace feedbench::formats {

namespace {

constexpr std::uint8_t kField1 = 0x0a, kField2 = 0x12, kField3 = 0x1a; // protobuf tags, length-delimited

void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
    out.push_back(static_cast<std::byte>(value));
}

std::uint64_t varint_bytes(std::uint64_t value) {
    std::uint64_t bytes = 1;
    for (; value >= 0x80; value >>= 7) ++bytes;
    return bytes;
}

std::uint64_t field_bytes(std::uint64_t content) { return 1 + varint_bytes(content) + content; }

void append_tag(std::vector<std::byte>& out, std::uint8_t tag, std::uint64_t content) {
    out.push_back(static_cast<std::byte>(tag));
    append_varint(out, content);
}

// Reads tags and lengths of nested messages; says apart "wrong" and "not enough bytes yet".
class ProtoCursor {
  public:
    ProtoCursor(std::span<const std::byte> bytes, std::uint64_t position) : bytes_(bytes), position_(position) {}
    enum class Result : std::uint8_t { ok, wrong, short_of_bytes };
    // A length-delimited field with this tag that ends at `limit` or before. `end` becomes its end.
    Result enter(std::uint8_t tag, std::uint64_t limit, std::uint64_t& end) {
        if (position_ >= limit) return Result::wrong;
        if (position_ >= bytes_.size()) return Result::short_of_bytes;
        if (std::to_integer<std::uint8_t>(bytes_[position_]) != tag) return Result::wrong;
        std::uint64_t value = 0, at = position_ + 1;
        for (unsigned shift = 0;; shift += 7, ++at) {
            if (at >= limit || shift > 56) return Result::wrong;
            if (at >= bytes_.size()) return Result::short_of_bytes;
            const auto byte = std::to_integer<std::uint64_t>(bytes_[at]);
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
        ++at;
        if (at > limit || value > limit - at) return Result::wrong;
        position_ = at;
        end = at + value;
        return Result::ok;
    }
    std::uint64_t position() const { return position_; }
    void move_to(std::uint64_t position) { position_ = position; }

  private:
    std::span<const std::byte> bytes_;
    std::uint64_t position_;
};

} // namespace

std::vector<std::byte> record_head(std::uint64_t data_bytes) {
    std::vector<std::byte> head;
    append_le(head, data_bytes);
    append_le(head, crc32c_mask(crc32c(0, head)));
    return head;
}

Expected<std::uint64_t> parse_record_head(std::span<const std::byte> head, std::uint64_t offset,
                                          std::uint64_t file_bytes, const std::string& path) {
    const auto data_bytes = load_le<std::uint64_t>(head, 0);
    const auto found = load_le<std::uint32_t>(head, 8);
    const std::uint32_t expected = crc32c_mask(crc32c(0, head.first(8)));
    if (found != expected)
        return format_error(path,
                            "TFRecord length " + std::to_string(data_bytes) + " with checksum " +
                                std::to_string(expected) + " expected, found " + std::to_string(found),
                            static_cast<std::int64_t>(offset));
    const std::uint64_t rest = file_bytes - std::min(file_bytes, offset + kRecordHeadBytes);
    if (rest < kRecordTailBytes || data_bytes > rest - kRecordTailBytes)
        return format_error(path,
                            "TFRecord of " + std::to_string(data_bytes) + " bytes and a checksum, found only " +
                                std::to_string(rest) + " bytes up to the file's end: truncated",
                            static_cast<std::int64_t>(offset));
    return data_bytes;
}

ExampleFrame example_frame(std::uint64_t image_bytes, std::uint64_t size_value) {
    // Example{1: Features{1: {1: "image", 2: Feature{1: BytesList{1: image}}}, 1: {1: "size", 2: Feature{3:
    // Int64List{1: [size]}}}}}
    const std::uint64_t bytes_list = field_bytes(image_bytes), image_feature = field_bytes(bytes_list);
    const std::uint64_t image_entry = field_bytes(5) + field_bytes(image_feature);
    const std::uint64_t values = varint_bytes(size_value), int64_list = field_bytes(values);
    const std::uint64_t size_feature = field_bytes(int64_list);
    const std::uint64_t size_entry = field_bytes(4) + field_bytes(size_feature);
    ExampleFrame frame;
    append_tag(frame.before, kField1, field_bytes(image_entry) + field_bytes(size_entry));
    append_tag(frame.before, kField1, image_entry);
    append_tag(frame.before, kField1, 5);
    append_text(frame.before, "image");
    append_tag(frame.before, kField2, image_feature);
    append_tag(frame.before, kField1, bytes_list);
    append_tag(frame.before, kField1, image_bytes);
    append_tag(frame.after, kField1, size_entry);
    append_tag(frame.after, kField1, 4);
    append_text(frame.after, "size");
    append_tag(frame.after, kField2, size_feature);
    append_tag(frame.after, kField3, int64_list);
    append_tag(frame.after, kField1, values); // packed, as proto3 writes repeated integers
    append_varint(frame.after, size_value);
    return frame;
}

std::optional<ImagePlace> find_image(std::span<const std::byte> head, std::uint64_t data_bytes) {
    using Result = ProtoCursor::Result;
    head = head.first(std::min(head.size(), kMaxExampleHeadBytes));
    const bool is_all = head.size() == std::min<std::uint64_t>(data_bytes, kMaxExampleHeadBytes);
    // More bytes may help, unless these are all that there are to look at.
    const auto unless_more_helps = [is_all](Result result) -> std::optional<ImagePlace> {
        if (result == Result::short_of_bytes && !is_all) return std::nullopt;
        return ImagePlace{};
    };
    ProtoCursor cursor(head, 0);
    std::uint64_t features_end = 0;
    if (const Result r = cursor.enter(kField1, data_bytes, features_end); r != Result::ok) return unless_more_helps(r);
    while (cursor.position() < features_end) {
        std::uint64_t entry_end = 0, key_end = 0, feature_end = 0, list_end = 0, value_end = 0;
        if (const Result r = cursor.enter(kField1, features_end, entry_end); r != Result::ok)
            return unless_more_helps(r);
        if (const Result r = cursor.enter(kField1, entry_end, key_end); r != Result::ok) return unless_more_helps(r);
        if (key_end > head.size()) return unless_more_helps(Result::short_of_bytes);
        const std::uint64_t key_at = cursor.position();
        const std::string_view key = as_text(head.subspan(key_at, key_end - key_at));
        if (key != "image") {
            cursor.move_to(entry_end);
            continue;
        }
        cursor.move_to(key_end);
        if (const Result r = cursor.enter(kField2, entry_end, feature_end); r != Result::ok)
            return unless_more_helps(r);
        if (const Result r = cursor.enter(kField1, feature_end, list_end); r != Result::ok) return unless_more_helps(r);
        if (const Result r = cursor.enter(kField1, list_end, value_end); r != Result::ok) return unless_more_helps(r);
        if (value_end != list_end || list_end != feature_end || feature_end != entry_end) return ImagePlace{};
        return ImagePlace{true, cursor.position(), value_end - cursor.position()};
    }
    return ImagePlace{};
}

} // namespace feedbench::formats
