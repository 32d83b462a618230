#include "reporters/ingest/lenient_json.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <yaml-cpp/yaml.h>

namespace feedbench::ingest {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::size_t line_of(std::string_view text, std::size_t offset) {
    return 1 + static_cast<std::size_t>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), '\n'));
}

// What is plainly something else than JSON is said in its own words.
std::string other_kind(std::string_view text) {
    if (text.empty()) return "the file is empty";
    if (text.starts_with(std::string_view("\0\5\x16\7", 4)))
        return "a macOS AppleDouble file (Finder's data of the file of that name), not JSON";
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return "UTF-16 text, not UTF-8";
    if (text.starts_with("version https://git-lfs")) return "a Git LFS pointer: the file itself was not fetched";
    if (text.find('\0') < 512) return "binary data, not text";
    return {};
}

// The parser's sentence without its own prefix.
std::string reason_of(const nlohmann::json::exception& error) {
    const std::string_view text = error.what();
    const std::size_t at = text.find("; last read");
    const std::size_t from = text.find(": ");
    return std::string(text.substr(from == std::string_view::npos ? 0 : from + 2,
                                   at == std::string_view::npos ? at : at - (from + 2)));
}

constexpr int kDeepest = 64;                  // a system description is some five levels deep
constexpr std::size_t kMostNodes = 1'000'000; // aliases can multiply without end

// Those who look into the values call themselves for each level.
bool nested_too_deeply(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i)
                if (text[i] == '\\') ++i;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

nlohmann::json from_yaml(const YAML::Node& node, int depth, std::size_t& nodes) {
    if (depth > kDeepest || ++nodes > kMostNodes) throw YAML::Exception(YAML::Mark::null_mark(), "nested too deeply");
    if (node.IsScalar()) return node.Scalar();
    if (node.IsSequence()) {
        auto array = nlohmann::json::array();
        for (const auto& item : node) array.push_back(from_yaml(item, depth + 1, nodes));
        return array;
    }
    if (!node.IsMap()) return nullptr;
    auto object = nlohmann::json::object();
    for (const auto& item : node)
        object[item.first.IsScalar() ? item.first.Scalar() : "?"] = from_yaml(item.second, depth + 1, nodes);
    return object;
}

} // namespace

Expected<std::string> read_text(const std::filesystem::path& path, std::uintmax_t limit_bytes) {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) return storage_error("open", path.string(), errno);
    std::string text;
    char piece[65536];
    for (std::size_t n = 0; (n = std::fread(piece, 1, sizeof piece, file.get())) > 0;) {
        text.append(piece, n);
        if (text.size() > limit_bytes)
            return format_error(path.string(), fmt::format("larger than {} MiB", limit_bytes >> 20));
    }
    if (std::ferror(file.get())) return storage_error("read", path.string(), errno);
    return text;
}

std::string repair_json(std::string& text) {
    std::string out;
    out.reserve(text.size() + 16);
    std::size_t commas = 0, first_comma = 0, not_numbers = 0;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"') { // strings pass as they are
            std::size_t end = i + 1;
            while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
            out.append(text, i, end - i);
            i = end;
            continue;
        }
        if (c == ',') {
            std::size_t next = i + 1;
            while (next < text.size() && is_space(text[next])) ++next;
            if (next < text.size() && (text[next] == ']' || text[next] == '}')) {
                if (commas++ == 0) first_comma = i;
                out += ' '; // offsets in later messages stay
                ++i;
                continue;
            }
        }
        bool replaced = false;
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
            if (!std::string_view(text).substr(i).starts_with(word)) continue;
            out += "null";
            i += word.size();
            ++not_numbers;
            replaced = true;
            break;
        }
        if (!replaced) {
            out += c;
            ++i;
        }
    }
    std::string what;
    if (commas > 0)
        what = fmt::format("a comma before ] or }} in line {}{}", line_of(text, first_comma),
                           commas > 1 ? fmt::format(" and {} more", commas - 1) : "");
    if (not_numbers > 0)
        what += fmt::format("{}NaN or Infinity {} time{}", what.empty() ? "" : ", ", not_numbers,
                            not_numbers > 1 ? "s" : "");
    text = std::move(out);
    return what;
}

Expected<LenientJson> parse_json(std::string text, const std::string& path) {
    using nlohmann::json;
    if (nested_too_deeply(text)) return format_error(path, fmt::format("nested more than {} levels deep", kDeepest));
    LenientJson result;
    result.value = json::parse(text, nullptr, false);
    if (!result.value.is_discarded()) return result;
    if (const std::string kind = other_kind(text); !kind.empty()) return format_error(path, kind);
    result.repairs = repair_json(text);
    try {
        result.value = json::parse(text);
    } catch (const json::parse_error& error) {
        const std::size_t byte = error.byte > 0 ? error.byte - 1 : 0;
        return format_error(path, fmt::format("not valid JSON in line {}: {}", line_of(text, byte), reason_of(error)));
    }
    return result;
}

Expected<LenientJson> read_json(const std::filesystem::path& path) {
    auto text = read_text(path);
    if (!text) return text.error();
    return parse_json(std::move(*text), path.string());
}

Expected<nlohmann::json> read_yaml(const std::filesystem::path& path) {
    auto text = read_text(path);
    if (!text) return text.error();
    try {
        std::size_t nodes = 0;
        return from_yaml(YAML::Load(*text), 0, nodes);
    } catch (const YAML::Exception& error) {
        return format_error(path.string(),
                            fmt::format("not valid YAML in line {}: {}", error.mark.line + 1, error.msg));
    }
}

std::optional<double> number(const nlohmann::json& value) {
    double result = 0;
    if (value.is_number()) {
        result = value.get<double>();
    } else if (value.is_string()) {
        std::string_view text = value.get_ref<const std::string&>();
        while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
        if (text.empty()) return {};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
        if (error != std::errc() || end != text.data() + text.size()) return {};
    } else {
        return {};
    }
    if (!std::isfinite(result)) return {};
    return result;
}

const nlohmann::json& member(const nlohmann::json& object, const char* key) {
    static const nlohmann::json kNone;
    if (!object.is_object()) return kNone;
    const auto found = object.find(key);
    return found == object.end() ? kNone : *found;
}

std::optional<double> number_at(const nlohmann::json& object, const char* key) { return number(member(object, key)); }

std::string text_at(const nlohmann::json& object, const char* key) {
    const nlohmann::json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

} // namespace feedbench::ingest
