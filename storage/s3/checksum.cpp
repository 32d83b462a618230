#include "storage/s3/checksum.hpp"

#include <isa-l/crc.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace feedbench::storage::s3 {

namespace {

std::string base64(std::span<const unsigned char> bytes) {
    std::array<unsigned char, 64> out{};
    const int length = EVP_EncodeBlock(out.data(), bytes.data(), static_cast<int>(bytes.size()));
    return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(length)};
}

std::array<unsigned char, 16> md5(std::span<const std::byte> bytes) {
    std::array<unsigned char, 16> digest{};
    unsigned length = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_md5(), nullptr);
    return digest;
}

} // namespace

std::uint32_t crc32c(std::uint32_t so_far, std::span<const std::byte> bytes) {
    std::uint32_t crc = ~so_far;                         // isa-l leaves both inversions to its caller
    constexpr std::size_t kPiece = std::size_t{1} << 30; // its length is an int
    while (!bytes.empty()) {
        const std::size_t length = std::min(bytes.size(), kPiece);
        // It only reads; its prototype lacks the const.
        auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
        crc = crc32_iscsi(data, static_cast<int>(length), crc);
        bytes = bytes.subspan(length);
    }
    return ~crc;
}

std::string crc32c_base64(std::uint32_t crc) {
    const std::array<unsigned char, 4> big{static_cast<unsigned char>(crc >> 24), static_cast<unsigned char>(crc >> 16),
                                           static_cast<unsigned char>(crc >> 8), static_cast<unsigned char>(crc)};
    return base64(big);
}

std::string md5_base64(std::span<const std::byte> bytes) { return base64(md5(bytes)); }

std::string md5_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : md5(bytes)) {
        text += kHex[byte >> 4];
        text += kHex[byte & 15];
    }
    return text;
}

} // namespace feedbench::storage::s3
