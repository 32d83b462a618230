#include "harness/cli/list_backends.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "storage/registry.hpp"
#include "workloads/storage_facts.hpp"

namespace feedbench::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string why_not(const storage::BackendEntry& entry) {
    return entry.unavailable ? entry.unavailable() : std::string();
}

bool is_secret(std::string_view key) {
    for (const char* word : {"secret", "password", "token", "access_key"})
        if (key.find(word) != std::string_view::npos) return true;
    return false;
}

const char* type_word(OptionType type) {
    switch (type) {
    case OptionType::boolean:
        return "boolean";
    case OptionType::integer:
        return "integer";
    case OptionType::number:
        return "number";
    case OptionType::text:
        return "text";
    case OptionType::size_bytes:
        return "size";
    case OptionType::duration_s:
        return "duration";
    }
    return "text";
}

// "30 s"; "8MiB" has its unit already.
std::string default_text(const Option& option) {
    std::string text(option.default_value.empty() ? "none" : option.default_value);
    const bool is_number = text.find_first_not_of("0123456789.-") == std::string::npos;
    return is_number && !option.unit.empty() ? text + " " + std::string(option.unit) : text;
}

// What it can do, in words that follow each other.
std::string traits_text(const storage::Traits& t) {
    std::string text = t.has_content ? "keeps what is written" : "keeps nothing";
    if (t.object_semantics) text += "; objects: no rename, no folders";
    if (t.is_network) text += "; over the network, by a library of the client's own";
    if (t.direct_io) text += "; O_DIRECT";
    if (t.page_cached) text += "; page cache of this host";
    if (t.virtual_time) text += "; virtual time";
    return text;
}

Json traits_json(const storage::Traits& t) {
    return {{"has_content", t.has_content},           {"direct_io", t.direct_io},   {"page_cached", t.page_cached},
            {"object_semantics", t.object_semantics}, {"is_network", t.is_network}, {"virtual_time", t.virtual_time}};
}

Json options_json(const storage::BackendEntry& entry) {
    Json all = Json::array();
    for (const Option& o : entry.options)
        all.push_back({{"key", o.key},
                       {"type", type_word(o.type)},
                       {"unit", o.unit},
                       {"default", o.default_value},
                       {"help", o.help}});
    return all;
}

