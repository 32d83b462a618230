#include "storage/feedfs/metadata/inode.hpp"

#include <cerrno>

#include "storage/feedfs/metadata/varint.hpp"

namespace feedbench::feedfs {

namespace {

constexpr std::uint8_t kInodeVersion = 1;
constexpr std::uint8_t kPagesFlag = 1;

Error damaged_inode(const char* what) {
    return storage_error("decode", {}, EUCLEAN, std::string("the record of a file is damaged: ") + what);
}

} // namespace

std::uint64_t ExtentList::payload_bytes() const {
    std::uint64_t sum = 0;
    for (const Extent& extent : extents) sum += extent.payload_bytes;
    return sum;
}

void ExtentList::append(Extent extent, const std::uint32_t* crcs) {
    extent.crc_first = static_cast<std::uint32_t>(block_crcs.size());
    block_crcs.insert(block_crcs.end(), crcs, crcs + extent.crc_count());
    extents.push_back(extent);
}

void ExtentList::clear() {
    file_offset = 0;
    extents.clear();
    block_crcs.clear();
}

void encode_extents(const ExtentList& list, std::string& out) {
    std::uint64_t segment_before = 0;
    for (const Extent& extent : list.extents) {
        put_varint(out, zigzag_difference(extent.segment, segment_before));
        put_varint(out, extent.offset / kRecordAlignment);
        put_varint(out, extent.payload_bytes);
        out.append(reinterpret_cast<const char*>(list.block_crcs.data() + extent.crc_first),
                   extent.crc_count() * sizeof(std::uint32_t));
        segment_before = extent.segment;
    }
}

Status decode_extents(std::string_view& bytes, std::uint64_t count, ExtentList& list) {
    std::uint64_t segment = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t difference = 0;
        std::uint64_t offset = 0;
        Extent extent;
        if (!get_varint(bytes, difference) || !get_varint(bytes, offset) || !get_varint32(bytes, extent.payload_bytes))
            return damaged_inode("its list of extents ends early");
        if (offset > UINT64_MAX / kRecordAlignment)
            return damaged_inode("an extent lies behind the end of all segments");
        segment = add_difference(segment, difference);
        extent.segment = segment;
        extent.offset = offset * kRecordAlignment;
        const std::size_t crc_bytes = extent.crc_count() * sizeof(std::uint32_t);
        if (extent.payload_bytes > UINT32_MAX - kCrcBlockBytes) return damaged_inode("an extent is longer than 4 GiB");
        if (bytes.size() < crc_bytes) return damaged_inode("its checksums end early");
        extent.crc_first = static_cast<std::uint32_t>(list.block_crcs.size());
        list.block_crcs.resize(list.block_crcs.size() + extent.crc_count());
        std::memcpy(list.block_crcs.data() + extent.crc_first, bytes.data(), crc_bytes);
        bytes.remove_prefix(crc_bytes);
        list.extents.push_back(extent);
    }
    return {};
}

std::string encode_inode(const Inode& inode) {
    std::string out;
    out.reserve(48 + inode.symlink_target.size() + inode.content.extents.size() * 12 +
                inode.content.block_crcs.size() * 4);
    out.push_back(static_cast<char>(kInodeVersion));
    const std::uint8_t flags = inode.extents_in_pages ? kPagesFlag : 0;
    out.push_back(static_cast<char>(static_cast<std::uint8_t>(inode.type) | (flags << 4)));
    put_varint(out, inode.id);
    put_varint(out, inode.mode);
    put_varint(out, inode.uid);
    put_varint(out, inode.gid);
    put_varint(out, inode.size_bytes);
    put_little(out, inode.mtime_ns);
    const auto mtime = static_cast<std::uint64_t>(inode.mtime_ns);
    put_varint(out, zigzag_difference(static_cast<std::uint64_t>(inode.ctime_ns), mtime));
    put_varint(out, zigzag_difference(static_cast<std::uint64_t>(inode.atime_ns), mtime));
    if (inode.type == InodeType::symlink) {
        out.append(inode.symlink_target);
    } else if (inode.type == InodeType::file) {
        put_varint(out, inode.extents_in_pages ? inode.extent_count : inode.content.extents.size());
        if (!inode.extents_in_pages) encode_extents(inode.content, out);
    }
    return out;
}

Status decode_inode(std::string_view bytes, Inode& inode, InodePart part) {
    if (bytes.size() < 2) return damaged_inode("it has less than 2 bytes");
    const auto version = static_cast<std::uint8_t>(bytes[0]);
    const auto kind = static_cast<std::uint8_t>(bytes[1]);
    if (version != kInodeVersion)
        return storage_error("decode", {}, EPROTONOSUPPORT,
                             "the record of a file has version " + std::to_string(version) +
                                 ", this build knows version 1");
    if ((kind & 15) < 1 || (kind & 15) > 3) return damaged_inode("its type is none that there is");
    bytes.remove_prefix(2);
    inode.type = static_cast<InodeType>(kind & 15);
    inode.extents_in_pages = (kind >> 4 & kPagesFlag) != 0;
    std::uint64_t ctime = 0;
    std::uint64_t atime = 0;
    if (!get_varint(bytes, inode.id) || !get_varint32(bytes, inode.mode) || !get_varint32(bytes, inode.uid) ||
        !get_varint32(bytes, inode.gid) || !get_varint(bytes, inode.size_bytes) || !get_little(bytes, inode.mtime_ns) ||
        !get_varint(bytes, ctime) || !get_varint(bytes, atime))
        return damaged_inode("its attributes end early");
    const auto mtime = static_cast<std::uint64_t>(inode.mtime_ns);
    inode.ctime_ns = static_cast<std::int64_t>(add_difference(mtime, ctime));
    inode.atime_ns = static_cast<std::int64_t>(add_difference(mtime, atime));
    inode.extent_count = 0;
    if (inode.type == InodeType::file && !get_varint(bytes, inode.extent_count))
        return damaged_inode("the number of its extents is missing");
    inode.symlink_target.clear();
    inode.content.clear();
    if (part == InodePart::attributes) return {};
    if (inode.type == InodeType::symlink) {
        inode.symlink_target.assign(bytes);
        return {};
    }
    if (inode.type == InodeType::file && !inode.extents_in_pages) {
        if (Status read = decode_extents(bytes, inode.extent_count, inode.content); !read) return read;
    }
    if (!bytes.empty()) return damaged_inode("bytes are left behind its end");
    return {};
}

} // namespace feedbench::feedfs
