#include "storage/nfs/address.hpp"

#include <charconv>

namespace feedbench::storage::nfs {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

Expected<std::string> decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            return config_error("'%' in an nfs: URI begins a byte in two hexadecimal digits; itself it is written %25",
                                "nfs://" + std::string(text));
        const char byte = static_cast<char>(high * 16 + low);
        if (byte == 0) return config_error("no name holds a zero byte (%00)", std::string(text));
        plain += byte;
        i += 2;
    }
    return plain;
}

} // namespace

Expected<Address> parse_address(std::string_view text) {
    const std::string whole = "nfs://" + std::string(text);
    Address address;
    std::string_view arguments;
    if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
        arguments = text.substr(mark + 1);
        text = text.substr(0, mark);
    }
    const std::size_t slash = std::min(text.find('/'), text.size());
    std::string_view host = text.substr(0, slash), path = text.substr(slash);
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        if (end == std::string_view::npos) return config_error("the ']' of the server's address is missing", whole);
        address.host = std::string(host.substr(1, end - 1));
        host.remove_prefix(end + 1);
    } else {
        const std::size_t colon = std::min(host.find(':'), host.size());
        address.host = std::string(host.substr(0, colon));
        host.remove_prefix(colon);
    }
    if (address.host.empty())
        return config_error("an nfs: URI names a server and an export: nfs://server/export/path", whole);
    if (!host.empty()) {
        const auto [end, code] = std::from_chars(host.data() + 1, host.data() + host.size(), address.port);
        if (code != std::errc{} || end != host.data() + host.size() || address.port == 0)
            return config_error("'" + std::string(host.substr(1)) + "' is not a port (1 to 65535)", whole);
    }
    auto plain = decoded(path);
    if (!plain) return plain.error();
    for (const char c : *plain)
        if (c != '/' || !address.path.ends_with('/')) address.path += c;
    while (address.path.size() > 1 && address.path.ends_with('/')) address.path.pop_back();
    if (address.path.empty())
        return config_error("the export is missing: nfs://" + address.host + "/export/path", whole);
    while (!arguments.empty()) {
        const std::size_t end = std::min(arguments.find('&'), arguments.size());
        const std::string_view pair = arguments.substr(0, end);
        arguments.remove_prefix(std::min(end + 1, arguments.size()));
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return config_error("'" + std::string(pair) + "' is not key=value", whole);
        auto value = decoded(pair.substr(equals + 1));
        if (!value) return value.error();
        address.arguments[std::string(pair.substr(0, equals))] = std::move(*value);
    }
    return address;
}

std::string Settings::server_text() const {
    const bool is_v6 = address.host.find(':') != std::string::npos;
    std::string text = "nfs://" + (is_v6 ? "[" + address.host + "]" : address.host);
    if (nfs_port != 0) text += ":" + std::to_string(nfs_port);
    return text;
}

} // namespace feedbench::storage::nfs
