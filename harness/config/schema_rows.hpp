// How a row of the schema is written down: one function a type, and field<> that ties a row to a member of the
// Workload.
//
// Thread: used while the table is built, once. Owner: the table. Units: in the row. Errors: none.
#pragma once

#include "harness/config/schema.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace feedbench::config {

// One function a section file, called by schema() in this order.
std::vector<Key> model_rows();
std::vector<Key> run_rows(); // feedbench, framework, workflow, storage, output, metric, profiling
std::vector<Key> dataset_rows();
std::vector<Key> reader_rows();
std::vector<Key> train_rows(); // train, evaluation
std::vector<Key> checkpoint_rows();

struct Binding {
    void (*set)(Workload&, const Value&) = nullptr;
    std::string (*get)(const Workload&) = nullptr;
    double max = std::numeric_limits<double>::infinity(); // what the member can hold
};

template <class T>
void assign(T& place, const Value& value) {
    if constexpr (std::is_same_v<T, bool>)
        place = value.flag;
    else if constexpr (std::is_integral_v<T>)
        place = static_cast<T>(value.integer);
    else if constexpr (std::is_floating_point_v<T>)
        place = value.number;
    else if constexpr (std::is_same_v<T, std::string>)
        place = value.text;
    else if constexpr (std::is_same_v<T, TimeDistribution>)
        place = value.time;
    else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>)
        place.assign(value.integers.begin(), value.integers.end());
    else if constexpr (std::is_same_v<T, std::vector<TableColumn>>)
        place = value.columns;
    else
        place = value.entries;
}

template <class T>
std::string text_of(const T& place) {
    if constexpr (std::is_same_v<T, bool>)
        return yaml_text(place);
    else if constexpr (std::is_integral_v<T>)
        return yaml_text(static_cast<std::int64_t>(place));
    else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>)
        return yaml_text(std::vector<std::int64_t>(place.begin(), place.end()));
    else
        return yaml_text(place);
}

template <class T>
constexpr double largest() {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8)
        return static_cast<double>(std::numeric_limits<T>::max());
    else
        return std::numeric_limits<double>::infinity();
}

// field<&Workload::reader, &ReaderSection::batch_size>
template <auto Section, auto Member>
constexpr Binding bind_field() {
    using Place = std::remove_cvref_t<decltype((std::declval<Workload&>().*Section).*Member)>;
    return {.set = [](Workload& w, const Value& v) { assign((w.*Section).*Member, v); },
            .get = [](const Workload& w) { return text_of((w.*Section).*Member); },
            .max = largest<Place>()};
}
template <auto Section, auto Member>
inline constexpr Binding field = bind_field<Section, Member>();

// field_of<&Workload::framework>, for what lies in no section.
template <auto Member>
inline constexpr Binding field_of = {.set = [](Workload& w, const Value& v) { assign(w.*Member, v); },
                                     .get = [](const Workload& w) { return text_of(w.*Member); }};

inline constexpr Binding nowhere = {}; // a key without effect keeps its text in Workload::values only

constexpr Limits at_least(double min) { return {.min = min}; }
constexpr Limits above(double min) { return {.min = min, .above_min = true}; }
constexpr Limits between(double min, double max) { return {.min = min, .max = max}; }
constexpr Limits at_least_or_minus_one(double min) { return {.min = min, .minus_one = true}; }

inline Key make_key(std::string_view name, KeyType type, std::string_view default_value, Binding binding,
                    std::string_view help) {
    Key key;
    key.name = name;
    key.type = type;
    key.default_value = default_value;
    key.help = help;
    key.set = binding.set;
    key.get = binding.get;
    key.limits.max = binding.max;
    return key;
}

inline Key with_limits(Key key, std::string_view unit, Limits limits) {
    key.unit = unit;
    limits.max = std::min(limits.max, key.limits.max);
    key.limits = limits;
    return key;
}

inline Key boolean(std::string_view name, std::string_view default_value, Binding binding, std::string_view help) {
    return make_key(name, KeyType::boolean, default_value, binding, help);
}
inline Key integer(std::string_view name, std::string_view unit, std::string_view default_value, Limits limits,
                   Binding binding, std::string_view help) {
    return with_limits(make_key(name, KeyType::integer, default_value, binding, help), unit, limits);
}
inline Key number(std::string_view name, std::string_view unit, std::string_view default_value, Limits limits,
                  Binding binding, std::string_view help) {
    return with_limits(make_key(name, KeyType::number, default_value, binding, help), unit, limits);
}
inline Key time(std::string_view name, std::string_view default_value, Binding binding, std::string_view help) {
    Key key = make_key(name, KeyType::time, default_value, binding, help);
    key.unit = "s";
    return key;
}
inline Key text(std::string_view name, std::string_view default_value, Binding binding, std::string_view help) {
    Key key = make_key(name, KeyType::text, default_value, binding, help);
    key.nullable = true;
    return key;
}
inline Key choice(std::string_view name, std::string_view choices, std::string_view default_value, Binding binding,
                  std::string_view help, std::string_view also_known = {}) {
    Key key = make_key(name, KeyType::choice, default_value, binding, help);
    key.choices = choices;
    key.also_known = also_known;
    return key;
}
inline Key list(std::string_view name, KeyType type, Limits limits, Binding binding, std::string_view help) {
    Key key = with_limits(make_key(name, type, "[]", binding, help), "", limits);
    key.nullable = true;
    return key;
}
inline Key alias(std::string_view name, std::string_view canonical_name) {
    Key key;
    key.name = name;
    key.alias_of = canonical_name;
    return key;
}
inline Key without_effect(Key key, std::string_view why) {
    key.effect = Effect::none;
    key.why = why;
    return key;
}
inline Key refused(Key key, std::string_view why) {
    key.effect = Effect::refused;
    key.why = why;
    return key;
}
inline Key nullable(Key key) {
    key.nullable = true;
    return key;
}

} // namespace feedbench::config
