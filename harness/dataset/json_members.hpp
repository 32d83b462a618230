// Members of a JSON file of ours, each taken only where it is exactly what it must be. Internal to harness/dataset.
//
// Thread: any (pure functions). Owner: the caller. Units: -. Errors: false where a member is missing, of another type,
// negative or too large. Source: DESIGN section 9 (input is checked, never believed).
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace feedbench::dataset {

using Json = nlohmann::ordered_json;

inline bool take(const Json& found, std::string& out) {
    return found.is_string() && (out = found.get<std::string>(), true);
}
inline bool take(const Json& found, bool& out) { return found.is_boolean() && (out = found.get<bool>(), true); }
inline bool take(const Json& found, double& out) { return found.is_number() && (out = found.get<double>(), true); }
template <std::integral T>
bool take(const Json& found, T& out) { // none of ours is ever negative
    if (!found.is_number_unsigned()) return false;
    const auto wide = found.get<std::uint64_t>();
    out = static_cast<T>(wide);
    return static_cast<std::uint64_t>(out) == wide;
}
template <class T>
bool take(const Json& found, std::vector<T>& out) {
    if (!found.is_array()) return false;
    out.clear();
    for (const Json& one : found)
        if (!take(one, out.emplace_back())) return false;
    return true;
}

// object[key] into `out`.
template <class T>
bool take(const Json& object, const char* key, T& out) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && take(*found, out);
}

} // namespace feedbench::dataset
