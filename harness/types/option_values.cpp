#include "harness/types/option_values.hpp"

#include <charconv>
#include <cmath>
#include <span>

namespace feedbench {

namespace {

struct Suffix {
    std::string_view name;
    double factor;
};
constexpr Suffix kSizes[] = {
    {"", 1},        {"B", 1},          {"k", 1e3},          {"kB", 1e3},           {"KB", 1e3},
    {"M", 1e6},     {"MB", 1e6},       {"G", 1e9},          {"GB", 1e9},           {"T", 1e12},
    {"TB", 1e12},   {"KiB", 1024.0},   {"MiB", 1048576.0},  {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}};
constexpr Suffix kDurations[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
                                 {"ns", 1}, {"m", 60e9}, {"min", 60e9}};

Expected<std::uint64_t> scaled(std::string_view text, std::span<const Suffix> suffixes, const char* what) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    const Error bad = config_error("'" + std::string(text) + "' is not " + what);
    if (code != std::errc{} || !std::isfinite(number) || number < 0) return bad;
    std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    for (const Suffix& suffix : suffixes)
        if (rest == suffix.name) {
            const double value = number * suffix.factor;
            if (value >= 9.2e18) return bad;
            return static_cast<std::uint64_t>(std::llround(value));
        }
    return bad;
}

} // namespace

Expected<std::uint64_t> parse_size_bytes(std::string_view text) {
    return scaled(text, kSizes, "a size: a number of bytes, or one with k, M, G, T (powers of ten) or KiB, MiB, GiB");
}

Expected<std::uint64_t> parse_duration_ns(std::string_view text) {
    return scaled(text, kDurations, "a duration: a number of seconds, or one with ns, us, ms, s, min");
}

Expected<double> parse_number(std::string_view text) {
    double number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
        return config_error("'" + std::string(text) + "' is not a number");
    return number;
}

} // namespace feedbench
