// Long extent lists: cut into pages when an entry is put, read back by file offset. The contract is in schema.hpp.
#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "storage/feedfs/metadata/schema.hpp"
#include "storage/feedfs/metadata/varint.hpp"

namespace feedbench::feedfs {

namespace {

// More than an encoded extent takes: three varints and its CRCs.
std::size_t encoded_bytes_max(const Extent& extent) { return 20 + extent.crc_count() * sizeof(std::uint32_t); }

void put_page(Batch& batch, InodeId inode, std::uint64_t file_end, const ExtentList& page) {
    batch.put(extent_page_key(inode, file_end), encode_extent_page(page));
}

// A page's extents behind those in `list`; the first page sets where the list begins.
Status append_page(std::string_view bytes, ExtentList& list) {
    std::uint64_t file_offset = 0;
    std::uint64_t count = 0;
    if (!get_varint(bytes, file_offset) || !get_varint(bytes, count))
        return storage_error("decode", {}, EUCLEAN, "a page of extents is damaged: its head ends early");
    if (list.extents.empty()) list.file_offset = file_offset;
    return decode_extents(bytes, count, list);
}

} // namespace

std::string encode_extent_page(const ExtentList& page) {
    std::string bytes;
    put_varint(bytes, page.file_offset);
    put_varint(bytes, page.extents.size());
    encode_extents(page, bytes);
    return bytes;
}

Expected<ExtentList> decode_extent_page(std::string_view bytes) {
    ExtentList page;
    if (Status read = append_page(bytes, page); !read) return std::move(read.error());
    return page;
}

void put_entry(Batch& batch, std::string key, Inode inode) {
    std::size_t bytes = 0;
    for (const Extent& extent : inode.content.extents) bytes += encoded_bytes_max(extent);
    if (inode.type != InodeType::file || bytes <= kInlineExtentBytes) {
        // A record whose list is in pages and stays there (a rename, new attributes) comes without its content.
        batch.put(std::move(key), encode_inode(inode));
        return;
    }
    ExtentList page;
    std::size_t page_bytes = 0;
    std::uint64_t file_end = 0;
    for (const Extent& extent : inode.content.extents) {
        if (page_bytes > 0 && page_bytes + encoded_bytes_max(extent) > kExtentPageBytes) {
            put_page(batch, inode.id, file_end, page);
            page.clear();
            page.file_offset = file_end;
            page_bytes = 0;
        }
        page.append(extent, inode.content.block_crcs.data() + extent.crc_first);
        page_bytes += encoded_bytes_max(extent);
        file_end += extent.payload_bytes;
    }
    put_page(batch, inode.id, file_end, page);
    inode.extent_count = inode.content.extents.size();
    inode.extents_in_pages = true;
    batch.put(std::move(key), encode_inode(inode));
}

void erase_entry(Batch& batch, std::string key, const Inode& inode) {
    batch.erase(std::move(key));
    if (inode.extents_in_pages) batch.erase_range(extent_pages_of(inode.id));
}

Status read_extents(ReadView& view, const Inode& inode, std::uint64_t file_offset, std::uint64_t bytes,
                    ExtentList& list) {
    if (!inode.extents_in_pages) {
        list = inode.content;
        return {};
    }
    list.clear();
    if (bytes == 0 || file_offset >= inode.size_bytes) return {};
    const std::uint64_t end = file_offset + std::min(bytes, inode.size_bytes - file_offset);
    KeyRange range{extent_page_key(inode.id, file_offset + 1), extent_pages_of(inode.id).to};
    std::uint64_t covered = file_offset;
    MaybeError damage;
    // Pages are visited until one ends behind what was asked for; 8 at a time bounds what Redis sends.
    while (covered < end) {
        auto scanned = view.scan(range, 8, [&](std::string_view key, std::string_view value) {
            if (Status appended = append_page(value, list); !appended) {
                damage = std::move(appended.error());
                return false;
            }
            std::string_view file_end = key.substr(9);
            return get_big(file_end, covered) && covered < end;
        });
        if (!scanned) return std::move(scanned.error());
        if (damage) return std::move(*damage);
        if (scanned->complete || covered >= end) break;
        range.from = std::move(scanned->next_key);
    }
    if (covered < end || list.extents.empty() || list.file_offset > file_offset)
        return storage_error("read", {}, EUCLEAN,
                             "inode " + std::to_string(inode.id) + ": no page of extents covers byte " +
                                 std::to_string(covered < end ? covered : file_offset) + " of " +
                                 std::to_string(inode.size_bytes));
    return {};
}

void add_live(Batch& batch, const ExtentList& list, int sign) {
    std::map<std::uint64_t, std::array<std::int64_t, 2>> sums;
    for (const Extent& extent : list.extents) {
        auto& sum = sums[extent.segment];
        sum[0] += sign * static_cast<std::int64_t>(extent.payload_bytes);
        sum[1] += sign;
    }
    for (const auto& [segment, sum] : sums) batch.add(live_key(segment), sum);
}

void add_totals(Batch& batch, const Totals& deltas) {
    const std::int64_t values[] = {deltas.files, deltas.directories, deltas.symlinks, deltas.payload_bytes};
    batch.add(counter_key(kTotals), values);
}

} // namespace feedbench::feedfs
