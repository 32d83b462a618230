// Where in a parquet file the columns lie: computed for files that are written here, read from the footer of any other.
//
// Thread: plain values, const after making. Owner: the holder. Units: bytes, file offsets from byte 0; rows.
// Errors: config_error for a shape that cannot be written; format_error with the offset for a file that is damaged.
// Source: github.com/apache/parquet-format, README.md and src/main/thrift/parquet.thrift.
//
// Written here: "PAR1"; row groups of row_group_rows rows, in each the columns one after another, each one chunk of
// data pages (version 1, PLAIN, not compressed, REQUIRED, with CRC) of at most 1 MiB or one row; the footer, its
// length, "PAR1". Types of 8 and 16 bits have no physical type as narrow in parquet: they lie as FIXED_LEN_BYTE_ARRAY,
// as do columns of several values a row, so that a row has the bytes that its columns say. Payload offsets (what
// ContentSource and PayloadVisitor count) are in the order of the file: row group by row group, column by column.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/types/dataset_plan.hpp"
#include "harness/types/error.hpp"

namespace feedbench::formats::parquet {

inline constexpr std::string_view kMagic = "PAR1";
inline constexpr std::uint64_t kEndBytes = 8;           // length of the footer, magic
inline constexpr std::uint64_t kLeastFileBytes = 4 + 8; // and the magic at the head
inline constexpr std::uint64_t kPageBytes = 1 << 20;    // a page has at most as many, or one row
inline constexpr std::uint64_t kLargestFooterBytes = 256 << 20;
inline constexpr std::uint64_t kLargestValueBytes = 0x7fffffff; // sizes of pages are 32-bit

struct Chunk { // a column in a row group
    std::uint64_t offset = 0, bytes = 0;
    bool operator==(const Chunk&) const = default;
};

// A column that is read.
struct ReadColumn {
    std::string name;               // "a", "a.list.element"
    std::uint64_t value_bytes = 0;  // in every row; 0: not of fixed size, or not known
    std::uint64_t bytes_before = 0; // of a row, in the columns before it; counts only where row_bytes is known
    bool is_flat = true;            // as many values as rows
    bool operator==(const ReadColumn&) const = default;
};

// What reading needs to know of a file.
struct FileLayout {
    std::uint64_t file_bytes = 0, footer_begin = 0;
    std::uint64_t row_bytes = 0;           // of all columns, read or not; 0: they are not plain values of fixed size
    std::vector<std::uint32_t> first_rows; // of each row group, and the count of all rows
    std::vector<ReadColumn> columns;       // in the order of the file
    std::vector<Chunk> chunks;             // of the columns that are read: row group by row group

    std::uint32_t row_count() const { return first_rows.back(); }
    std::size_t group_count() const { return first_rows.size() - 1; }
    std::uint32_t group_rows(std::size_t group) const { return first_rows[group + 1] - first_rows[group]; }
    std::size_t group_of(std::uint32_t row) const;
    std::span<const Chunk> group(std::size_t index) const {
        return std::span(chunks).subspan(index * columns.size(), columns.size());
    }
    std::uint64_t payload_offset(std::size_t group, std::size_t column) const {
        return first_rows[group] * row_bytes + group_rows(group) * columns[column].bytes_before;
    }
    bool operator==(const FileLayout&) const = default;
};

// A file that is written here.
class WrittenFile {
  public:
    // The shape has been checked.
    explicit WrittenFile(const FileShape& shape);
    const std::vector<TableColumn>& columns() const { return columns_; }
    std::uint32_t group_count() const { return group_count_; }
    std::uint32_t group_rows(std::uint32_t group) const { return group + 1 < group_count_ ? group_rows_ : last_rows_; }
    Chunk chunk(std::uint32_t group, std::size_t column) const;
    std::uint64_t footer_begin() const;
    std::uint64_t file_bytes() const { return file_bytes_; }
    std::vector<std::byte> footer() const; // with its length and the magic
    FileLayout layout() const;             // of the columns that are read

  private:
    std::vector<TableColumn> columns_;
    std::uint32_t rows_, group_rows_, group_count_, last_rows_;
    std::vector<std::uint64_t> full_, last_; // offsets of chunks in a row group, and its bytes
    std::uint64_t file_bytes_ = 0;
};

Status check_shape(const FileShape& shape);
std::uint32_t rows_in_page(std::uint64_t row_bytes);
std::vector<std::byte> page_header(std::uint32_t rows, std::uint64_t row_bytes, std::uint32_t crc);

// A footer's place by the last 8 bytes of a file; refused where it cannot lie there.
Expected<std::uint64_t> find_footer(std::span<const std::byte> end, std::uint64_t file_bytes, const std::string& path);

struct FooterRequest {
    std::string path; // for messages
    std::uint64_t file_bytes = 0, footer_begin = 0;
    std::span<const std::byte> footer; // without length and magic
    FileShape expected;                // what the plan says; dims empty: rows of any size
};
// The layout of the columns that `expected` says are read, or of all. Every chunk lies between head and footer.
// Refused: a column that is not there or of another width, another count of rows, columns in other files.
Expected<FileLayout> read_footer(const FooterRequest& request);

} // namespace feedbench::formats::parquet
