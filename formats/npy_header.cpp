#include "formats/npy_header.hpp"

#include <algorithm>
#include <charconv>

#include "formats/little_endian.hpp"
#include "formats/shape_check.hpp"

namespace feedbench::formats {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Error at(const NpyPlace& place, std::uint64_t inside, std::string message) {
    return format_error(place.path, std::move(message), static_cast<std::int64_t>(place.offset + inside));
}

// Bytes that people can read; what came from a file may be anything.
std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40)) out += (c >= 0x20 && c < 0x7f) ? c : '?';
    return out + (text.size() > 40 ? "..." : "");
}

// Reads the dictionary literal {'descr': '...', 'fortran_order': True, 'shape': (1, 2), } and nothing else.
class DictionaryParser {
  public:
    DictionaryParser(std::string_view text, const NpyPlace& place, std::uint64_t offset)
        : text_(text), place_(place), offset_(offset) {}

    Expected<NpyHeader> parse() {
        if (!take('{')) return wrong("'{'");
        bool has_descr = false, has_order = false, has_shape = false;
        while (!take('}')) {
            const auto key = string();
            if (!key || !take(':')) return wrong("a key and ':'");
            if (*key == "descr" && !has_descr) {
                if (const Status status = descr(); !status) return status.error();
                has_descr = true;
            } else if (*key == "fortran_order" && !has_order) {
                if (take_word("True"))
                    header_.fortran_order = true;
                else if (!take_word("False"))
                    return wrong("True or False");
                has_order = true;
            } else if (*key == "shape" && !has_shape) {
                if (const Status status = shape(); !status) return status.error();
                has_shape = true;
            } else {
                return wrong("each of the keys descr, fortran_order and shape once");
            }
            if (!take(',') && peek() != '}') return wrong("',' or '}'");
        }
        skip_space();
        if (position_ != text_.size()) return wrong("the end of the header");
        if (!has_descr || !has_order || !has_shape) return wrong("all of descr, fortran_order and shape");
        return header_;
    }

  private:
    void skip_space() {
        while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
    }
    char peek() {
        skip_space();
        return position_ < text_.size() ? text_[position_] : '\0';
    }
    bool take(char c) {
        if (peek() != c || position_ >= text_.size()) return false;
        ++position_;
        return true;
    }
    bool take_word(std::string_view word) {
        skip_space();
        if (!text_.substr(position_).starts_with(word)) return false;
        position_ += word.size();
        return true;
    }
    std::optional<std::string_view> string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') return {};
        const std::size_t end = text_.find(quote, position_ + 1);
        if (end == std::string_view::npos) return {};
        const std::string_view found = text_.substr(position_ + 1, end - position_ - 1);
        position_ = end + 1;
        return found;
    }
    Status descr() {
        const std::size_t start = position_;
        const auto text = string();
        if (!text) {
            position_ = start;
            return wrong("a plain element type (structured ones are not read)");
        }
        const std::string_view t = *text;
        const bool is_plain = t.size() >= 3 && std::string_view("<>|=").find(t[0]) != std::string_view::npos &&
                              std::string_view("biufc").find(t[1]) != std::string_view::npos;
        unsigned bytes = 0;
        if (is_plain) {
            const auto [end, problem] = std::from_chars(t.data() + 2, t.data() + t.size(), bytes);
            if (problem != std::errc() || end != t.data() + t.size() || !std::has_single_bit(bytes) || bytes > 32)
                bytes = 0;
        }
        if (bytes == 0) { // 'O' would have to be unpickled, which runs what the file says
            position_ = start;
            return wrong("a number type such as '|u1' or '<f4', not '" + printable(t) + "'");
        }
        header_.element_bytes = bytes;
        return {};
    }
    Status shape() {
        if (!take('(')) return wrong("'('");
        while (!take(')')) {
            std::uint64_t value = 0;
            skip_space();
            const char* begin = text_.data() + position_;
            const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
            if (problem != std::errc() || end == begin) return wrong("a size");
            position_ += static_cast<std::size_t>(end - begin);
            header_.dims.push_back(value);
            if (header_.dims.size() > 32) return wrong("at most 32 dimensions");
            if (!take(',') && peek() != ')') return wrong("',' or ')'");
        }
        return {};
    }
    Error wrong(const std::string& expected) {
        skip_space();
        return at(place_, offset_ + position_,
                  "npy header: expected " + expected + ", found '" +
                      printable(text_.substr(std::min(position_, text_.size()))) + "'");
    }

    std::string_view text_;
    const NpyPlace& place_;
    std::uint64_t offset_; // of text_ in the array
    std::size_t position_ = 0;
    NpyHeader header_;
};

} // namespace

