#include "storage/registry.hpp"

#include <algorithm>
#include <array>

#include "harness/types/option_reader.hpp"
#include "storage/model.hpp"

namespace feedbench::storage {

namespace {

constexpr Traits kPosix{.direct_io = true, .page_cached = true};
constexpr Traits kMpi{.page_cached = true};
constexpr Traits kNfs{.direct_io = true, .is_network = true};
constexpr Traits kObjects{.direct_io = true, .object_semantics = true, .is_network = true};
constexpr Traits kNothing{.has_content = false, .virtual_time = true};

const std::array<BackendEntry, 9>& table() {
    static const std::array<BackendEntry, 9> entries{{
        {"file", "a local or mounted filesystem: /path, file:/path", posix_options(), make_posix_backend, false,
         kPosix},
        {"posix", "the same as file", posix_options(), make_posix_backend, false, kPosix},
        {"mpiio", "MPI's own I/O on a path that it reaches: mpiio:/path", mpiio_options(), make_mpiio_backend, false,
         kMpi},
        {"nfs", "an NFS server, without a mount: nfs://server/export/path", nfs_options(), make_nfs_backend, false,
         kNfs, nfs_unavailable},
        {"s3",
         "an object store: s3://bucket/prefix; endpoint and region are options, keys come from the environment or "
         "files",
         s3_options(), make_s3_backend, false, kObjects, s3_unavailable},
        {"feedfs", "the project's own filesystem, without a mount: feedfs:VOLUME, a folder made by `feedfs mkfs`",
         feedfs_options(), make_feedfs_backend, false, kPosix},
        {"null", "stores nothing and answers at once: what the client itself costs", null_options(), make_null_backend,
         true, kNothing},
        {"model", "simulated storage of a given bandwidth and latency", model_options(), make_model_backend, true,
         kNothing},
        {"fault", "any other backend with errors, delays, short reads or stalls on schedule; ends in ;inner=URI",
         fault_options(), make_fault_backend, true, kPosix},
    }};
    return entries;
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

} // namespace

std::span<const BackendEntry> backends() { return table(); }

const BackendEntry* find_backend(std::string_view scheme) {
    for (const BackendEntry& entry : backends())
        if (entry.scheme == scheme) return &entry;
    return nullptr;
}

const Option* find_option(const BackendEntry& entry, std::string_view key) {
    for (const Option& option : entry.options)
        if (option.key == key) return &option;
    return nullptr;
}

Expected<Uri> parse_uri(const std::string& text) {
    if (text.empty()) return config_error("a storage URI or a path is expected, and nothing was given");
    Uri uri;
    const std::string_view scheme = scheme_of(text);
    if (scheme.empty()) {
        uri.scheme = "file";
        uri.root = text;
        return uri;
    }
    const BackendEntry* entry = find_backend(scheme);
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
    const BackendEntry& entry = *find_backend(uri->scheme);
    if (entry.unavailable)
        if (std::string why = entry.unavailable(); !why.empty()) return config_error(std::move(why), request.uri);
    request.root = uri->root;
    if (find_option(entry, "inner")) // what is not its own is for the backend that it wraps, which checks it
        for (auto it = request.options.begin(); it != request.options.end();) {
            const auto next = std::next(it);
            if (!find_option(entry, it->first)) request.inner_options.insert(request.options.extract(it));
            it = next;
        }
    for (auto& [key, value] : uri->options) request.options[key] = value;
    for (auto& [key, value] : request.options) {
        const Option* option = find_option(entry, key);
        if (!option)
            return config_error(
                "the backend '" + std::string(entry.scheme) + "' has no option '" + key + "'" +
                    (entry.options.empty()
                         ? std::string("; it has none at all")
                         : " (it has: " + joined(entry.options, [](const Option& o) { return o.key; }) + ")"),
                request.uri);
        if (option->type == OptionType::boolean && (value == "True" || value == "False")) // YAML, as DLIO writes it
            value[0] = value == "True" ? 't' : 'f';
        if (auto status = check_option(*option, value); !status) return status.error();
    }
    for (const Option& option : entry.options)
        request.options.try_emplace(std::string(option.key), option.default_value);
    auto made = entry.make(request);
    if (made && request.will_write && !(*made)->capabilities().can_write)
        return config_error("this storage cannot be written: " + (*made)->capabilities().note, request.uri);
    return made;
}

} // namespace feedbench::storage
