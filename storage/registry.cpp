#include "storage/registry.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/types/option_values.hpp"
#include "storage/model.hpp"

namespace feedbench::storage {

namespace {

const std::array<BackendEntry, 5>& table() {
    static const std::array<BackendEntry, 5> entries{{
        {"file", "a local or mounted filesystem: /path, file:/path", posix_options(), make_posix_backend},
        {"posix", "the same as file", posix_options(), make_posix_backend},
        {"null", "stores nothing and answers at once: what the client itself costs", null_options(), make_null_backend,
         true},
        {"model", "simulated storage of a given bandwidth and latency", model_options(), make_model_backend, true},
        {"fault", "any other backend with errors, delays, short reads or stalls on schedule; ends in ;inner=URI",
         fault_options(), make_fault_backend, true},
    }};
    return entries;
}

const BackendEntry* find_entry(std::string_view scheme) {
    for (const BackendEntry& entry : backends())
        if (entry.scheme == scheme) return &entry;
    return nullptr;
}

// A scheme is letters, digits, '+', '-', '.' before the first ':'. "./a:b" and "/a:b" are paths.
std::string_view scheme_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) return {};
    for (const char c : text.substr(0, colon)) {
        const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
                             c == '-' || c == '.';
        if (!allowed) return {};
    }
    return text.substr(0, colon);
}

template <class Range, class Key>
std::string joined(const Range& range, Key key) {
    std::string text;
    for (const auto& item : range) text += (text.empty() ? "" : ", ") + std::string(key(item));
    return text;
}

Status split_options(std::string_view text, const std::string& uri, std::map<std::string, std::string>& options) {
    std::string_view inner;
    if (const std::size_t at = text.starts_with("inner=") ? 0 : text.find(";inner="); at != std::string_view::npos) {
        inner = text.substr(text.find('=', at) + 1);
        text = text.substr(0, at);
        if (inner.empty()) return config_error("nothing follows 'inner='", uri);
        options["inner"] = std::string(inner);
    }
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view pair = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return config_error("'" + std::string(pair) + "' is not key=value", uri);
        options[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    }
    return {};
}

Status check_value(const Option& option, const std::string& value) {
    const auto refused = [&](std::string why) {
        return config_error("storage option '" + std::string(option.key) + "': " + std::move(why));
    };
    switch (option.type) {
    case OptionType::boolean:
        if (value != "true" && value != "false") return refused("'" + value + "' is neither true nor false");
        break;
    case OptionType::integer: {
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (code != std::errc{} || end != value.data() + value.size())
            return refused("'" + value + "' is not an integer");
        break;
    }
    case OptionType::number:
        if (auto number = parse_number(value); !number) return refused(number.error().message);
        break;
    case OptionType::size_bytes:
        if (auto bytes = parse_size_bytes(value); !bytes) return refused(bytes.error().message);
        break;
    case OptionType::duration_s:
        if (auto ns = parse_duration_ns(value); !ns) return refused(ns.error().message);
        break;
    case OptionType::text:
        break;
    }
    return {};
}

} // namespace

std::span<const BackendEntry> backends() { return table(); }

Expected<Uri> parse_uri(const std::string& text) {
    if (text.empty()) return config_error("a storage URI or a path is expected, and nothing was given");
    Uri uri;
    const std::string_view scheme = scheme_of(text);
    if (scheme.empty()) {
        uri.scheme = "file";
        uri.root = text;
        return uri;
    }
    const BackendEntry* entry = find_entry(scheme);
    if (!entry)
        return config_error("there is no storage backend '" + std::string(scheme) +
                                "' (there are: " + joined(backends(), [](const BackendEntry& e) { return e.scheme; }) +
                                "); a path with a colon is written ./" + text,
                            text);
    uri.scheme = std::string(scheme);
    std::string_view rest = std::string_view(text).substr(scheme.size() + 1);
    if (entry->options_in_uri) {
        if (auto status = split_options(rest, text, uri.options); !status) return status.error();
        return uri;
    }
    if (rest.starts_with("//"))
        rest.remove_prefix(2); // file:///path has an empty host, s3://bucket/prefix none to skip
    if (rest.empty()) return config_error("a place is expected after '" + uri.scheme + ":'", text);
    uri.root = std::string(rest);
    return uri;
}

Expected<std::unique_ptr<Backend>> make_backend(BackendRequest request) {
    auto uri = parse_uri(request.uri);
    if (!uri) return uri.error();
    const BackendEntry& entry = *find_entry(uri->scheme);
    request.root = uri->root;
    for (auto& [key, value] : uri->options) request.options[key] = value;
    for (const auto& [key, value] : request.options) {
        const auto option = std::find_if(entry.options.begin(), entry.options.end(),
                                         [&key = key](const Option& o) { return o.key == key; });
        if (option == entry.options.end())
            return config_error(
                "the backend '" + std::string(entry.scheme) + "' has no option '" + key + "'" +
                    (entry.options.empty()
                         ? std::string("; it has none at all")
                         : " (it has: " + joined(entry.options, [](const Option& o) { return o.key; }) + ")"),
                request.uri);
        if (auto status = check_value(*option, value); !status) return status.error();
    }
    for (const Option& option : entry.options)
        request.options.try_emplace(std::string(option.key), option.default_value);
    return entry.make(request);
}

} // namespace feedbench::storage
