#include "formats/zip_records.hpp"

#include <algorithm>

#include "formats/little_endian.hpp"
#include "formats/shape_check.hpp"

namespace feedbench::formats {

namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50, kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr std::uint64_t kZip64Limit = 0x7fffffff; // CPython changes to zip64 one bit early
constexpr std::uint32_t kInExtra = 0xffffffff;    // "see the zip64 extra field"
constexpr std::uint16_t kMadeOnUnix = 3 << 8, kDosDate1980 = 0x21;

Error at(const std::string& path, std::uint64_t offset, std::string message) {
    return format_error(path, "zip archive: " + std::move(message), static_cast<std::int64_t>(offset));
}

std::string hex(std::uint32_t value) {
    std::string text = "0x";
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
    return text;
}

bool needs_zip64(const ZipMember& m) { return m.data_bytes > kZip64Limit || m.content_bytes > kZip64Limit; }

// What local and central header have in common: version needed ... uncompressed size, name length.
void append_common(std::vector<std::byte>& out, const ZipMember& member, std::uint16_t version) {
    append_le<std::uint16_t>(out, version);
    append_le<std::uint16_t>(out, 0); // flags
    append_le<std::uint16_t>(out, member.is_deflated ? 8 : 0);
    append_le<std::uint16_t>(out, 0); // time
    append_le<std::uint16_t>(out, kDosDate1980);
    append_le(out, member.crc32);
    const bool is_zip64 = needs_zip64(member); // both, however small one of them is
    append_le(out, is_zip64 ? kInExtra : static_cast<std::uint32_t>(member.data_bytes));
    append_le(out, is_zip64 ? kInExtra : static_cast<std::uint32_t>(member.content_bytes));
    append_le(out, static_cast<std::uint16_t>(member.name.size()));
}

// Takes the values that the header left to the zip64 extra field, in the order that APPNOTE 4.5.3 gives.
Status read_zip64_extra(std::span<const std::byte> extra, std::initializer_list<std::uint64_t*> values,
                        std::uint64_t offset, const std::string& path) {
    for (std::size_t i = 0; i + 4 <= extra.size();) {
        const auto id = load_le<std::uint16_t>(extra, i), size = load_le<std::uint16_t>(extra, i + 2);
        if (i + 4 + size > extra.size()) return at(path, offset + i, "an extra field runs over its header's end");
        if (id == 1) {
            std::size_t position = i + 4;
            for (std::uint64_t* value : values) {
                if (*value != kInExtra) continue;
                if (position + 8 > i + 4 + size) return at(path, offset + i, "the zip64 extra field is too short");
                *value = load_le<std::uint64_t>(extra, position);
                position += 8;
            }
            return {};
        }
        i += 4U + size;
    }
    for (const std::uint64_t* value : values)
        if (*value == kInExtra) return at(path, offset, "zip64 sizes are missing");
    return {};
}

// The 24 bytes from `start`: flags, method, time, date, CRC, sizes. Sizes may still stand in the extra field.
Status read_common(std::span<const std::byte> bytes, std::size_t start, std::uint64_t offset, const std::string& path,
                   ZipMember& m) {
    const auto flags = load_le<std::uint16_t>(bytes, start), method = load_le<std::uint16_t>(bytes, start + 2);
    if (flags & 1) return at(path, offset + start, "the member is encrypted");
    if (method != 0 && method != 8)
        return at(path, offset + start + 2,
                  "method 0 (stored) or 8 (deflated) expected, found " + std::to_string(method));
    m.is_deflated = method == 8;
    m.sizes_known = !(flags & 8);
    m.crc32 = load_le<std::uint32_t>(bytes, start + 8);
    m.data_bytes = load_le<std::uint32_t>(bytes, start + 12);
    m.content_bytes = load_le<std::uint32_t>(bytes, start + 16);
    return {};
}

Status check_sizes(const ZipMember& m, std::uint64_t offset, const std::string& path) {
    if (m.data_bytes > kMaxPayloadBytes || m.content_bytes > kMaxPayloadBytes || m.header_offset > kMaxPayloadBytes)
        return at(path, offset, "a size of more than 2^60 bytes");
    if (m.sizes_known && !m.is_deflated && m.data_bytes != m.content_bytes)
        return at(path, offset,
                  "a stored member of " + std::to_string(m.content_bytes) + " bytes takes " +
                      std::to_string(m.data_bytes) + " bytes");
    return {};
}

} // namespace

std::vector<std::byte> zip_local_header(const ZipMember& member) {
    // numpy forces zip64 on every member, so that sizes stand in an extra field however small they are.
    std::vector<std::byte> out;
    append_le(out, kLocalSignature);
    append_common(out, member, needs_zip64(member) ? 45 : 20);
    append_le<std::uint16_t>(out, 20); // length of the extra field
    append_text(out, member.name);
    append_le<std::uint16_t>(out, 1);
    append_le<std::uint16_t>(out, 16);
    append_le(out, member.content_bytes);
    append_le(out, member.data_bytes);
    return out;
}

