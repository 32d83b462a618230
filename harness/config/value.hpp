// One value of a workload file, parsed by the type of its key, before it is set into the Workload.
//
// Thread: any; plain values. Owner: the holder. Units: those of the key; sizes in bytes, times in seconds.
// Errors: a sentence that says what was found and what was expected; the caller adds the place.
// Source: YAML 1.1 scalars as OmegaConf reads DLIO's files (True, yes, 1e6); size suffixes are our own.
#pragma once

#include "harness/types/error.hpp"
#include "harness/types/table_column.hpp"
#include "harness/types/time_distribution.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace YAML {
class Node;
}

namespace feedbench::config {

// columns: a list of columns of a table, each a mapping {name, dtype, size, read} or a name.
enum class KeyType : std::uint8_t {
    boolean,
    integer,
    number,
    text,
    choice,
    integer_list,
    text_list,
    time,
    text_map,
    columns
};

// What a number may be. `minus_one`: -1 is allowed beside the range, as DLIO's "not set".
struct Limits {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    bool minus_one = false;
    bool above_min = false; // the minimum itself is not allowed
};

struct Value {
    KeyType type = KeyType::text;
    bool is_null = false; // the file says null: the key keeps its default
    bool flag = false;
    std::int64_t integer = 0;
    double number = 0;
    std::string text; // text and choice
    std::vector<std::int64_t> integers;
    std::vector<std::string> texts;
    TimeDistribution time;
    std::map<std::string, std::string> entries;
    std::vector<TableColumn> columns;
};

struct Key;

// The value of `key` in `node`; wrong types and numbers out of range are refused.
Expected<Value> parse_value(const Key& key, const YAML::Node& node);
// A number of seconds or DLIO's mapping {mean, stdev, type, min, max, shape, scale, lam}.
Expected<TimeDistribution> parse_time(std::string_view key, const YAML::Node& node);

// Columns of a table, as dataset.parquet.columns lists them.
Expected<std::vector<TableColumn>> parse_columns(std::string_view key, const YAML::Node& node);

std::optional<double> parse_number(std::string_view text);
// As parse_number, and with a suffix: kB, MB, GB, TB (10^3..) and KiB, MiB, GiB, TiB (2^10..).
std::optional<double> parse_size(std::string_view text);
std::optional<bool> parse_boolean(std::string_view text);

// Values as YAML would write them; what these write, parse_value reads back to the same.
std::string yaml_text(bool value);
std::string yaml_text(std::int64_t value);
std::string yaml_text(double value);
std::string yaml_text(const std::string& value); // quoted where YAML would read something else
std::string yaml_text(const std::vector<std::int64_t>& value);
std::string yaml_text(const std::vector<std::string>& value);
std::string yaml_text(const std::map<std::string, std::string>& value);
std::string yaml_text(const TimeDistribution& value);
std::string yaml_text(const std::vector<TableColumn>& value);
std::string yaml_text(const Value& value);

// True for a storage option that may not be written into results: secret_access_key, password, token, ...
bool is_secret(std::string_view option);

} // namespace feedbench::config
