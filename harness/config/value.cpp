#include "harness/config/value.hpp"

#include "harness/config/schema.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <yaml-cpp/yaml.h>

namespace feedbench::config {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

// What stands there, for messages.
std::string found(const YAML::Node& node) {
    if (!node.IsDefined() || node.IsNull()) return "empty";
    if (node.IsSequence()) return "a list";
    if (node.IsMap()) return "a mapping";
    return "'" + node.Scalar() + "'";
}

Error wrong(const Key& key, const YAML::Node& node) {
    return config_error(std::string(key.name) + " is " + found(node) + "; expected " + expectation(key));
}

bool is_listed(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const auto bar = list.find('|');
        if (list.substr(0, bar) == word) return true;
        if (bar == std::string_view::npos) break;
        list.remove_prefix(bar + 1);
    }
    return false;
}

bool is_allowed(const Limits& limits, double number) {
    if (limits.minus_one && number == -1) return true;
    return number <= limits.max && (limits.above_min ? number > limits.min : number >= limits.min);
}

// 2^63 does not fit any more, and from 2^53 on a number with a point or exponent may not be the one that was meant.
std::optional<std::int64_t> exact_integer(std::string_view text, std::optional<double> number) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error == std::errc{} && end == text.data() + text.size()) return integer;
    if (!number || std::abs(*number) > 0x1p53 || *number != std::floor(*number)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::optional<double> number_of(const Key& key, const std::string& text) {
    return key.unit == "bytes" ? parse_size(text) : parse_number(text);
}

bool read_scalar(const Key& key, const YAML::Node& node, Value& value) {
    const std::string& text = node.Scalar();
    switch (key.type) {
    case KeyType::boolean: {
        const auto flag = parse_boolean(text);
        value.flag = flag.value_or(false);
        return flag.has_value();
    }
    case KeyType::integer: {
        const auto integer = exact_integer(text, number_of(key, text));
        value.integer = integer.value_or(0);
        return integer && is_allowed(key.limits, static_cast<double>(*integer));
    }
    case KeyType::number: {
        const auto number = number_of(key, text);
        value.number = number.value_or(0);
        return number && is_allowed(key.limits, *number);
    }
    case KeyType::choice: {
        value.text = text;
        // PyYAML reads a bare off as false, and tools that dump configurations write it so.
        if (is_listed(key.choices, "off") && !is_listed(key.choices, text) && parse_boolean(text) == false)
            value.text = "off";
        return is_listed(key.choices, value.text) || is_listed(key.also_known, value.text);
    }
    default:
        value.text = text;
        return true;
    }
}

Status read_entries(const Key& key, const YAML::Node& node, const std::string& prefix,
                    std::map<std::string, std::string>& entries) {
    for (const auto& entry : node) {
        if (!entry.first.IsScalar()) return config_error(std::string(key.name) + " has a name that is not plain text");
        const std::string name = prefix + entry.first.Scalar();
        // An anchor can hold itself: no option lies this deep.
        if (std::count(name.begin(), name.end(), '.') > 16)
            return config_error(std::string(key.name) + " is nested more than 16 deep");
        if (entry.second.IsMap()) {
            if (auto status = read_entries(key, entry.second, name + ".", entries); !status) return status;
        } else if (entry.second.IsSequence()) {
            return config_error(std::string(key.name) + "." + name + " is a list; expected text");
        } else if (!entries.emplace(name, entry.second.IsNull() ? "" : entry.second.Scalar()).second) {
            return config_error(std::string(key.name) + "." + name + " is set twice");
        }
    }
    return {};
}

Expected<Value> read_list(const Key& key, const YAML::Node& node, Value value) {
    // A single value stands for a list of one, as DLIO takes it for iostat_devices.
    std::vector<YAML::Node> items;
    if (node.IsScalar())
        items.push_back(node);
    else if (node.IsSequence())
        for (const auto& item : node) items.push_back(item);
    else
        return wrong(key, node);
    for (const auto& item : items) {
        if (!item.IsScalar()) return wrong(key, node);
        value.texts.push_back(item.Scalar());
        if (key.type == KeyType::text_list) continue;
        const auto integer = exact_integer(item.Scalar(), parse_number(item.Scalar()));
        if (!integer || !is_allowed(key.limits, static_cast<double>(*integer))) {
            if (node.IsScalar()) return wrong(key, node);
            return config_error(std::string(key.name) + " holds '" + item.Scalar() + "'; expected " + expectation(key));
        }
        value.integers.push_back(*integer);
    }
    return value;
}

} // namespace

std::optional<double> parse_number(std::string_view text) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
    return number;
}

std::optional<double> parse_size(std::string_view text) {
    struct Suffix {
        std::string_view name;
        double factor;
    };
    constexpr std::array kSuffixes{Suffix{"KiB", 0x1p10}, Suffix{"MiB", 0x1p20}, Suffix{"GiB", 0x1p30},
                                   Suffix{"TiB", 0x1p40}, Suffix{"kB", 1e3},     Suffix{"KB", 1e3},
                                   Suffix{"MB", 1e6},     Suffix{"GB", 1e9},     Suffix{"TB", 1e12}};
    for (const auto& suffix : kSuffixes) {
        if (!text.ends_with(suffix.name)) continue;
        text.remove_suffix(suffix.name.size());
        while (text.ends_with(' ')) text.remove_suffix(1);
        const auto number = parse_number(text);
        return number ? std::optional(*number * suffix.factor) : std::nullopt;
    }
    return parse_number(text);
}

std::optional<bool> parse_boolean(std::string_view text) {
    const std::string word = lower(text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    return std::nullopt;
}

Expected<Value> parse_value(const Key& key, const YAML::Node& node) {
    Value value;
    value.type = key.type;
    if (!node.IsDefined() || node.IsNull()) {
        if (!key.nullable) return wrong(key, node);
        value.is_null = true;
        return value;
    }
    if (node.IsScalar() && node.Scalar().find("${") != std::string::npos)
        return config_error(std::string(key.name) + " is '" + node.Scalar() +
                            "'; interpolation is not resolved here, write the value itself");
    switch (key.type) {
    case KeyType::time: {
        auto time = parse_time(key.name, node);
        if (!time) return time.error();
        value.time = *time;
        return value;
    }
    case KeyType::columns: {
        auto columns = parse_columns(key.name, node);
        if (!columns) return columns.error();
        value.columns = std::move(*columns);
        return value;
    }
    case KeyType::text_map:
        if (!node.IsMap()) return wrong(key, node);
        if (auto status = read_entries(key, node, "", value.entries); !status) return status.error();
        return value;
    case KeyType::integer_list:
    case KeyType::text_list:
        return read_list(key, node, std::move(value));
    default:
        if (!node.IsScalar() || !read_scalar(key, node, value)) return wrong(key, node);
        return value;
    }
}

} // namespace feedbench::config
