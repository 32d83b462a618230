#include "storage/feedfs/record.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

namespace feedbench::feedfs {

namespace {

static_assert(std::endian::native == std::endian::little, "footers are little-endian and copied as they are");

struct StoredFooter {
    std::uint64_t magic, volume_id, inode, file_offset, segment, offset;
    std::uint32_t payload_bytes, payload_crc;
    std::uint32_t zero, footer_crc; // of all before it
};
static_assert(sizeof(StoredFooter) == kFooterBytes);

std::uint32_t crc_of(const StoredFooter& stored) {
    return crc32c(std::as_bytes(std::span(&stored, 1)).first(kFooterBytes - sizeof stored.footer_crc));
}

} // namespace

// libisal leaves the inversions of CRC32C to the caller and takes an int length.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc_before) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
    std::uint32_t state = ~crc_before;
    while (!bytes.empty()) {
        const std::size_t piece = std::min(bytes.size(), kPieceBytes);
        auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data())); // it only reads
        state = crc32_iscsi(data, static_cast<int>(piece), state);
        bytes = bytes.subspan(piece);
    }
    return ~state;
}

void append_block_crcs(std::span<const std::byte> payload, std::vector<std::uint32_t>& crcs) {
    for (std::size_t from = 0; from < payload.size(); from += kCrcBlockBytes)
        crcs.push_back(crc32c(payload.subspan(from, std::min<std::size_t>(kCrcBlockBytes, payload.size() - from))));
}

std::uint32_t crc_of_crcs(std::span<const std::uint32_t> crcs) { return crc32c(std::as_bytes(crcs)); }

void finish_record(std::span<std::byte> record, const RecordFooter& footer) {
    assert(record.size() == record_bytes(footer.payload_bytes));
    StoredFooter stored{};
    stored.magic = kFooterMagic;
    stored.volume_id = footer.volume_id;
    stored.inode = footer.inode;
    stored.file_offset = footer.file_offset;
    stored.segment = footer.segment;
    stored.offset = footer.offset;
    stored.payload_bytes = footer.payload_bytes;
    stored.payload_crc = footer.payload_crc;
    stored.footer_crc = crc_of(stored);
    const std::size_t place = record.size() - kFooterBytes;
    std::memset(record.data() + footer.payload_bytes, 0, place - footer.payload_bytes);
    std::memcpy(record.data() + place, &stored, sizeof stored);
}

std::optional<RecordFooter> parse_footer(std::span<const std::byte> block, std::uint64_t volume_id) {
    auto footer = parse_any_footer(block);
    if (footer && footer->volume_id != volume_id) footer.reset();
    return footer;
}

std::optional<RecordFooter> parse_any_footer(std::span<const std::byte> block) {
    assert(block.size() >= kFooterBytes);
    StoredFooter stored;
    std::memcpy(&stored, block.data() + block.size() - kFooterBytes, sizeof stored);
    if (stored.magic != kFooterMagic || stored.footer_crc != crc_of(stored)) return std::nullopt;
    RecordFooter footer;
    footer.volume_id = stored.volume_id;
    footer.inode = stored.inode;
    footer.file_offset = stored.file_offset;
    footer.segment = stored.segment;
    footer.offset = stored.offset;
    footer.payload_bytes = stored.payload_bytes;
    footer.payload_crc = stored.payload_crc;
    return footer;
}

} // namespace feedbench::feedfs
