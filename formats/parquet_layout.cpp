#include "formats/parquet_layout.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "formats/little_endian.hpp"
#include "formats/shape_check.hpp"
#include "formats/thrift_compact.hpp"

namespace feedbench::formats::parquet {

namespace {

using thrift::Type;

// parquet.thrift: Type, ConvertedType, Encoding, PageType
enum Physical : std::int32_t { kInt32 = 1, kInt64 = 2, kFloat = 4, kDouble = 5, kFixedBytes = 7 };
constexpr std::int32_t kUint32 = 13, kUint64 = 14, kPlain = 0, kRle = 3;

Physical physical_type(const TableColumn& column) {
    if (column.size > 1) return kFixedBytes;
    if (column.dtype == "int32" || column.dtype == "uint32") return kInt32;
    if (column.dtype == "int64" || column.dtype == "uint64") return kInt64;
    if (column.dtype == "float32" || column.dtype == "list") return kFloat;
    return column.dtype == "float64" ? kDouble : kFixedBytes;
}

std::vector<TableColumn> columns_of(const FileShape& shape) {
    if (shape.columns && !shape.columns->empty()) return *shape.columns;
    return {{.name = "data", .dtype = "binary", .size = static_cast<std::uint32_t>(shape.sample_bytes())}};
}

void write_column(thrift::Writer& out, const TableColumn& column) {
    out.begin_element();
    const Physical type = physical_type(column);
    out.i32(1, type);
    if (type == kFixedBytes) out.i32(2, static_cast<std::int32_t>(row_bytes(column)));
    out.i32(3, 0); // REQUIRED
    out.text(4, column.name);
    if (column.size == 1 && column.dtype == "uint32") out.i32(6, kUint32);
    if (column.size == 1 && column.dtype == "uint64") out.i32(6, kUint64);
    if (column.size == 1 && column.dtype == "float16") { // LogicalType FLOAT16
        out.begin_struct(10);
        out.begin_struct(15);
        out.end_struct();
        out.end_struct();
    }
    out.end_struct();
}

// Bytes of a chunk: its pages with their headers. A header's length does not depend on its CRC.
std::uint64_t chunk_bytes(std::uint32_t rows, std::uint64_t width) {
    const std::uint32_t in_page = rows_in_page(width), last = rows % in_page;
    std::uint64_t bytes = rows * width + rows / in_page * page_header(in_page, width, 0).size();
    if (last > 0) bytes += page_header(last, width, 0).size();
    return bytes;
}

std::vector<std::uint64_t> chunk_offsets(const std::vector<TableColumn>& columns, std::uint32_t rows) {
    std::vector<std::uint64_t> offsets{0};
    for (const TableColumn& column : columns) offsets.push_back(offsets.back() + chunk_bytes(rows, row_bytes(column)));
    return offsets;
}

} // namespace

std::size_t FileLayout::group_of(std::uint32_t row) const {
    return static_cast<std::size_t>(std::upper_bound(first_rows.begin() + 1, first_rows.end(), row) -
                                    first_rows.begin() - 1);
}

std::uint32_t rows_in_page(std::uint64_t row_bytes) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kPageBytes / row_bytes));
}

std::vector<std::byte> page_header(std::uint32_t rows, std::uint64_t row_bytes, std::uint32_t crc) {
    const auto bytes = static_cast<std::int32_t>(rows * row_bytes);
    thrift::Writer out;
    out.i32(1, 0); // DATA_PAGE
    out.i32(2, bytes);
    out.i32(3, bytes);
    out.i32_of_fixed_length(4, static_cast<std::int32_t>(crc));
    out.begin_struct(5);
    out.i32(1, static_cast<std::int32_t>(rows));
    out.i32(2, kPlain);
    out.i32(3, kRle); // of levels, of which REQUIRED columns have none
    out.i32(4, kRle);
    out.end_struct();
    out.stop();
    return out.take();
}

WrittenFile::WrittenFile(const FileShape& shape)
    : columns_(columns_of(shape)), rows_(shape.sample_count), group_rows_(std::min(shape.row_group_rows, rows_)),
      group_count_((rows_ - 1) / group_rows_ + 1), last_rows_(rows_ - (group_count_ - 1) * group_rows_),
      full_(chunk_offsets(columns_, group_rows_)),
      last_(last_rows_ == group_rows_ ? full_ : chunk_offsets(columns_, last_rows_)) {
    file_bytes_ = footer_begin() + footer().size();
}

Chunk WrittenFile::chunk(std::uint32_t group, std::size_t column) const {
    const std::vector<std::uint64_t>& offsets = group + 1 < group_count_ ? full_ : last_;
    return {kMagic.size() + group * full_.back() + offsets[column], offsets[column + 1] - offsets[column]};
}

std::uint64_t WrittenFile::footer_begin() const {
    return kMagic.size() + (group_count_ - 1) * full_.back() + last_.back();
}

