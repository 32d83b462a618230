#include "reporters/result_json.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "reporters/result_fields.hpp"

namespace feedbench::reporters {
namespace {

using Json = nlohmann::ordered_json; // keys in the order of result_fields.hpp: what matters comes first

// Version 2 lacks what a checkpoint has had since; version 3 lacks the storages. Nothing else.
constexpr int kOldestReadVersion = 2;

constexpr std::array<std::pair<ErrorKind, std::string_view>, 8> kKinds{{{ErrorKind::usage, "usage"},
                                                                        {ErrorKind::config, "config"},
                                                                        {ErrorKind::storage, "storage"},
                                                                        {ErrorKind::format, "format"},
                                                                        {ErrorKind::stalled, "stalled"},
                                                                        {ErrorKind::invalid, "invalid"},
                                                                        {ErrorKind::interrupted, "interrupted"},
                                                                        {ErrorKind::internal, "internal"}}};

// ---- writing ----
struct Writer {
    Json& object;
    template <class T>
    void operator()(const char* key, const T& value) {
        object[key] = encode(value);
    }

    static Json encode(const std::string& value) { return value; }
    static Json encode(bool value) { return value; }
    static Json encode(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
    static Json encode(const std::optional<double>& value) { return value ? encode(*value) : Json(nullptr); }
    static Json encode(const std::pair<std::uint64_t, std::uint64_t>& value) {
        return Json::array({value.first, value.second});
    }
    static Json encode(ErrorKind value) {
        for (const auto& [kind, name] : kKinds)
            if (kind == value) return std::string(name);
        return "internal";
    }
    template <class T>
    static Json encode(const std::vector<T>& values) {
        Json array = Json::array();
        for (const T& value : values) array.push_back(encode(value));
        return array;
    }
    template <class T>
    static Json encode(const T& value) {
        if constexpr (std::is_integral_v<T>) {
            return value;
        } else {
            Json result = Json::object();
            Writer writer{result};
            fields(writer, value);
            return result;
        }
    }
};

// ---- reading ----
struct Reader {
    const Json& object;
    std::string place;          // "epochs[2]." for messages
    std::string& problem;       // the first one; empty: none so far
    bool may_lack_keys = false; // an older version: what it does not have stays as it is by default

    template <class T>
    void operator()(const char* key, T& value) {
        if (!problem.empty()) return;
        const auto found = object.find(key);
        if (found == object.end()) {
            if (may_lack_keys) return;
            problem = "key '" + place + key + "' is missing";
            return;
        }
        decode(*found, value, place + key);
    }

    void wrong(const std::string& where, const char* wanted, const Json& found) {
        problem = "key '" + where + "': expected " + wanted + ", found " + found.type_name();
    }
    void decode(const Json& j, std::string& value, const std::string& where) {
        if (!j.is_string()) return wrong(where, "a string", j);
        value = j.get<std::string>();
    }
    void decode(const Json& j, bool& value, const std::string& where) {
        if (!j.is_boolean()) return wrong(where, "true or false", j);
        value = j.get<bool>();
    }
    void decode(const Json& j, double& value, const std::string& where) {
        if (j.is_null()) {
            value = std::numeric_limits<double>::quiet_NaN();
            return;
        }
        if (!j.is_number()) return wrong(where, "a number", j);
        value = j.get<double>();
    }
    void decode(const Json& j, std::optional<double>& value, const std::string& where) {
        if (j.is_null()) return value.reset();
        if (!j.is_number()) return wrong(where, "a number or null", j);
        value = j.get<double>();
    }
    void decode(const Json& j, ErrorKind& value, const std::string& where) {
        std::string name;
        decode(j, name, where);
        for (const auto& [kind, known] : kKinds)
            if (known == name) return void(value = kind);
        if (problem.empty()) problem = "key '" + where + "': unknown kind '" + name + "'";
    }
    void decode(const Json& j, std::pair<std::uint64_t, std::uint64_t>& value, const std::string& where) {
        if (!j.is_array() || j.size() != 2) return wrong(where, "a pair of numbers", j);
        decode(j[0], value.first, where + "[0]");
        decode(j[1], value.second, where + "[1]");
    }
    template <class T>
    void decode(const Json& j, std::vector<T>& values, const std::string& where) {
        if (!j.is_array()) return wrong(where, "an array", j);
        values.clear();
        values.reserve(j.size());
        for (std::size_t i = 0; i < j.size() && problem.empty(); ++i)
            decode(j[i], values.emplace_back(), where + "[" + std::to_string(i) + "]");
    }
    template <class T>
    void decode(const Json& j, T& value, const std::string& where) {
        if constexpr (std::is_integral_v<T>) {
            if (!j.is_number_integer()) return wrong(where, "a whole number", j);
            const bool negative = !j.is_number_unsigned() && j.get<std::int64_t>() < 0;
            const bool fits = negative
                                  ? std::is_signed_v<T> && j.get<std::int64_t>() >=
                                                               static_cast<std::int64_t>(std::numeric_limits<T>::min())
                                  : j.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
            if (!fits) {
                problem = "key '" + where + "': " + j.dump() + " is out of range";
                return;
            }
            value = j.get<T>();
        } else {
            if (!j.is_object()) return wrong(where, "an object", j);
            Reader reader{j, where + ".", problem, may_lack_keys};
            fields(reader, value);
        }
    }
};

} // namespace

std::string to_json(const RunResult& result) {
    return Writer::encode(result).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<RunResult> from_json(std::string_view text, const std::string& path) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::parse_error& e) {
        const auto offset = static_cast<std::int64_t>(e.byte) - 1;
        return format_error(path, text.empty() ? "the file is empty" : "not valid JSON: " + std::string(e.what()),
                            offset);
    }
    if (!json.is_object()) return format_error(path, "not a feedbench result: the top level is not an object");
    const auto version = json.find("schema_version");
    if (version == json.end() || !version->is_number_integer())
        return format_error(path, "not a feedbench result: there is no schema_version");
    const bool is_old = *version >= kOldestReadVersion && *version < kResultSchemaVersion;
    if (*version != kResultSchemaVersion && !is_old)
        return format_error(path, "schema_version is " + version->dump() + ", this binary reads " +
                                      std::to_string(kOldestReadVersion) + " to " +
                                      std::to_string(kResultSchemaVersion));
    RunResult result;
    std::string problem;
    Reader reader{json, "", problem, is_old};
    fields(reader, result);
    result.schema_version = kResultSchemaVersion;
    if (!problem.empty()) return format_error(path, problem);
    return result;
}

} // namespace feedbench::reporters
