// One field of a CSV row: quoted where needed, quotes doubled.
//
// Thread: any. Owner: none. Units: none. Errors: none. Source: RFC 4180.
#pragma once

#include <string>

namespace feedbench::reporters {

inline std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

} // namespace feedbench::reporters
