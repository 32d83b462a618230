// A csv file that passes by in pieces of any size: a line of column names, then a line a sample. Fields are counted;
// the numbers in them are read only where somebody looks at the content.
//
// Thread: any; one user an object. Owner: the reader; the request outlives it. Units: bytes.
// Errors: format_error naming the offset, found and expected; the visitor's own.
// Source: reference.md section 1 (csv: rows of values); the layout is that of a pandas DataFrame's to_csv: the first
// field of a line is the row's number, and no name stands above it.
#pragma once

#include "formats/format.hpp"

namespace feedbench::formats {

class CsvPass {
  public:
    explicit CsvPass(const ReadRequest& request) : request_(request) {}
    Status feed(std::span<const std::byte> bytes);
    // After the file's last byte, which need not be a line's end. finish(): as many rows as were planned.
    Status end_of_rows();
    Status finish();
    std::uint64_t row_count() const { return row_count_; }
    std::uint64_t value_count() const { return columns_; } // in a row, without its number

  private:
    Status take(std::span<const std::byte> text); // of one line
    Status end_line();
    Status read_numbers(std::span<const std::byte> text);
    Status end_field();
    Status show();

    const ReadRequest& request_;
    std::uint64_t position_ = 0;
    std::uint64_t line_at_ = 0, line_bytes_ = 0, commas_ = 0; // of the current line
    std::uint64_t columns_ = 0, row_count_ = 0;
    bool has_header_ = false;
    // Verify::content
    std::uint64_t value_ = 0, field_ = 0, payload_bytes_ = 0;
    int digits_ = 0;
    std::vector<std::byte> values_; // not shown yet
};

} // namespace feedbench::formats
