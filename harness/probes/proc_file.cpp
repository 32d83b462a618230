#include "harness/probes/proc_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

namespace feedbench::probes {
namespace {

constexpr std::size_t kLimitBytes = 4 << 20;    // /proc/cpuinfo of a large machine is some 1 MiB
constexpr std::uint32_t kNumbersMost = 1 << 20; // of a range; no machine has as many CPUs

std::string_view trimmed(std::string_view s) {
    const auto first = s.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(" \t\n") - first + 1);
}

template <class T>
bool parse(std::string_view s, T& out) {
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
    return error == std::errc() && end == s.data() + s.size();
}

} // namespace

std::optional<std::string> read_proc_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file) return {};
    std::string content;
    char piece[16384];
    while (content.size() < kLimitBytes) {
        const std::size_t n = std::fread(piece, 1, sizeof piece, file.get());
        if (n == 0) break;
        content.append(piece, n);
    }
    if (std::ferror(file.get())) return {};
    return content;
}

std::optional<std::string> field(std::string_view content, std::string_view key) {
    for (std::size_t at = 0; at < content.size();) {
        const std::size_t end = std::min(content.find('\n', at), content.size());
        const std::string_view line = content.substr(at, end - at);
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
            return std::string(trimmed(line.substr(colon + 1)));
        at = end + 1;
    }
    return {};
}

std::optional<std::uint64_t> field_kib_as_bytes(std::string_view content, std::string_view key) {
    const auto text = field(content, key);
    if (!text) return {};
    std::string_view digits = *text;
    if (!digits.ends_with(" kB")) return {};
    digits.remove_suffix(3);
    std::uint64_t kib = 0;
    if (!parse(digits, kib) || kib > (~std::uint64_t{0} >> 10)) return {};
    return kib * 1024;
}

std::optional<std::vector<std::uint32_t>> numbers_of_list(std::string_view list) {
    list = trimmed(list);
    if (list.empty()) return {};
    std::vector<std::uint32_t> numbers;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view part = list.substr(0, comma);
        const std::size_t dash = part.find('-');
        std::uint32_t first = 0, last = 0;
        if (!parse(part.substr(0, std::min(dash, part.size())), first)) return {};
        last = first;
        if (dash != std::string_view::npos && !parse(part.substr(dash + 1), last)) return {};
        if (last < first || last - first >= kNumbersMost) return {};
        for (std::uint32_t number = first; number <= last; ++number) numbers.push_back(number);
        list = comma < list.size() ? list.substr(comma + 1) : std::string_view();
    }
    return numbers;
}

std::optional<std::uint32_t> count_of_list(std::string_view list) {
    const auto numbers = numbers_of_list(list);
    if (!numbers) return {};
    return static_cast<std::uint32_t>(numbers->size());
}

} // namespace feedbench::probes