std::uint64_t zip_local_header_bytes(std::string_view name) { return kLocalBytes + name.size() + 20; }

std::vector<std::byte> zip_directory(const std::vector<ZipMember>& members, std::uint64_t offset) {
    std::vector<std::byte> out;
    for (const ZipMember& member : members) {
        std::vector<std::byte> extra;
        if (needs_zip64(member)) {
            append_le(extra, member.content_bytes);
            append_le(extra, member.data_bytes);
        }
        if (member.header_offset > kZip64Limit) append_le(extra, member.header_offset);
        const std::uint16_t version = extra.empty() ? 20 : 45;
        append_le(out, kCentralSignature);
        append_le<std::uint16_t>(out, kMadeOnUnix | version);
        append_common(out, member, version);
        append_le(out, static_cast<std::uint16_t>(extra.empty() ? 0 : extra.size() + 4));
        append_le<std::uint16_t>(out, 0); // comment
        append_le<std::uint16_t>(out, 0); // disk
        append_le<std::uint16_t>(out, 0); // internal attributes
        append_le<std::uint32_t>(out, 0600U << 16);
        append_le(out,
                  member.header_offset > kZip64Limit ? kInExtra : static_cast<std::uint32_t>(member.header_offset));
        append_text(out, member.name);
        if (!extra.empty()) {
            append_le<std::uint16_t>(out, 1);
            append_le(out, static_cast<std::uint16_t>(extra.size()));
            out.insert(out.end(), extra.begin(), extra.end());
        }
    }
    const std::uint64_t bytes = out.size(), count = members.size();
    if (offset > kZip64Limit) {
        append_le(out, kEnd64Signature);
        append_le<std::uint64_t>(out, kEnd64Bytes - 12);
        append_le<std::uint16_t>(out, 45);
        append_le<std::uint16_t>(out, 45);
        append_le<std::uint32_t>(out, 0);
        append_le<std::uint32_t>(out, 0);
        append_le(out, count);
        append_le(out, count);
        append_le(out, bytes);
        append_le(out, offset);
        append_le(out, kLocator64Signature);
        append_le<std::uint32_t>(out, 0);
        append_le<std::uint64_t>(out, offset + bytes);
        append_le<std::uint32_t>(out, 1);
    }
    append_le(out, kEndSignature);
    append_le<std::uint32_t>(out, 0); // disks
    append_le(out, static_cast<std::uint16_t>(count));
    append_le(out, static_cast<std::uint16_t>(count));
    append_le(out, static_cast<std::uint32_t>(bytes));
    append_le(out, static_cast<std::uint32_t>(std::min<std::uint64_t>(offset, kInExtra)));
    append_le<std::uint16_t>(out, 0); // comment
    return out;
}

Expected<std::optional<ZipLocalHeader>> parse_zip_local_header(std::span<const std::byte> bytes, std::uint64_t offset,
                                                               const std::string& path) {
    if (bytes.size() >= 4 && load_le<std::uint32_t>(bytes, 0) != kLocalSignature)
        return at(path, offset,
                  "local header " + hex(kLocalSignature) + " expected, found " + hex(load_le<std::uint32_t>(bytes, 0)));
    if (bytes.size() < kLocalBytes) return std::optional<ZipLocalHeader>();
    ZipLocalHeader header;
    ZipMember& m = header.member;
    if (const Status status = read_common(bytes, 6, offset, path, m); !status) return status.error();
    const auto name_bytes = load_le<std::uint16_t>(bytes, 26), extra_bytes = load_le<std::uint16_t>(bytes, 28);
    header.header_bytes = kLocalBytes + name_bytes + extra_bytes;
    if (bytes.size() < header.header_bytes) return std::optional<ZipLocalHeader>();
    m.name = as_text(bytes.subspan(kLocalBytes, name_bytes));
    m.header_offset = offset;
    const std::uint64_t extra_at = kLocalBytes + name_bytes;
    if (const Status s = read_zip64_extra(bytes.subspan(extra_at, extra_bytes), {&m.content_bytes, &m.data_bytes},
                                          offset + extra_at, path);
        !s)
        return s.error();
    if (const Status s = check_sizes(m, offset, path); !s) return s.error();
    return std::optional(std::move(header));
}

