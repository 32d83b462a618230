// Numbers as files hold them: little endian, at any address.
//
// Thread: any. Owner: none. Units: bytes. Errors: none; the caller has checked that the bytes are there.
// Source: zip, npy and TFRecord are little endian, as is every machine that feedbench runs on (asserted here).
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace feedbench::formats {

static_assert(std::endian::native == std::endian::little);

template <class T>
T load_le(std::span<const std::byte> bytes, std::size_t offset) {
    static_assert(std::is_integral_v<T>);
    T value;
    std::memcpy(&value, bytes.subspan(offset, sizeof value).data(), sizeof value);
    return value;
}

template <class T>
void append_le(std::vector<std::byte>& out, T value) {
    static_assert(std::is_integral_v<T>);
    const std::size_t end = out.size();
    out.resize(end + sizeof value);
    std::memcpy(out.data() + end, &value, sizeof value);
}

// By resize and copy: GCC 12 takes a range insert into a short vector for an overflow.
inline void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
    const std::size_t end = out.size();
    out.resize(end + bytes.size());
    if (!bytes.empty()) std::memcpy(out.data() + end, bytes.data(), bytes.size());
}

inline void append_text(std::vector<std::byte>& out, std::string_view text) {
    append_bytes(out, std::as_bytes(std::span(text.data(), text.size())));
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace feedbench::formats
