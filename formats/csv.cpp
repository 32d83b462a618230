// csv: a line of column names, then a row of values a sample, as pandas writes and reads them. A value is a byte in
// three digits ("007"), so that a file's size follows from its shape alone.
//
// pandas loads the whole table for the first row that is asked for.
#include "formats/csv_pass.hpp"
#include "formats/little_endian.hpp"
#include "formats/part_encoder.hpp"
#include "formats/registry.hpp"
#include "formats/shape_check.hpp"
#include "formats/whole_file.hpp"
#include "harness/types/units.hpp"

#include <array>
#include <charconv>

namespace feedbench::formats {

namespace {

constexpr std::size_t kPartBytes = 32 * kKiB;
constexpr std::uint64_t kFieldBytes = 4; // comma and three digits
constexpr std::uint64_t kScanBytes = kMiB;
constexpr std::uint64_t kMostScannedBytes =
    64 * kMiB; // of a file whose rows are counted although their number is known

// Digits of 0, 1, ..., count - 1 together. Example: 12 numbers have 10 + 2 x 2 = 14.
std::uint64_t digits_below(std::uint64_t count) {
    std::uint64_t sum = 0, first = 0;
    for (std::uint64_t digits = 1, end = 10; first < count; ++digits, first = end, end *= 10)
        sum += digits * (std::min(count, end) - first);
    return sum;
}

void append_number(std::vector<std::byte>& out, std::uint64_t number) {
    std::array<char, 20> text;
    const char* end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    append_text(out, {text.data(), static_cast<std::size_t>(end - text.data())});
}

constexpr std::array<std::array<char, kFieldBytes>, 256> make_fields() {
    std::array<std::array<char, kFieldBytes>, 256> fields{};
    for (unsigned value = 0; value < 256; ++value)
        fields[value] = {',', static_cast<char>('0' + value / 100), static_cast<char>('0' + value / 10 % 10),
                         static_cast<char>('0' + value % 10)};
    return fields;
}
constexpr std::array<std::array<char, kFieldBytes>, 256> kFields = make_fields();

class CsvEncoder final : public PartEncoder {
  public:
    CsvEncoder(const FileShape& shape, ContentSource content)
        : values_(shape.sample_bytes()), rows_(shape.sample_count), content_(std::move(content)) {}
    std::uint64_t file_bytes() const override {
        const std::uint64_t header = values_ + digits_below(values_) + 1;
        return header + digits_below(rows_) + rows_ * (values_ * kFieldBytes + 1);
    }

  private:
    bool make_part(std::vector<std::byte>& part) override {
        if (!is_header_made_) {
            make_header(part);
        } else if (row_ < rows_) {
            make_row(part);
        } else {
            return false;
        }
        return true;
    }
    void make_header(std::vector<std::byte>& part) {
        for (; value_ < values_ && part.size() < kPartBytes; ++value_) {
            append_text(part, ",");
            append_number(part, value_);
        }
        if (value_ < values_) return;
        append_text(part, "\n");
        is_header_made_ = true;
        value_ = 0;
    }
    void make_row(std::vector<std::byte>& part) {
        if (value_ == 0) append_number(part, row_);
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPartBytes / kFieldBytes, values_ - value_));
        bytes_.resize(size);
        content_(row_ * values_ + value_, bytes_);
        std::size_t at = part.size();
        part.resize(at + size * kFieldBytes);
        for (const std::byte one : bytes_) {
            std::memcpy(part.data() + at, kFields[std::to_integer<std::size_t>(one)].data(), kFieldBytes);
            at += kFieldBytes;
        }
        value_ += size;
        if (value_ < values_) return;
        append_text(part, "\n");
        ++row_;
        value_ = 0;
    }

    std::uint64_t values_, rows_; // values in a row
    ContentSource content_;
    std::vector<std::byte> bytes_;
    bool is_header_made_ = false;
    std::uint64_t row_ = 0, value_ = 0;
};

