#include "reporters/console_text.hpp"

#include <cmath>
#include <fmt/format.h>

namespace feedbench::reporters {

std::string paint(std::string_view text, Colour colour, bool on) {
    if (!on || colour == Colour::none) return std::string(text);
    const char* code = colour == Colour::bold     ? "1"
                       : colour == Colour::green  ? "1;32"
                       : colour == Colour::red    ? "1;31"
                       : colour == Colour::yellow ? "33"
                                                  : "2";
    return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string duration_text(double s) {
    if (s < 1e-3) return fmt::format("{:.1f} us", s * 1e6);
    if (s < 1) return fmt::format("{:.2f} ms", s * 1e3);
    return fmt::format("{:.2f} s", s);
}

std::string clock_text(double s) {
    const auto all = static_cast<long long>(std::llround(std::max(0.0, s)));
    if (all >= 3600) return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
    return fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string rate_text(double value) { return fmt::format("{:.{}f}", value, value < 10 ? 3 : value < 1000 ? 2 : 1); }

std::string value_text(const Metric* metric, int decimals) {
    if (metric == nullptr) return "-";
    if (!metric->value) return "none (" + metric->reason + ")";
    if (metric->unit == "s") return duration_text(*metric->value);
    const std::string number =
        decimals < 0 ? rate_text(*metric->value) : fmt::format("{:.{}f}", *metric->value, decimals);
    return metric->unit.empty() ? number : number + " " + metric->unit;
}

std::string wrap(std::string_view text, unsigned width, std::string_view indent) {
    std::string result, line;
    const auto flush = [&] {
        if (!line.empty()) result += std::string(indent) + line + "\n";
        line.clear();
    };
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(" \n");
        const std::string_view word = text.substr(0, end);
        if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) flush();
        if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
        if (end == std::string_view::npos) break;
        if (text[end] == '\n') flush();
        text.remove_prefix(end + 1);
    }
    flush();
    return result;
}

} // namespace feedbench::reporters