std::string gb(std::uint64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

struct Looked {
    const storage::BackendEntry& entry;
    const storage::Capabilities& can;
    const StorageResult facts;
    const storage::Uri uri;
    const LookedAt& asked;
    std::string place, local_path;
    bool drops_cache = false;

    std::string value_of(const Option& option) const {
        for (const auto* given : {&uri.options, &asked.options})
            if (const auto found = given->find(std::string(option.key)); found != given->end())
                return is_secret(option.key) ? "(given)" : found->second;
        return std::string(option.default_value);
    }
    std::string text() const;
    std::string json() const;
};

std::string Looked::text() const {
    std::string out = fmt::format("{}\n", asked.uri);
    const auto line = [&](std::string_view name, const std::string& what) {
        if (!what.empty()) out += fmt::format("  {:<18} {}\n", name, what);
    };
    line("backend", fmt::format("{} ({})", can.name, entry.help));
    line("place", place);
    line("filesystem", facts.filesystem_type);
    line("mounted on", facts.mount_point);
    line("device", facts.device);
    line("mount options", facts.mount_options);
    line("server", facts.server);
    line("interface", facts.network_interface);
    line("network", facts.is_network ? "yes: a server, or a FUSE daemon, answers" : "no");
    if (facts.is_memory) line("memory", "yes: nothing lies below it, its page cache is the storage");
    if (facts.total_bytes > 0 && can.has_content)
        line("room", fmt::format("{} free of {}", gb(facts.free_bytes), gb(facts.total_bytes)));
    line("reads", fmt::format("{}{}{}", asked.odirect ? "O_DIRECT" : "buffered",
                              can.page_cached ? ", may come from this host's page cache" : "",
                              can.async ? "" : ", one at a time"));
    if (can.alignment_bytes > 1) line("alignment", fmt::format("{} bytes", can.alignment_bytes));
    line("can do", traits_text({can.has_content, can.direct_io, can.page_cached, can.object_semantics,
                                entry.traits.is_network, can.virtual_time}));
    line("cache drop", drops_cache ? "offered" : "not offered");
    line("note", can.note);
    if (!entry.options.empty()) out += "  options\n";
    for (const Option& option : entry.options) out += fmt::format("    {:<22} {}\n", option.key, value_of(option));
    return out;
}

std::string Looked::json() const {
    Json options = Json::object();
    for (const Option& option : entry.options) options[std::string(option.key)] = value_of(option);
    const Json all{{"uri", asked.uri},
                   {"scheme", uri.scheme},
                   {"backend", can.name},
                   {"place", place},
                   {"local_path", local_path},
                   {"filesystem_type", facts.filesystem_type},
                   {"mount_point", facts.mount_point},
                   {"mount_options", facts.mount_options},
                   {"device", facts.device},
                   {"server", facts.server},
                   {"network_interface", facts.network_interface},
                   {"is_network", facts.is_network},
                   {"is_memory", facts.is_memory},
                   {"free_bytes", facts.free_bytes},
                   {"total_bytes", facts.total_bytes},
                   {"odirect", asked.odirect},
                   {"alignment_bytes", can.alignment_bytes},
                   {"async", can.async},
                   {"cache_drop", drops_cache},
                   {"capabilities", traits_json({can.has_content, can.direct_io, can.page_cached, can.object_semantics,
                                                 entry.traits.is_network, can.virtual_time})},
                   {"note", can.note},
                   {"options", options}};
    return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string backends_text() {
    std::string out = "storage backends (by URI; feedbench list backends URI says what would be used for one):\n";
    for (const storage::BackendEntry& entry : storage::backends()) {
        out += fmt::format("  {:<12} {}\n", std::string(entry.scheme) + ":", entry.help);
        if (const std::string why = why_not(entry); !why.empty()) {
            out += fmt::format("    not in this build: {}\n", why);
            continue;
        }
        out += fmt::format("    {}\n", traits_text(entry.traits));
        for (const Option& option : entry.options)
            out += fmt::format("    {:<18} {} (default {})\n", option.key, option.help, default_text(option));
    }
    return out;
}

std::string backends_json() {
    Json all = Json::array();
    for (const storage::BackendEntry& entry : storage::backends()) {
        const std::string why = why_not(entry);
        all.push_back({{"scheme", entry.scheme},
                       {"help", entry.help},
                       {"available", why.empty()},
                       {"unavailable_reason", why},
                       {"capabilities", traits_json(entry.traits)},
                       {"options", options_json(entry)}});
    }
    return Json{{"backends", all}}.dump(1) + "\n";
}

Status add_option_text(const std::string& text, std::map<std::string, std::string>& options) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return usage_error("'" + text + "' is not KEY=VALUE, as --storage-option wants it");
    options[text.substr(0, equals)] = text.substr(equals + 1);
    return {};
}

Expected<std::string> look_at_uri(const LookedAt& asked, engine::Reactor& reactor) {
    auto uri = storage::parse_uri(asked.uri);
    if (!uri) return uri.error();
    storage::BackendRequest request;
    request.uri = asked.uri;
    request.options = asked.options;
    request.odirect = asked.odirect;
    request.io_engine = IoEngine::threads; // looks only; the ring may be forbidden where a look is not
    request.reactor = &reactor;
    auto backend = storage::make_backend(std::move(request));
    if (!backend) return backend.error();
    const Looked looked{*storage::find_backend(uri->scheme),
                        (*backend)->capabilities(),
                        workloads::look_at_storage(**backend, "data", asked.uri, false),
                        *uri,
                        asked,
                        (*backend)->display_path(""),
                        (*backend)->local_path(""),
                        static_cast<bool>((*backend)->cache_drop())};
    return asked.as_json ? looked.json() : looked.text();
}

} // namespace feedbench::cli
