#include "storage/feedfs/tool/text.hpp"

#include <fmt/format.h>

#include <ctime>

#include "harness/types/option_values.hpp"

namespace feedbench::feedfs::tool {

std::string size_text(std::uint64_t bytes) {
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
    if (unit == 0 || value == static_cast<double>(static_cast<std::uint64_t>(value)))
        return fmt::format("{:.0f} {}", value, kUnits[unit]);
    return fmt::format("{:.{}f} {}", value, value < 100 ? 1 : 0, kUnits[unit]);
}

std::string count_text(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, 1, ' ');
    return digits;
}

std::string duration_text(double seconds) {
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string time_text(std::int64_t ns) {
    std::int64_t whole = ns / 1'000'000'000;
    if (ns % 1'000'000'000 < 0) --whole;
    const std::time_t second = whole;
    std::tm parts{};
    char text[64];
    if (!gmtime_r(&second, &parts) || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        return std::to_string(whole) + " s";
    return text;
}

std::string mode_text(char kind, std::uint32_t mode) {
    std::string text(1, kind);
    for (int bit = 8; bit >= 0; --bit) text += (mode >> bit & 1) ? "rwx"[(8 - bit) % 3] : '-';
    const auto special = [&](std::uint32_t bit, std::size_t place, char with, char without) {
        if (mode & bit) text[place] = text[place] == 'x' ? with : without;
    };
    special(04000, 3, 's', 'S');
    special(02000, 6, 's', 'S');
    special(01000, 9, 't', 'T');
    return text;
}

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& into, const std::string& help) {
    return command
        .add_option_function<std::string>(
            name,
            [&into, name](const std::string& text) {
                const Expected<std::uint64_t> bytes = parse_size_bytes(text);
                if (!bytes) throw CLI::ValidationError(name, bytes.error().message);
                into = *bytes;
            },
            help + " (default " + (into == 0 ? "none" : size_text(into)) + ")")
        ->type_name("SIZE");
}

} // namespace feedbench::feedfs::tool
