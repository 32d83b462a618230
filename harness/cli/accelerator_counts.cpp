#include "harness/cli/accelerator_counts.hpp"

#include <algorithm>
#include <charconv>

namespace feedbench::cli {

namespace {

constexpr std::uint64_t kMostAccelerators = 10'000'000;
constexpr std::size_t kMostCounts = 1000;

bool read_number(std::string_view& text, std::uint64_t& number) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

// "first-last:step" with last and step left out or not.
struct Range {
    std::uint64_t first = 0, last = 0, step = 1;
    bool read(std::string_view text) {
        if (!read_number(text, first)) return false;
        last = first;
        if (text.starts_with('-') && (text.remove_prefix(1), !read_number(text, last))) return false;
        if (text.starts_with(':') && (text.remove_prefix(1), !read_number(text, step))) return false;
        return text.empty();
    }
};

} // namespace

Expected<std::vector<std::uint32_t>> parse_accelerator_counts(const std::string& text) {
    std::vector<std::uint32_t> counts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, comma - begin);
        begin = comma + 1;
        const auto refused = [&part](const std::string& why) {
            return usage_error("--accelerators: '" + part + "' " + why);
        };
        Range range;
        if (!range.read(part)) return refused("is no count: expected a number, FIRST-LAST or FIRST-LAST:STEP");
        if (range.first == 0) return refused("asks for 0 accelerators, at least 1 is needed");
        if (range.last < range.first || range.step == 0) return refused("is an empty range");
        if (range.last > kMostAccelerators)
            return refused("is more than the " + std::to_string(kMostAccelerators) + " that are possible");
        if ((range.last - range.first) / range.step >= kMostCounts - counts.size())
            return refused("makes more than " + std::to_string(kMostCounts) + " runs");
        for (std::uint64_t n = range.first; n <= range.last; n += range.step)
            counts.push_back(static_cast<std::uint32_t>(n));
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

} // namespace feedbench::cli
