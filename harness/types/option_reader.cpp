#include "harness/types/option_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/types/option_values.hpp"

namespace feedbench {

namespace {

Error refused(std::string_view key, const std::string& why, const std::string& uri = {}) {
    return config_error("storage option '" + std::string(key) + "': " + why, uri);
}

Expected<bool> parse_boolean(std::string_view text) {
    if (text == "true" || text == "True") return true; // YAML, as DLIO writes it
    if (text == "false" || text == "False") return false;
    return config_error("'" + std::string(text) + "' is neither true nor false");
}

Expected<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size())
        return config_error("'" + std::string(text) + "' is not an integer");
    return number;
}

template <class T>
Status outcome(const Option& option, const Expected<T>& parsed) {
    if (parsed) return {};
    return refused(option.key, parsed.error().message);
}

std::string shortest(double value) {
    std::array<char, 40> text{};
    const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} ? std::string(text.data(), end) : std::to_string(value);
}

} // namespace

Status check_option(const Option& option, const std::string& value) {
    switch (option.type) {
    case OptionType::boolean:
        return outcome(option, parse_boolean(value));
    case OptionType::integer:
        return outcome(option, parse_integer(value));
    case OptionType::number:
        return outcome(option, parse_number(value));
    case OptionType::size_bytes:
        return outcome(option, parse_size_bytes(value));
    case OptionType::duration_s:
        return outcome(option, parse_duration_ns(value));
    case OptionType::text:
        break;
    }
    return {};
}

std::string OptionReader::text(std::string_view key) const {
    if (const auto found = given_.find(std::string(key)); found != given_.end()) return found->second;
    const auto row = std::find_if(table_.begin(), table_.end(), [&](const Option& o) { return o.key == key; });
    return row == table_.end() ? std::string() : std::string(row->default_value);
}

template <class T>
T OptionReader::read(std::string_view key, Expected<T> (*parse)(std::string_view)) {
    const auto value = parse(text(key));
    if (value) return *value;
    refuse(key, value.error().message);
    return T{};
}

bool OptionReader::boolean(std::string_view key) { return read<bool>(key, parse_boolean); }

std::int64_t OptionReader::integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const auto value = read<std::int64_t>(key, parse_integer);
    if (value < least || value > most) refuse_range(key, std::to_string(least), std::to_string(most), "");
    return std::clamp(value, least, most);
}

double OptionReader::number(std::string_view key, double least, double most) {
    const auto value = read<double>(key, parse_number);
    if (value < least || value > most) refuse_range(key, shortest(least), shortest(most), "");
    return std::clamp(value, least, most);
}

std::uint64_t OptionReader::bytes(std::string_view key, std::uint64_t least, std::uint64_t most) {
    const auto value = read<std::uint64_t>(key, parse_size_bytes);
    if (value < least || value > most) refuse_range(key, std::to_string(least), std::to_string(most), " bytes");
    return std::clamp(value, least, most);
}

std::uint64_t OptionReader::duration_ns(std::string_view key, std::uint64_t least_ns) {
    const auto value = read<std::uint64_t>(key, parse_duration_ns);
    if (value < least_ns) {
        constexpr std::uint64_t kNsOfSecond = 1'000'000'000;
        const bool in_seconds = least_ns % kNsOfSecond == 0;
        refuse(key,
               "'" + text(key) + "' is shorter than " +
                   (in_seconds ? std::to_string(least_ns / kNsOfSecond) + " s" : std::to_string(least_ns) + " ns"));
    }
    return std::max(value, least_ns);
}

std::size_t OptionReader::choice(std::string_view key, std::span<const std::string_view> names) {
    const std::string value = text(key);
    std::string all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == value) return i;
        all += (all.empty() ? "" : ", ") + std::string(names[i]);
    }
    refuse(key, "'" + value + "' is none of " + all);
    return 0;
}

void OptionReader::refuse(std::string_view key, const std::string& why) {
    if (!error_) error_ = refused(key, why, uri_);
}

void OptionReader::refuse_range(std::string_view key, const std::string& least, const std::string& most,
                                const char* unit) {
    refuse(key, "'" + text(key) + "' is outside " + least + " to " + most + unit);
}

} // namespace feedbench
