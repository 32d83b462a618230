#include "reporters/ingest/light_result.hpp"

#include <algorithm>
#include <array>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/result_json.hpp"

namespace feedbench::ingest {
namespace {

constexpr std::array<std::string_view, 3> kNotCompared{"slices", "histograms", "config"};
constexpr auto kNowhere = std::string_view::npos;

// Behind the string that begins at `at` with a quote.
std::size_t behind_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            return at + 1;
    }
    return kNowhere;
}

// Behind the array that begins at `at` with a bracket.
std::size_t behind_array(std::string_view text, std::size_t at) {
    int depth = 0;
    while ((at = text.find_first_of("\"[]", at)) != kNowhere) {
        if (text[at] == '"') {
            at = behind_string(text, at);
            if (at == kNowhere) return kNowhere;
            continue;
        }
        depth += text[at] == '[' ? 1 : -1;
        ++at;
        if (depth == 0) return at;
    }
    return kNowhere;
}

// Where the array of a key whose string ends at `at` begins; nowhere: its value is no array, or it is no key.
std::size_t array_of_key(std::string_view text, std::size_t at) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == kNowhere || text[at] != ':') return kNowhere;
    at = text.find_first_not_of(" \t\r\n", at + 1);
    return at != kNowhere && text[at] == '[' ? at : kNowhere;
}

} // namespace

std::string without_arrays(std::string_view text, std::span<const std::string_view> keys) {
    std::string out;
    std::size_t copied = 0;
    for (std::size_t at = text.find('"'); at != kNowhere; at = text.find('"', at)) {
        const std::size_t end = behind_string(text, at);
        if (end == kNowhere) break;
        const std::string_view name = text.substr(at + 1, end - at - 2);
        at = end;
        if (std::find(keys.begin(), keys.end(), name) == keys.end()) continue;
        const std::size_t array = array_of_key(text, end);
        const std::size_t behind = array == kNowhere ? kNowhere : behind_array(text, array);
        if (behind == kNowhere) continue;
        out.append(text, copied, array - copied);
        out += "[]";
        at = copied = behind;
    }
    return out.append(text, copied);
}

Expected<RunResult> read_light_result(const std::filesystem::path& path) {
    auto text = read_text(path, std::uintmax_t{1} << 30);
    if (!text) return text.error();
    return reporters::from_json(without_arrays(*text, kNotCompared), path.string());
}

} // namespace feedbench::ingest