std::vector<std::byte> make_npy_header(std::string_view descr, const std::vector<std::uint64_t>& dims) {
    std::string text =
        "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + describe_dims(dims) + ", }";
    // 10 bytes stand before the text, a newline after it. numpy leaves room for a first dimension that grows to 21
    // digits.
    if (!dims.empty()) text.append(21 - std::min<std::size_t>(21, std::to_string(dims.front()).size()), ' ');
    text.append(64 - (11 + text.size()) % 64, ' '); // 64 spaces rather than none, as numpy has it
    text += '\n';
    std::vector<std::byte> out;
    append_text(out, kMagic);
    append_le<std::uint16_t>(out, 0x0001); // version 1.0
    append_le<std::uint16_t>(out, static_cast<std::uint16_t>(text.size()));
    append_text(out, text);
    return out;
}

std::string_view unsigned_descr(std::uint32_t element_bytes) {
    return element_bytes == 8 ? "<u8" : element_bytes == 4 ? "<u4" : element_bytes == 2 ? "<u2" : "|u1";
}

Expected<std::optional<NpyHeader>> parse_npy_header(std::span<const std::byte> head, const NpyPlace& place) {
    const std::string_view text = as_text(head);
    const std::size_t compare = std::min(text.size(), kMagic.size());
    if (text.substr(0, compare) != kMagic.substr(0, compare))
        return at(place, 0,
                  "not an npy array: expected \\x93NUMPY, found '" + printable(text.substr(0, compare)) + "'");
    const auto too_short = [&](std::uint64_t needed) -> Expected<std::optional<NpyHeader>> {
        if (needed > place.limit)
            return at(place, 0,
                      "npy header of " + std::to_string(needed) + " bytes in an array of " +
                          std::to_string(place.limit) + " bytes: truncated or not npy");
        return std::optional<NpyHeader>();
    };
    if (head.size() < 12) return too_short(12);
    const auto major = load_le<std::uint8_t>(head, 6), minor = load_le<std::uint8_t>(head, 7);
    if (major < 1 || major > 3 || minor != 0)
        return at(place, 6,
                  "npy version 1.0, 2.0 or 3.0 expected, found " + std::to_string(major) + "." + std::to_string(minor));
    const std::uint64_t start = major == 1 ? 10 : 12;
    const std::uint64_t length = major == 1 ? load_le<std::uint16_t>(head, 8) : load_le<std::uint32_t>(head, 8);
    if (start + length > kMaxNpyHeaderBytes)
        return at(place, 8,
                  "npy header of at most " + std::to_string(kMaxNpyHeaderBytes) + " bytes expected, found " +
                      std::to_string(start + length));
    if (head.size() < start + length || start + length > place.limit) return too_short(start + length);
    auto header = DictionaryParser(text.substr(start, length), place, start).parse();
    if (!header) return header.error();
    header->header_bytes = start + length;
    header->array_bytes = header->element_bytes;
    for (const std::uint64_t d : header->dims)
        if (__builtin_mul_overflow(header->array_bytes, d, &header->array_bytes) ||
            header->array_bytes > kMaxPayloadBytes)
            return at(place, start, "npy shape " + describe_dims(header->dims) + " is more than 2^60 bytes");
    if (header->header_bytes + header->array_bytes != place.limit)
        return at(place, 0,
                  "npy shape " + describe_dims(header->dims) + " of " + std::to_string(header->element_bytes) +
                      "-byte elements needs " + std::to_string(header->header_bytes + header->array_bytes) +
                      " bytes with its header, found " + std::to_string(place.limit));
    return std::optional(*std::move(header));
}

Status check_npy_shape(const NpyHeader& header, const FileShape& expected, const NpyPlace& place) {
    if (expected.dims.empty()) return {};
    const std::uint64_t samples = expected.sample_count;
    std::vector<std::uint64_t> samples_last = expected.dims, samples_first = expected.dims;
    samples_last.push_back(samples);
    samples_first.insert(samples_first.begin(), samples);
    if (header.dims != samples_last && header.dims != samples_first && !(samples == 1 && header.dims == expected.dims))
        return at(place, 0,
                  "npy shape " + describe_dims(samples_last) + " expected, found " + describe_dims(header.dims));
    if (header.element_bytes != expected.element_bytes)
        return at(place, 0,
                  "npy elements of " + std::to_string(expected.element_bytes) + " bytes expected, found " +
                      std::to_string(header.element_bytes));
    return {};
}

FileShape split_npy_shape(const NpyHeader& header, std::uint64_t sample_count) {
    FileShape shape;
    shape.element_bytes = header.element_bytes;
    shape.dims = header.dims;
    if (header.dims.size() > 1 && sample_count > 0 && sample_count <= 0xffffffffU) {
        if (header.dims.back() == sample_count) {
            shape.sample_count = static_cast<std::uint32_t>(sample_count);
            shape.dims.pop_back();
        } else if (header.dims.front() == sample_count) {
            shape.sample_count = static_cast<std::uint32_t>(sample_count);
            shape.dims.erase(shape.dims.begin());
        }
    }
    if (shape.dims.empty()) shape.dims = {1}; // a single number
    return shape;
}

} // namespace feedbench::formats
