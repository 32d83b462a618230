// What lies in a segment: records, each a payload and a footer.
//
//     | payload, from a multiple of 4096 on | zeros | footer: the last 64 bytes of the record's last block |
//
// A record is as many blocks as payload and footer need; the footer says everything about it, so that a segment can be
// scanned block by block without metadata. Payloads are checked in blocks of 64 KiB (kCrcBlockBytes): one CRC32C each,
// which lie with the extents (ExtentList::block_crcs), so that any part of a record is verified without reading it all;
// the footer holds the CRC32C of these CRCs (little-endian), and one of itself.
//
// Thread: any; functions of their arguments. Owner: none. Units: bytes. Errors: parse_footer answers nothing for what
// is not a footer of this volume. Source: CRC32C (Castagnoli, RFC 3720 appendix B.4); libisal's crc32_iscsi.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/feedfs/metadata/inode.hpp"
#include "storage/feedfs/volume.hpp"

namespace feedbench::feedfs {

inline constexpr std::uint64_t kFooterBytes = 64;
inline constexpr std::uint64_t kFooterMagic = 0x3130'5246'4445'4546; // "FEEDFR01" in memory

struct RecordFooter {
    std::uint64_t volume_id = 0;
    std::uint64_t inode = 0;       // of the file that the payload was written for
    std::uint64_t file_offset = 0; // of the payload's first byte in that file
    std::uint64_t segment = 0;     // where the record lies: a record that was copied elsewhere by a broken
    std::uint64_t offset = 0;      // device or hand is none
    std::uint32_t payload_bytes = 0;
    std::uint32_t payload_crc = 0; // crc_of_crcs(block CRCs)
};

// Blocks of payload and footer together.
constexpr std::uint64_t record_bytes(std::uint64_t payload_bytes) {
    return (payload_bytes + kFooterBytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc_before = 0);
// Appends the CRC of each started 64 KiB of a payload.
void append_block_crcs(std::span<const std::byte> payload, std::vector<std::uint32_t>& crcs);
std::uint32_t crc_of_crcs(std::span<const std::uint32_t> crcs);

// Fills the tail of a record whose payload lies at the front of `record` (record_bytes(payload) long): zeros, footer.
void finish_record(std::span<std::byte> record, const RecordFooter& footer);
// The footer in the last 64 bytes of `block` (kBlockBytes), if there is one of this volume and its own CRC holds.
std::optional<RecordFooter> parse_footer(std::span<const std::byte> block, std::uint64_t volume_id);
// Of whichever volume.
std::optional<RecordFooter> parse_any_footer(std::span<const std::byte> block);

} // namespace feedbench::feedfs
