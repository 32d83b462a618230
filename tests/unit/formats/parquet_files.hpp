// Tables for the tests of parquet: columns in a line, and what reading some of them must come to.
//
// Thread: the test's. Owner: the test. Units: bytes. Errors: none. Source: formats/parquet_layout.hpp.
#pragma once

#include "tests/support/format_files.hpp"

#include "formats/parquet_layout.hpp"
#include "formats/registry.hpp"

namespace feedbench::test {

inline const formats::Format& parquet() { return formats::parquet_format(); }

inline FileShape table_of(std::vector<TableColumn> columns, std::uint32_t rows, std::uint32_t row_group_rows = 1024) {
    FileShape shape;
    std::uint64_t bytes = 0;
    for (const TableColumn& column : columns) bytes += row_bytes(column);
    shape.dims = {bytes};
    shape.sample_count = rows;
    shape.row_group_rows = row_group_rows;
    shape.columns = std::make_shared<const std::vector<TableColumn>>(std::move(columns));
    return shape;
}

inline TableColumn column(std::string name, std::string dtype, bool is_read = true, std::uint32_t size = 1) {
    return {.name = std::move(name), .dtype = std::move(dtype), .size = size, .is_read = is_read};
}

// `count` columns f0000, f0001, ... of mixed widths, of which each that `is_read` says is read.
template <class IsRead>
std::vector<TableColumn> many_columns(int count, IsRead is_read) {
    constexpr std::string_view kTypes[] = {"float32", "int8", "float64", "float16", "int64"};
    std::vector<TableColumn> columns;
    for (int i = 0; i < count; ++i)
        columns.push_back(column("f" + std::to_string(10000 + i).substr(1), std::string(kTypes[i % 5]), is_read(i)));
    return columns;
}

inline std::uint64_t sum_of(const std::vector<formats::Extent>& extents) {
    std::uint64_t bytes = 0;
    for (const formats::Extent& extent : extents) bytes += extent.bytes;
    return bytes;
}

} // namespace feedbench::test
