// A column of a columnar format, as a workload describes it.
//
// Thread: plain values. Owner: the holder. Units: bytes. Errors: none; 0 bytes for a type that has no fixed width.
// Source: the reference generator's dataset.parquet.columns: name, dtype, size (values a row), read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace feedbench {

struct TableColumn {
    std::string name = "data";
    std::string dtype = "float32";
    std::uint32_t size = 1; // values in a row
    bool is_read = true;    // by training; false: the column lies in the file and is left there
    bool operator==(const TableColumn&) const = default;
};

inline constexpr std::string_view kColumnTypes = // "list" is float32, "binary" bytes, as the reference has them
    "uint8|int8|bool|binary|uint16|int16|float16|uint32|int32|float32|list|uint64|int64|float64";

// Bytes of one value; 0: unknown, or a type of no fixed width (string). Example: "float16" has 2.
constexpr std::uint32_t column_value_bytes(std::string_view dtype) {
    if (dtype == "uint8" || dtype == "int8" || dtype == "bool" || dtype == "binary") return 1;
    if (dtype == "uint16" || dtype == "int16" || dtype == "float16") return 2;
    if (dtype == "uint32" || dtype == "int32" || dtype == "float32" || dtype == "list") return 4;
    if (dtype == "uint64" || dtype == "int64" || dtype == "float64") return 8;
    return 0;
}
// Bytes of a column in one row.
constexpr std::uint64_t row_bytes(const TableColumn& column) {
    return std::uint64_t{column_value_bytes(column.dtype)} * column.size;
}

} // namespace feedbench
