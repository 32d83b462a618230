#include "storage/s3/address.hpp"

#include <algorithm>

namespace feedbench::storage::s3 {

namespace {

constexpr std::string_view kScheme = "s3://";

bool is_unreserved(unsigned char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

} // namespace

std::string Address::uri() const { return std::string(kScheme) + bucket + (prefix.empty() ? "" : "/" + prefix); }

std::string Address::key(std::string_view path) const {
    if (path.empty()) return prefix;
    return prefix.empty() ? std::string(path) : prefix + "/" + std::string(path);
}

std::string Address::folder(std::string_view path) const {
    std::string whole = key(path);
    if (!whole.empty() && !whole.ends_with('/')) whole += '/';
    return whole;
}

Expected<Address> parse_address(std::string_view text) {
    std::string_view rest = text;
    while (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    Address address;
    address.bucket = std::string(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    while (rest.ends_with('/')) rest.remove_suffix(1);
    address.prefix = std::string(rest);
    if (address.bucket.empty())
        return config_error("a bucket is expected, as in s3://bucket/prefix, and none was named", std::string(text));
    for (const char c : address.bucket)
        if (!is_unreserved(static_cast<unsigned char>(c)) || c == '~')
            return config_error("'" + address.bucket +
                                    "' is no name of a bucket: letters, digits, '-', '.' and '_' may be in it",
                                std::string(text));
    return address;
}

std::string encode(std::string_view text, bool keep_slash) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_unreserved(byte) || (keep_slash && c == '/'))
            out += c;
        else {
            out += '%';
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out;
}

std::string decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low >= 0) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else
            out += text[i];
    }
    return out;
}

} // namespace feedbench::storage::s3