std::vector<std::byte> WrittenFile::footer() const {
    thrift::Writer out;
    out.i32(1, 1); // version
    out.begin_list(2, Type::struct_, columns_.size() + 1);
    out.begin_element();
    out.text(4, "schema");
    out.i32(5, static_cast<std::int32_t>(columns_.size()));
    out.end_struct();
    for (const TableColumn& column : columns_) write_column(out, column);
    out.i64(3, rows_);
    out.begin_list(4, Type::struct_, group_count_);
    for (std::uint32_t group = 0; group < group_count_; ++group) {
        const std::uint32_t rows = group_rows(group);
        std::uint64_t group_bytes = 0;
        out.begin_element();
        out.begin_list(1, Type::struct_, columns_.size());
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const Chunk place = chunk(group, c);
            const auto bytes = static_cast<std::int64_t>(place.bytes);
            group_bytes += place.bytes;
            out.begin_element();
            out.i64(2, static_cast<std::int64_t>(place.offset));
            out.begin_struct(3);
            out.i32(1, physical_type(columns_[c]));
            out.begin_list(2, Type::i32, 1);
            out.element(kPlain);
            out.begin_list(3, Type::binary, 1);
            out.element(std::string_view(columns_[c].name));
            out.i32(4, 0); // not compressed
            out.i64(5, rows);
            out.i64(6, bytes);
            out.i64(7, bytes);
            out.i64(9, static_cast<std::int64_t>(place.offset));
            out.end_struct();
            out.end_struct();
        }
        out.i64(2, static_cast<std::int64_t>(group_bytes));
        out.i64(3, rows);
        out.end_struct();
    }
    out.text(6, "feedbench");
    out.stop();
    std::vector<std::byte> bytes = out.take();
    append_le(bytes, static_cast<std::uint32_t>(bytes.size()));
    append_text(bytes, kMagic);
    return bytes;
}

FileLayout WrittenFile::layout() const {
    FileLayout layout;
    layout.file_bytes = file_bytes_;
    layout.footer_begin = footer_begin();
    std::vector<std::size_t> places;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].is_read) {
            places.push_back(c);
            layout.columns.push_back(
                {.name = columns_[c].name, .value_bytes = row_bytes(columns_[c]), .bytes_before = layout.row_bytes});
        }
        layout.row_bytes += row_bytes(columns_[c]);
    }
    layout.chunks.reserve(places.size() * group_count_);
    for (std::uint32_t group = 0; group < group_count_; ++group) {
        layout.first_rows.push_back(group * group_rows_);
        for (const std::size_t c : places) layout.chunks.push_back(chunk(group, c));
    }
    layout.first_rows.push_back(rows_);
    return layout;
}

Status check_shape(const FileShape& shape) {
    if (const Status status = check_plain_shape("parquet", shape); !status) return status;
    if (shape.row_group_rows == 0)
        return config_error(
            "parquet file: a row group of 0 rows, expected at least 1 (dataset.parquet.row_group_size)");
    std::uint64_t sum = 0, name_bytes = 0, read = 0;
    std::set<std::string_view> names;
    const std::vector<TableColumn> columns = columns_of(shape);
    for (const TableColumn& column : columns) {
        const std::string who = "parquet file: column '" + column.name + "' ";
        const std::uint64_t bytes = row_bytes(column);
        if (bytes == 0)
            return config_error(who + "is of type '" + column.dtype + "', size " + std::to_string(column.size) +
                                "; expected a type of fixed width (" + std::string(kColumnTypes) + ") and size >= 1");
        if (bytes > kLargestValueBytes)
            return config_error(who + "has " + std::to_string(bytes) + " bytes a row, expected at most 2147483647");
        if (column.name.empty() || !names.insert(column.name).second)
            return config_error(who + "has no name of its own");
        sum += bytes;
        name_bytes += column.name.size();
        read += column.is_read ? 1 : 0;
    }
    if (read == 0) return config_error("parquet file: no column is read, expected at least one with read: true");
    if (sum != shape.sample_bytes())
        return config_error("parquet file: the columns have " + std::to_string(sum) + " bytes a row, the sample " +
                            std::to_string(shape.sample_bytes()));
    const std::uint64_t groups = (shape.sample_count - 1) / shape.row_group_rows + 1;
    constexpr std::uint64_t kChunkBytes = 56; // of a chunk's entry, at most, without the name
    if (groups * (columns.size() * kChunkBytes + name_bytes) > kLargestFooterBytes)
        return config_error("parquet file: " + std::to_string(groups) + " row groups of " +
                            std::to_string(columns.size()) +
                            " columns make a footer of more than 256 MiB: use a larger dataset.parquet.row_group_size");
    return {};
}

Expected<std::uint64_t> find_footer(std::span<const std::byte> end, std::uint64_t file_bytes, const std::string& path) {
    const std::span<const std::byte> last = end.last(kEndBytes);
    const auto offset = static_cast<std::int64_t>(file_bytes - kEndBytes);
    if (as_text(last.subspan(4)) == "PARE")
        return format_error(path, "parquet: the footer is encrypted, which cannot be read", offset + 4);
    if (as_text(last.subspan(4)) != kMagic)
        return format_error(path, "parquet: the file does not end with PAR1: cut short, or no parquet file",
                            offset + 4);
    const auto bytes = load_le<std::uint32_t>(last, 0);
    if (bytes == 0 || bytes > file_bytes - kLeastFileBytes)
        return format_error(path,
                            "parquet: a footer of " + std::to_string(bytes) + " bytes is said in a file of " +
                                std::to_string(file_bytes),
                            offset);
    if (bytes > kLargestFooterBytes)
        return format_error(
            path, "parquet: a footer of " + std::to_string(bytes) + " bytes, expected at most 268435456", offset);
    return file_bytes - kEndBytes - bytes;
}

} // namespace feedbench::formats::parquet
