#include "formats/csv_pass.hpp"

#include <algorithm>
#include <cstring>

namespace feedbench::formats {

namespace {

constexpr std::size_t kShownBytes = 64 * 1024;
constexpr int kMostDigits = 18;

} // namespace

Status CsvPass::feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const void* const found = std::memchr(bytes.data(), '\n', bytes.size());
        const std::size_t size = found == nullptr
                                     ? bytes.size()
                                     : static_cast<std::size_t>(static_cast<const std::byte*>(found) - bytes.data());
        if (const Status status = take(bytes.first(size)); !status) return status;
        if (found == nullptr) break;
        if (const Status status = end_line(); !status) return status;
        bytes = bytes.subspan(size + 1);
        line_at_ = ++position_;
    }
    return {};
}

Status CsvPass::take(std::span<const std::byte> text) {
    commas_ += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), std::byte{','}));
    if (has_header_ && request_.on_payload)
        if (const Status status = read_numbers(text); !status) return status;
    line_bytes_ += text.size();
    position_ += text.size();
    return {};
}

Status CsvPass::end_line() {
    const auto at = static_cast<std::int64_t>(line_at_);
    if (!has_header_) {
        if (commas_ == 0) return format_error(request_.path, "a line of column names expected, found no comma", at);
        columns_ = commas_;
        has_header_ = true;
    } else {
        if (commas_ != columns_)
            return format_error(request_.path,
                                "row " + std::to_string(row_count_) + ": " + std::to_string(columns_ + 1) +
                                    " fields expected, found " + std::to_string(commas_ + 1),
                                at);
        if (request_.on_payload) {
            if (const Status status = end_field(); !status) return status;
            if (const Status status = show(); !status) return status;
            field_ = 0;
        }
        ++row_count_;
    }
    commas_ = line_bytes_ = 0;
    return {};
}

Status CsvPass::read_numbers(std::span<const std::byte> text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = std::to_integer<unsigned char>(text[i]);
        if (c >= '0' && c <= '9' && digits_ < kMostDigits) {
            value_ = value_ * 10 + (c - '0');
            ++digits_;
        } else if (c == ',') {
            if (const Status status = end_field(); !status) return status;
        } else {
            return format_error(request_.path,
                                "row " + std::to_string(row_count_) + ": a number expected, found byte " +
                                    std::to_string(c),
                                static_cast<std::int64_t>(position_ + i));
        }
    }
    return {};
}

Status CsvPass::end_field() {
    const std::uint64_t most = field_ == 0 ? row_count_ : 255, least = field_ == 0 ? row_count_ : 0;
    if (digits_ == 0 || value_ > most || value_ < least)
        return format_error(request_.path,
                            "row " + std::to_string(row_count_) + ", field " + std::to_string(field_) + ": " +
                                (field_ == 0 ? "the row's number" : std::string("a number of 0 to 255")) +
                                " expected, found " + (digits_ == 0 ? "nothing" : std::to_string(value_)),
                            static_cast<std::int64_t>(line_at_));
    if (field_ > 0) values_.push_back(static_cast<std::byte>(value_));
    ++field_;
    value_ = 0;
    digits_ = 0;
    return values_.size() < kShownBytes ? Status() : show();
}

Status CsvPass::show() {
    if (values_.empty()) return {};
    const Status status = request_.on_payload(payload_bytes_, values_);
    payload_bytes_ += values_.size();
    values_.clear();
    return status;
}

Status CsvPass::end_of_rows() { return line_bytes_ > 0 ? end_line() : Status(); }

Status CsvPass::finish() {
    if (const Status status = end_of_rows(); !status) return status;
    const std::uint64_t expected = request_.shape.sample_count;
    if (has_header_ && row_count_ == expected) return {};
    return format_error(request_.path,
                        "a line of column names and " + std::to_string(expected) + " rows expected, found " +
                            (has_header_ ? std::to_string(row_count_) + " rows" : "no line"),
                        static_cast<std::int64_t>(position_));
}

} // namespace feedbench::formats
