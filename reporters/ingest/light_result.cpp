#include "reporters/ingest/light_result.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "reporters/ingest/lenient_json.hpp"
#include "reporters/result_json.hpp"

namespace feedbench::ingest {
namespace {

// What is most of a file: slices, distributions, an epoch's figures of each host and block, a checkpoint's of each
// rank.
constexpr std::array<std::string_view, 10> kNotCompared{"slices",           "histograms",        "config",
                                                        "findings",         "scaling",           "epochs.hosts",
                                                        "blocks.metrics",   "checkpoints.hosts", "checkpoints.metrics",
                                                        "checkpoints.ranks"};
constexpr auto kNowhere = std::string_view::npos;

// Which characters tell where a string, an object or an array begins or ends. A loop over a table is several times as
// fast as searching for any of a few characters by the library's means.
constexpr std::array<bool, 256> kTelling = [] {
    std::array<bool, 256> telling{};
    for (const char c : {'"', '[', ']', '{', '}'}) telling[static_cast<unsigned char>(c)] = true;
    return telling;
}();

std::size_t next_telling(std::string_view text, std::size_t at) {
    while (at < text.size() && !kTelling[static_cast<unsigned char>(text[at])]) ++at;
    return at;
}

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
    while ((at = next_telling(text, at)) < text.size()) {
        if (text[at] == '"') {
            at = behind_string(text, at);
            if (at == kNowhere) return kNowhere;
            continue;
        }
        if (text[at] == '[') ++depth;
        if (text[at] == ']' && --depth == 0) return at + 1;
        ++at;
    }
    return kNowhere;
}

// Where the value of a key whose string ends at `at` begins; nowhere: it is no key.
std::size_t value_of_key(std::string_view text, std::size_t at) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == kNowhere || text[at] != ':') return kNowhere;
    return text.find_first_not_of(" \t\r\n", at + 1);
}

// "hosts" is every array of that name, "epochs.hosts" one in an object that lies under "epochs".
bool is_asked(std::span<const std::string_view> keys, std::string_view above, std::string_view name) {
    for (const std::string_view key : keys) {
        const std::size_t dot = key.find('.');
        if (dot == kNowhere ? key == name : key.substr(dot + 1) == name && key.substr(0, dot) == above) return true;
    }
    return false;
}

} // namespace

std::string without_arrays(std::string_view text, std::span<const std::string_view> keys) {
    std::string out;
    std::size_t copied = 0;
    // Of each container that is open: the key under which it lies, or that of the array which holds it.
    std::vector<std::string_view> above{{}};
    std::string_view key; // that the next container lies under; empty: an element of an array
    for (std::size_t at = next_telling(text, 0); at < text.size(); at = next_telling(text, at)) {
        const char c = text[at];
        if (c == '{' || c == '[') {
            above.push_back(key.empty() ? std::string_view(above.back()) : key);
            key = {};
            ++at;
            continue;
        }
        if (c == '}' || c == ']') {
            if (above.size() > 1) above.pop_back();
            ++at;
            continue;
        }
        const std::size_t end = behind_string(text, at);
        if (end == kNowhere) break;
        const std::string_view name = text.substr(at + 1, end - at - 2);
        at = end;
        const std::size_t value = value_of_key(text, end);
        if (value == kNowhere) continue;
        key = text[value] == '[' || text[value] == '{' ? name : std::string_view();
        if (text[value] != '[' || !is_asked(keys, above.back(), name)) continue;
        const std::size_t behind = behind_array(text, value);
        if (behind == kNowhere) continue;
        out.append(text, copied, value - copied);
        out += "[]";
        key = {};
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
