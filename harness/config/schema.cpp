#include "harness/config/schema.hpp"

#include "harness/config/schema_rows.hpp"

#include <fmt/format.h>
#include <map>

namespace feedbench::config {

namespace {

std::vector<Key> all_rows() {
    std::vector<Key> rows = run_rows();
    for (auto section : {model_rows(), dataset_rows(), reader_rows(), train_rows(), checkpoint_rows()})
        rows.insert(rows.end(), section.begin(), section.end());
    return rows;
}

const std::map<std::string_view, const Key*>& index() {
    static const auto map = [] {
        std::map<std::string_view, const Key*> result;
        for (const Key& key : schema()) result.emplace(key.name, &key);
        return result;
    }();
    return map;
}

std::string listed(std::string_view choices) {
    std::string result;
    for (const char c : choices) result += c == '|' ? std::string(", ") : std::string(1, c);
    return result;
}

std::string range_text(const Limits& limits) {
    std::string text;
    const bool has_min = limits.min > -1e300,
               has_max = limits.max < 2e9; // what the member can hold at most is not worth a word
    if (has_min && has_max && limits.above_min)
        text = fmt::format(" above {} and of at most {}", limits.min, limits.max);
    else if (has_min && has_max)
        text = fmt::format(" from {} to {}", limits.min, limits.max);
    else if (has_min)
        text = limits.above_min ? fmt::format(" above {}", limits.min) : fmt::format(" of at least {}", limits.min);
    else if (has_max)
        text = fmt::format(" of at most {}", limits.max);
    return text + (limits.minus_one ? ", or -1" : "");
}

} // namespace

const std::vector<Key>& schema() {
    static const std::vector<Key> rows = all_rows();
    return rows;
}

const Key* find_key(std::string_view name) {
    const auto found = index().find(name);
    return found == index().end() ? nullptr : found->second;
}

const Key& canonical(const Key& key) { return key.alias_of.empty() ? key : *find_key(key.alias_of); }

bool is_section(std::string_view name) {
    const auto next = index().upper_bound(std::string(name) + ".");
    return next != index().end() && next->first.size() > name.size() && next->first.starts_with(name) &&
           next->first[name.size()] == '.';
}

std::string_view canonical_section(std::string_view name) { return name == "data_reader" ? "reader" : name; }

std::string expectation(const Key& key) {
    switch (key.type) {
    case KeyType::boolean:
        return "true or false";
    case KeyType::integer:
        if (key.limits.min == 0 && key.limits.max == 1) return "0 or 1";
        return (key.unit == "bytes" ? "a whole number of bytes" : "a whole number") + range_text(key.limits);
    case KeyType::number:
        return (key.unit.empty() || key.unit == "%" || key.unit == "fraction"
                    ? "a number"
                    : fmt::format("a number of {}", key.unit == "s" ? "seconds" : key.unit)) +
               range_text(key.limits);
    case KeyType::text:
        return "text";
    case KeyType::choice:
        return key.choices.find('|') == std::string_view::npos ? std::string(key.choices)
                                                               : "one of " + listed(key.choices);
    case KeyType::integer_list:
        return "a list of whole numbers" + range_text(key.limits);
    case KeyType::text_list:
        return "a list of names";
    case KeyType::time:
        return "seconds of at least 0, or a mapping such as {mean: 0.3, stdev: 0.1, type: normal}";
    case KeyType::text_map:
        return "a mapping of names to text";
    case KeyType::columns:
        return "a list of columns such as {name: label, dtype: float32, size: 1, read: true}";
    }
    return {};
}

} // namespace feedbench::config
