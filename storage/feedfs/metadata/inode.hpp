// The record of a file, directory or symbolic link: everything that open and stat need, in one value under one key.
//
// Thread: any; plain values and pure functions. Owner: the holder. Units: bytes; times are nanoseconds since 1970, UTC.
// Errors: decode_* answer EUCLEAN for bytes that no encoder wrote, EPROTONOSUPPORT for a later version of the record.
//
// Encoding, version 1 (varint = LEB128, least significant first):
//   u8 version, u8 type | flags << 4 (1: extents in pages), varint id, mode, uid, gid, size, u64le mtime_ns,
//   zigzag varint ctime_ns - mtime_ns, atime_ns - mtime_ns, then
//   symlink: the target; file: varint extent count, and unless they are in pages the extents as encode_extents writes
//   them: a varint each for the zigzag difference of the segment from the extent before, offset / 4 KiB, payload bytes;
//   u32le CRCs of its blocks.
// A 10 KiB file takes about 40 bytes. Lists of more than kInlineExtentBytes go into pages of their own (schema.hpp), so
// that a listing of a directory of TB files reads no checksums and one chunk of such a file costs one look-up more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/error.hpp"

namespace feedbench::feedfs {

using InodeId = std::uint64_t; // never used twice in a volume
inline constexpr InodeId kRootInode = 1;
inline constexpr std::uint32_t kRecordAlignment = 4096;
inline constexpr std::uint32_t kCrcBlockBytes = 64 * 1024;
inline constexpr std::size_t kInlineExtentBytes = 1024;
inline constexpr std::size_t kExtentPageBytes = 12 * 1024; // a page is closed when it has grown to this

enum class InodeType : std::uint8_t { file = 1, directory = 2, symlink = 3 };

// A piece of a file's payload. Extents are in file order without gaps: an extent's place in the file is the sum of the
// lengths before it.
struct Extent {
    std::uint64_t segment = 0;
    std::uint64_t offset = 0; // of the payload in the segment, 4 KiB aligned
    std::uint32_t payload_bytes = 0;
    std::uint32_t crc_first = 0; // index of its first CRC in ExtentList::block_crcs

    // How many CRCs: one for each started 64 KiB of its payload.
    std::uint32_t crc_count() const { return (payload_bytes + kCrcBlockBytes - 1) / kCrcBlockBytes; }
    bool operator==(const Extent&) const = default;
};

struct ExtentList {
    std::uint64_t file_offset = 0; // where the first extent lies in the file (0 but for parts of long lists)
    std::vector<Extent> extents;
    std::vector<std::uint32_t> block_crcs; // CRC32C of each started 64 KiB of each extent's payload

    std::uint64_t payload_bytes() const;
    void append(Extent extent, const std::uint32_t* crcs); // crc_first is set here
    void clear();
    bool operator==(const ExtentList&) const = default;
};

struct Inode {
    InodeType type = InodeType::file;
    InodeId id = 0;
    std::uint32_t mode = 0644; // permission bits, 07777
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint64_t size_bytes = 0; // of a symlink: the length of its target
    std::int64_t mtime_ns = 0;
    std::int64_t ctime_ns = 0;
    std::int64_t atime_ns = 0; // as set; reading does not change it
    std::string symlink_target;
    std::uint64_t extent_count = 0;
    bool extents_in_pages = false; // `content` is empty then; read_extents (schema.hpp) brings what is asked for
    ExtentList content;

    bool operator==(const Inode&) const = default;
};

std::string encode_inode(const Inode& inode);

enum class InodePart : std::uint8_t {
    attributes,
    all
}; // attributes: neither symlink target nor extents, no allocation
// Into an object that may have been used before (its vectors keep their memory).
Status decode_inode(std::string_view bytes, Inode& inode, InodePart part = InodePart::all);

void encode_extents(const ExtentList& list, std::string& out);
// `count` extents from the front of `bytes` behind those in `list`; `bytes` moves on.
Status decode_extents(std::string_view& bytes, std::uint64_t count, ExtentList& list);

} // namespace feedbench::feedfs
