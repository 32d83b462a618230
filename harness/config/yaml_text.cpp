// Values as YAML text: what is written here is read back to the same value, by our parser and by Python's.
#include "harness/config/value.hpp"

#include <fmt/format.h>

namespace feedbench::config {

namespace {

bool is_plain(const std::string& text) {
    if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
    // Words and numbers that YAML would take for something else than text.
    if (parse_boolean(text) || text == "null" || text == "Null" || text == "NULL" || text == "~") return false;
    if (parse_number(text)) return false;
    constexpr std::string_view kStarts = "-?:,[]{}#&*!|>'\"%@`=<";
    if (kStarts.find(text.front()) != std::string_view::npos) return false;
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
            std::string_view("[]{},#").find(c) != std::string_view::npos)
            return false;
    return text.find(": ") == std::string::npos && text.back() != ':';
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += std::string("\\") + c;
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            result += c;
    }
    return result + "\"";
}

template <class List>
std::string list_text(const List& list) {
    std::string result = "[";
    for (const auto& item : list) result += (result.size() > 1 ? ", " : "") + yaml_text(item);
    return result + "]";
}

} // namespace

std::string yaml_text(bool value) { return value ? "true" : "false"; }
std::string yaml_text(std::int64_t value) { return std::to_string(value); }
std::string yaml_text(double value) { return fmt::format("{}", value); } // the shortest that reads back to the same
std::string yaml_text(const std::string& value) { return is_plain(value) ? value : quoted(value); }
std::string yaml_text(const std::vector<std::int64_t>& value) { return list_text(value); }
std::string yaml_text(const std::vector<std::string>& value) { return list_text(value); }

std::string yaml_text(const std::map<std::string, std::string>& value) {
    std::string result = "{";
    for (const auto& [name, text] : value)
        result += (result.size() > 1 ? ", " : "") + yaml_text(name) + ": " + yaml_text(text);
    return result + "}";
}

bool is_secret(std::string_view option) {
    for (const std::string_view word : {"secret", "password", "token", "credential"})
        if (option.find(word) != std::string_view::npos) return true;
    return false;
}

std::string yaml_text(const Value& value) {
    if (value.is_null) return "null";
    switch (value.type) {
    case KeyType::boolean:
        return yaml_text(value.flag);
    case KeyType::integer:
        return yaml_text(value.integer);
    case KeyType::number:
        return yaml_text(value.number);
    case KeyType::text:
    case KeyType::choice:
        return yaml_text(value.text);
    case KeyType::integer_list:
        return yaml_text(value.integers);
    case KeyType::text_list:
        return yaml_text(value.texts);
    case KeyType::time:
        return yaml_text(value.time);
    case KeyType::text_map:
        return yaml_text(value.entries);
    case KeyType::columns:
        return yaml_text(value.columns);
    }
    return "null";
}

} // namespace feedbench::config
