#include "formats/checksums.hpp"

#include <algorithm>
#include <isa-l/crc.h>

namespace feedbench::formats {

std::uint32_t crc32_zip(std::uint32_t crc, std::span<const std::byte> data) {
    if (data.empty()) return crc;
    return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(data.data()), data.size());
}

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> data) {
    // crc32_iscsi leaves the inversion before and after to its caller, takes a non-const pointer and a length in int.
    constexpr std::size_t kMaxPiece = std::size_t{1} << 30;
    crc = ~crc;
    while (!data.empty()) {
        const std::span<const std::byte> piece = data.first(std::min(data.size(), kMaxPiece));
        auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
        crc = crc32_iscsi(bytes, static_cast<int>(piece.size()), crc);
        data = data.subspan(piece.size());
    }
    return ~crc;
}

} // namespace feedbench::formats