class CsvFormat final : public Format {
  public:
    std::string_view name() const override { return "csv"; }
    bool has_checksum() const override { return false; }
    Status supports(const FileShape& shape) const override {
        if (const Status status = check_plain_shape(name(), shape); !status) return status;
        if (shape.element_bytes == 1) return {};
        return config_error("csv file: elements of 1 byte (a number of 0 to 255), found " +
                            std::to_string(shape.element_bytes));
    }
    Expected<std::unique_ptr<Encoder>> encode(const FileShape& shape, ContentSource content) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return std::unique_ptr<Encoder>(std::make_unique<CsvEncoder>(shape, std::move(content)));
    }
    Expected<std::uint64_t> file_bytes(const FileShape& shape) const override {
        if (const Status status = supports(shape); !status) return status.error();
        return CsvEncoder(shape, {}).file_bytes();
    }
    Expected<std::unique_ptr<SampleReader>> open(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        return std::unique_ptr<SampleReader>(std::make_unique<WholeFileReader<CsvPass>>(request));
    }
    Expected<std::unique_ptr<StreamReader>> open_stream(const ReadRequest& request) const override {
        if (const Status status = check_file(request); !status) return status.error();
        if (!request.has_content) return Format::open_stream(request);
        return std::unique_ptr<StreamReader>(std::make_unique<WholeFileStream<CsvPass>>(request));
    }

    // Of planned files the size has been compared, and the first line is looked at. Only all lines tell how many rows
    // another tool's file has: they are counted. Beyond a size the caller's number is believed, if it is one that
    // somebody has counted or given: 1 is what is asked with by who knows none. Dims where the values lie as ours do.
    Expected<FileShape> inspect(const ReadRequest& request, const ReadAt& read) const override {
        if (const Status status = check_file(request); !status) return status.error();
        if (!request.shape.dims.empty()) {
            std::array<std::byte, 2> head;
            if (const Status status = read(0, head); !status) return status.error();
            if (as_text(head) == ",0") return request.shape;
            return format_error(request.path, "column names that begin with \",0\" expected, found other bytes", 0);
        }
        FileShape shape = request.shape;
        if (request.file_bytes > kMostScannedBytes && shape.sample_count > 1) return shape;
        const auto counted = count(request, read);
        if (!counted) return counted.error();
        shape = *counted;
        const auto ours = file_bytes(shape);
        if (!ours || *ours != request.file_bytes) shape.dims = {};
        return shape;
    }

  private:
    Status check_file(const ReadRequest& request) const {
        if (request.file_bytes < 4)
            return format_error(request.path,
                                "a csv file has at least 4 bytes, found " + std::to_string(request.file_bytes), 0);
        if (request.shape.dims.empty()) return {};
        const auto bytes = file_bytes(request.shape);
        if (!bytes) return bytes.error();
        if (*bytes == request.file_bytes) return {};
        return format_error(request.path, "the file has " + std::to_string(request.file_bytes) + " bytes, " +
                                              describe(request.shape) + " need " + std::to_string(*bytes));
    }

    static Expected<FileShape> count(const ReadRequest& request, const ReadAt& read) {
        CsvPass pass(request);
        std::vector<std::byte> look;
        for (std::uint64_t at = 0; at < request.file_bytes; at += look.size()) {
            look.resize(std::min(kScanBytes, request.file_bytes - at));
            if (const Status status = read(at, look); !status) return status.error();
            if (const Status status = pass.feed(look); !status) return status.error();
        }
        if (const Status status = pass.end_of_rows(); !status) return status.error();
        if (pass.row_count() == 0 || pass.row_count() > 0xffffffffU)
            return format_error(request.path, "1 to 2^32-1 rows below the column names expected, found " +
                                                  std::to_string(pass.row_count()));
        FileShape shape;
        shape.dims = {pass.value_count()};
        shape.sample_count = static_cast<std::uint32_t>(pass.row_count());
        return shape;
    }
};

} // namespace

const Format& csv_format() {
    static const CsvFormat format;
    return format;
}

} // namespace feedbench::formats
