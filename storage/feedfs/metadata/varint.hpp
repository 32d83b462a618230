// Variable-length integers (LEB128) and big- and little-endian ones, as metadata records are written.
//
// Thread: any; pure functions. Owner: the caller. Units: none. Errors: the get_* answer false where the bytes end early
// or a number would not fit; `bytes` is then in no particular state. Source: LEB128 as in DWARF 5, section 7.6.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace feedbench::feedfs {

inline void put_varint(std::string& out, std::uint64_t value) {
    char buffer[10];
    int length = 0;
    while (value >= 0x80) {
        buffer[length++] = static_cast<char>(value | 0x80);
        value >>= 7;
    }
    buffer[length++] = static_cast<char>(value);
    out.append(buffer, static_cast<std::size_t>(length));
}

inline bool get_varint(std::string_view& bytes, std::uint64_t& value) {
    value = 0;
    for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
        const auto byte = static_cast<std::uint8_t>(bytes[i]);
        if (i == 9 && byte > 1) return false;
        value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            bytes.remove_prefix(i + 1);
            return true;
        }
    }
    return false;
}

inline bool get_varint32(std::string_view& bytes, std::uint32_t& value) {
    std::uint64_t wide = 0;
    if (!get_varint(bytes, wide) || wide > 0xffffffffULL) return false;
    value = static_cast<std::uint32_t>(wide);
    return true;
}

inline std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Differences wrap around, so that any two values can be written.
inline std::uint64_t zigzag_difference(std::uint64_t value, std::uint64_t from) {
    return zigzag(static_cast<std::int64_t>(value - from));
}
inline std::uint64_t add_difference(std::uint64_t from, std::uint64_t difference) {
    return from + static_cast<std::uint64_t>(unzigzag(difference));
}

template <class T>
void put_little(std::string& out, T value) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are copied as they lie in memory");
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
bool get_little(std::string_view& bytes, T& value) {
    if (bytes.size() < sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return true;
}

inline void put_big(std::string& out, std::uint64_t value) {
    value = __builtin_bswap64(value);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline bool get_big(std::string_view& bytes, std::uint64_t& value) {
    if (!get_little(bytes, value)) return false;
    value = __builtin_bswap64(value);
    return true;
}

inline void put_text(std::string& out, std::string_view text) {
    put_varint(out, text.size());
    out.append(text);
}
inline bool get_text(std::string_view& bytes, std::string& text) {
    std::uint64_t length = 0;
    if (!get_varint(bytes, length) || length > bytes.size()) return false;
    text.assign(bytes.substr(0, length));
    bytes.remove_prefix(length);
    return true;
}

} // namespace feedbench::feedfs
