// Text of a result that may stand in a Markdown cell or line: what would end a cell, start markup or be HTML is
// escaped.
//
// Thread: any (pure function). Owner: none. Units: none. Errors: none. Source: GitHub Flavored Markdown, tables.
#pragma once

#include <string>
#include <string_view>

namespace feedbench::reporters {

inline std::string markdown_plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n' || c == '\r')
            out += ' ';
        else if (c == '<')
            out += "&lt;";
        else if (c == '&')
            out += "&amp;";
        else {
            if (c == '|' || c == '*' || c == '_' || c == '`' || c == '[' || c == ']' || c == '\\' || c == '#' ||
                c == '@')
                out += '\\';
            out += c;
        }
    }
    return out;
}

} // namespace feedbench::reporters
