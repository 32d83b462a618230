// The list of columns of a table: parsed, and written so that it reads back to the same.
#include "harness/config/derive.hpp"
#include "harness/config/schema.hpp"

#include <fmt/format.h>
#include <set>
#include <yaml-cpp/yaml.h>

namespace feedbench::config {

namespace {

constexpr std::size_t kColumnsMost = 10'000;

Expected<TableColumn> parse_column(std::string_view key, std::size_t index, const YAML::Node& node) {
    TableColumn column;
    const std::string who = fmt::format("{}[{}]", key, index);
    if (node.IsScalar()) { // a name alone, as the reference takes it
        column.name = node.Scalar();
        return column;
    }
    if (!node.IsMap())
        return config_error(who + " is " + (node.IsSequence() ? "a list" : "empty") +
                            "; expected a mapping such as {name: label, dtype: float32}, or a name");
    for (const auto& entry : node) {
        if (!entry.first.IsScalar() || !entry.second.IsScalar())
            return config_error(who + " holds something that is not plain text; expected name, dtype, size and read");
        const std::string& name = entry.first.Scalar();
        const std::string& text = entry.second.Scalar();
        if (name == "name") {
            column.name = text;
        } else if (name == "dtype") {
            column.dtype = text;
        } else if (name == "size") {
            const auto size = parse_number(text);
            if (!size || *size < 1 || *size > 0x7fffffff ||
                *size != static_cast<double>(static_cast<std::int64_t>(*size)))
                return config_error(fmt::format("{}.size is '{}'; expected a whole number of at least 1", who, text));
            column.size = static_cast<std::uint32_t>(*size);
        } else if (name == "read") {
            const auto read = parse_boolean(text);
            if (!read) return config_error(fmt::format("{}.read is '{}'; expected true or false", who, text));
            column.is_read = *read;
        } else {
            const std::string nearest = nearest_of(name, {"name", "dtype", "size", "read"});
            return config_error(
                fmt::format("unknown key {}.{}; {}", who, name,
                            nearest.empty() ? "expected name, dtype, size and read" : "did you mean " + nearest + "?"));
        }
    }
    if (column_value_bytes(column.dtype) != 0) return column;
    std::string known;
    for (const char c : kColumnTypes) known += c == '|' ? std::string(", ") : std::string(1, c);
    return config_error(fmt::format("{}.dtype is '{}'; expected a type of fixed width: {}", who, column.dtype, known));
}

} // namespace

Expected<std::vector<TableColumn>> parse_columns(std::string_view key, const YAML::Node& node) {
    if (!node.IsSequence())
        return config_error(
            fmt::format("{} is {}; expected a list of columns such as [{{name: label, dtype: float32}}]", key,
                        node.IsMap() ? "a mapping" : "'" + node.Scalar() + "'"));
    if (node.size() > kColumnsMost)
        return config_error(fmt::format("{} has {} columns; expected at most {}", key, node.size(), kColumnsMost));
    std::vector<TableColumn> columns;
    std::set<std::string> names;
    for (const auto& one : node) {
        auto column = parse_column(key, columns.size(), one);
        if (!column) return column.error();
        if (column->name.empty() || !names.insert(column->name).second)
            return config_error(fmt::format("{}[{}].name is '{}'; expected a name that no other column has", key,
                                            columns.size(), column->name));
        columns.push_back(std::move(*column));
    }
    return columns;
}

std::string why_no_table(const DatasetSection& d) {
    if (d.format != "parquet")
        return fmt::format("dataset.parquet.columns are given, but dataset.format is {}", d.format);
    if (!d.record_dims.empty() || d.record_length_bytes_stdev > 0)
        return "dataset.parquet.columns say what a row holds; dataset.record_dims and record_length_bytes_stdev cannot "
               "say it, too";
    for (const TableColumn& column : d.parquet_columns)
        if (column.is_read) return {};
    return "dataset.parquet.columns are all read: false; expected at least one that is read";
}

std::string yaml_text(const std::vector<TableColumn>& value) {
    std::string text = "[";
    for (const TableColumn& column : value)
        text += fmt::format("{}{{name: {}, dtype: {}, size: {}, read: {}}}", text.size() > 1 ? ", " : "",
                            yaml_text(column.name), column.dtype, column.size, yaml_text(column.is_read));
    return text + "]";
}

} // namespace feedbench::config
