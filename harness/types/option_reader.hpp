// Reads a plug-in's options as its table declares them: types, defaults, ranges, one sentence for what is wrong.
//
// A plug-in asks for all its values, then looks at status() once; after the first that is wrong, values are in range
// but mean nothing.
//
// Thread: one at a time. Owner: the caller; table and options outlive the reader. Units: bytes; ns. Errors:
// config_error "storage option 'KEY': 'VALUE' ..." about the URI that was given.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "harness/types/error.hpp"
#include "harness/types/option.hpp"

namespace feedbench {

using OptionValues = std::map<std::string, std::string>;

// Whether `value` can be read as the option's type.
Status check_option(const Option& option, const std::string& value);

class OptionReader {
  public:
    // A key that is not in `given` has its default.
    OptionReader(std::span<const Option> table, const OptionValues& given, std::string uri = {})
        : table_(table), given_(given), uri_(std::move(uri)) {}

    std::string text(std::string_view key) const;
    bool boolean(std::string_view key);
    std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most);
    double number(std::string_view key, double least, double most);
    std::uint64_t bytes(std::string_view key, std::uint64_t least = 0,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
    std::uint64_t duration_ns(std::string_view key, std::uint64_t least_ns = 0);
    // Index of the name that was chosen.
    std::size_t choice(std::string_view key, std::span<const std::string_view> names);

    // For what only the plug-in knows; the first one counts.
    void refuse(std::string_view key, const std::string& why);
    bool has_failed() const { return error_.has_value(); }
    Status status() const { return error_ ? Status(*error_) : Status(); }

  private:
    template <class T>
    T read(std::string_view key, Expected<T> (*parse)(std::string_view));
    void refuse_range(std::string_view key, const std::string& least, const std::string& most, const char* unit);

    std::span<const Option> table_;
    const OptionValues& given_;
    const std::string uri_;
    MaybeError error_;
};

} // namespace feedbench