Expected<ZipDirectoryPlace> find_zip_directory(std::span<const std::byte> tail, std::uint64_t file_bytes,
                                               const std::string& path) {
    if (tail.size() < kEndBytes) return at(path, 0, "at least 22 bytes expected, found " + std::to_string(file_bytes));
    const std::uint64_t tail_at = file_bytes - tail.size(), end_at = file_bytes - kEndBytes;
    const auto end = tail.last(kEndBytes);
    if (load_le<std::uint32_t>(end, 0) != kEndSignature)
        return at(path, end_at,
                  "end of directory " + hex(kEndSignature) + " expected, found " + hex(load_le<std::uint32_t>(end, 0)) +
                      ": truncated or not npz");
    if (load_le<std::uint32_t>(end, 4) != 0 || load_le<std::uint16_t>(end, 8) != load_le<std::uint16_t>(end, 10))
        return at(path, end_at + 4, "an archive in one part expected");
    if (load_le<std::uint16_t>(end, 20) != 0) return at(path, end_at + 20, "no archive comment expected");
    ZipDirectoryPlace place{load_le<std::uint32_t>(end, 16), load_le<std::uint32_t>(end, 12),
                            load_le<std::uint16_t>(end, 10)};
    std::uint64_t after = end_at; // the directory must end where the end records begin
    if (tail.size() >= kZipTailBytes) {
        const auto locator = tail.subspan(tail.size() - kEndBytes - kLocatorBytes, kLocatorBytes);
        if (load_le<std::uint32_t>(locator, 0) == kLocator64Signature) {
            const auto end64 = tail.subspan(tail.size() - kZipTailBytes, kEnd64Bytes);
            after = tail_at + tail.size() - kZipTailBytes;
            if (load_le<std::uint64_t>(locator, 8) != after || load_le<std::uint32_t>(end64, 0) != kEnd64Signature ||
                load_le<std::uint64_t>(end64, 4) != kEnd64Bytes - 12)
                return at(path, after, "zip64 end of directory expected");
            place = {load_le<std::uint64_t>(end64, 48), load_le<std::uint64_t>(end64, 40),
                     load_le<std::uint64_t>(end64, 32)};
        }
    }
    if (place.offset > file_bytes || place.bytes > file_bytes || place.offset + place.bytes != after)
        return at(path, end_at,
                  "a directory that ends at " + std::to_string(after) + " expected, found " +
                      std::to_string(place.bytes) + " bytes at " + std::to_string(place.offset));
    if (place.member_count == 0 || place.member_count > place.bytes / kCentralBytes)
        return at(path, end_at + 8,
                  "found " + std::to_string(place.member_count) + " members in a directory of " +
                      std::to_string(place.bytes) + " bytes");
    return place;
}

Expected<std::vector<ZipMember>> parse_zip_directory(std::span<const std::byte> bytes, const ZipDirectoryPlace& place,
                                                     const std::string& path) {
    std::vector<ZipMember> members;
    std::size_t position = 0;
    for (std::uint64_t i = 0; i < place.member_count; ++i) {
        const std::uint64_t offset = place.offset + position;
        const std::span<const std::byte> rest = bytes.subspan(position);
        if (rest.size() < kCentralBytes || load_le<std::uint32_t>(rest, 0) != kCentralSignature)
            return at(path, offset,
                      "directory entry " + hex(kCentralSignature) + " expected" +
                          (rest.size() < 4 ? "" : ", found " + hex(load_le<std::uint32_t>(rest, 0))));
        ZipMember m;
        if (const Status status = read_common(rest, 8, offset, path, m); !status) return status.error();
        m.sizes_known = true; // the directory always has them
        const auto name_bytes = load_le<std::uint16_t>(rest, 28), extra_bytes = load_le<std::uint16_t>(rest, 30);
        const std::uint64_t entry_bytes = kCentralBytes + name_bytes + extra_bytes + load_le<std::uint16_t>(rest, 32);
        if (rest.size() < entry_bytes) return at(path, offset, "a directory entry runs over the directory's end");
        m.name = as_text(rest.subspan(kCentralBytes, name_bytes));
        m.header_offset = load_le<std::uint32_t>(rest, 42);
        const std::uint64_t extra_at = kCentralBytes + name_bytes;
        if (const Status s =
                read_zip64_extra(rest.subspan(extra_at, extra_bytes),
                                 {&m.content_bytes, &m.data_bytes, &m.header_offset}, offset + extra_at, path);
            !s)
            return s.error();
        if (const Status s = check_sizes(m, offset, path); !s) return s.error();
        if (m.header_offset + kLocalBytes + name_bytes + m.data_bytes > place.offset)
            return at(path, offset,
                      "member '" + m.name.substr(0, 40) + "' of " + std::to_string(m.data_bytes) + " bytes at " +
                          std::to_string(m.header_offset) + " does not fit before the directory at " +
                          std::to_string(place.offset));
        members.push_back(std::move(m));
        position += static_cast<std::size_t>(entry_bytes);
    }
    if (position != bytes.size())
        return at(path, place.offset + position,
                  "the directory's end expected after " + std::to_string(place.member_count) + " entries");
    return members;
}

} // namespace feedbench::formats
