// A key that a plug-in understands: parser, --help and docs are made from this row.
//
// Thread: plain constant. Owner: the plug-in's table. Units: named in `unit`. Errors: none.
#pragma once

#include <string_view>

namespace feedbench {

enum class OptionType { boolean, integer, number, text, size_bytes, duration_s };

struct Option {
    std::string_view key;
    OptionType type;
    std::string_view unit;          // "", "bytes", "s", "bytes/s"
    std::string_view default_value; // as one would type it
    std::string_view help;
};

} // namespace feedbench
